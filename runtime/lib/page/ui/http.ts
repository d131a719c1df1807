/** Requests to the service that the page comes from, and its login. */
import { signal } from '@preact/signals'
import type { SessionState } from '../../../../schemas/session.js'
import type { ChangeAnswer } from '../../../../schemas/station.js'

export type Session = SessionState
export type LoginRole = 'operator' | 'viewer'

/** Needed: a login is required, or the session has ended. Chosen: by the user. */
export const loginWanted = signal<'' | 'needed' | 'chosen'>('')
/** The service has just started: nobody is asked for a login yet. */
export const isStarting = signal(false)
export const session = signal<Session | undefined>(undefined)
/** The reader may not change anything: buttons that do are disabled. */
export const isReadOnly = signal(false)

/** An error answer of the service. */
export class Refused extends Error {
  readonly status: number
  readonly help: string

  constructor(status: number, message: string, help = '') {
    super(message)
    this.status = status
    this.help = help
  }
}

/** Values that a station did not take, with the reason of each. */
export class ValuesRefused extends Error {
  readonly reasons: ReadonlyMap<string, string>

  constructor(errors: NonNullable<ChangeAnswer['errors']>) {
    super(errors.map(({ message }) => message).join('; '))
    this.reasons = new Map(errors.map(({ name, message }) => [name, message]))
  }
}

/** The standard allows 64 KiB in all requests that outlive their page. */
const mostKept_bytes = 32_768

/** Small requests are sent even if the page is closed at this moment: a phone goes into the pocket. */
function isSmallRequest({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET') return false
  return body === undefined || body === null || (typeof body === 'string' && body.length <= mostKept_bytes)
}

export async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, { keepalive: isSmallRequest(init), ...init })
  if (response.ok) return response
  if (response.status === 401) loginWanted.value = 'needed'
  const text = await response.text()
  let answer: { message?: string; help?: string; errors?: readonly { message: string }[] } = {}
  try {
    answer = JSON.parse(text) as typeof answer
  } catch {}
  const reasons = answer.errors?.map(({ message }) => message).join('; ')
  throw new Refused(response.status, answer.message ?? reasons ?? text.trim(), answer.help)
}

export const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
  (await ask(path, init)).json() as Promise<T>
export const withBody = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
export const post = (body: unknown) => withBody('POST', body)

/** Any request whose answer is that of a change. @throws ValuesRefused */
export async function change(path: string, init?: RequestInit): Promise<ChangeAnswer> {
  const answer = await json<ChangeAnswer>(path, init)
  if (answer.result === 'failed') throw new ValuesRefused(answer.errors ?? [])
  return answer
}

export const sessions = {
  session: () => json<Session>('/session'),
  login: (token: string) => json<Session>('/session', post({ token })),
  logout: () => json<Session>('/session', { method: 'DELETE' }),
}
