/** Requests and answers of REST (reference §9): `{"data": …}` in, `{"success": …}` out. */
import type { Device } from '../device/device.js'
import type { Session } from '../device/logins.js'

export interface RestRequest {
  device: Device
  /** Undefined only where no login is needed. */
  session: Session | undefined
  /** The variable parts of the path. */
  path: readonly string[]
  /** `data` of the body; for the login the body itself. */
  data: Readonly<Record<string, unknown>>
  raw: Buffer
  contentType: string
  address: string
}
export interface RestAnswer {
  status: number
  body: unknown
}
export type Endpoint = (request: RestRequest) => RestAnswer | Promise<RestAnswer>

export const codes = {
  notImplemented: [501, 100, 'Not implemented'],
  option: [422, 103, 'Invalid option'],
  section: [404, 113, 'Invalid section'],
  unauthorised: [403, 120, 'Unauthorized access'],
  login: [401, 121, 'Login failed for any reason'],
  request: [422, 122, 'Invalid request'],
  token: [401, 123, 'Invalid token'],
  firstLogin: [403, 125, 'First login, password change required'],
} as const

export const success = (data?: unknown): RestAnswer => ({
  status: 200,
  body: { success: true, ...(data === undefined ? {} : { data }) },
})

export function failure(name: keyof typeof codes, source = 'Authentication', section?: string): RestAnswer {
  const [status, code, error] = codes[name]
  return { status, body: { success: false, errors: [{ code, error, source, ...(section ? { section } : {}) }] } }
}
