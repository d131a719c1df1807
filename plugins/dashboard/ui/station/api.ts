/** The station's operations, over the same HTTP interface that programs use. */
import { signal } from '@preact/signals'

export interface Session {
  role: 'none' | 'viewer' | 'operator'
  login: boolean
  expires: number
  /** Set by a person; tokens of the variant do not count. */
  passwords?: Readonly<Record<LoginRole, boolean>>
}
export type LoginRole = 'operator' | 'viewer'

/** Needed: the station requires a login, or the session has ended. Chosen: by the user. */
export const loginWanted = signal<'' | 'needed' | 'chosen'>('')
export const session = signal<Session | undefined>(undefined)

export interface Parameter {
  name: string
  plugin: string
  /** The label of its field. */
  title: string
  schema: Schema
  default?: unknown
  value?: unknown
  set?: boolean
  secret: boolean
  endsLink: boolean
  onTrial: boolean
}
/** JSON Schema, as far as forms need it. */
export interface Schema {
  type?: string
  title?: string
  description?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  maxItems?: number
  properties?: Record<string, Schema>
  required?: readonly string[]
}
export interface Command {
  name: string
  help: string
  plugin: string
  value: boolean
  caution?: string
  words?: readonly string[]
}
export interface PluginReport {
  name: string
  version: string
  state: string
  reason: string
}
export interface ChangeAnswer {
  result: 'ok' | 'failed'
  leftover: Record<string, unknown>
  errors?: { name: string; message: string }[]
}
export interface HistorySeries {
  t: number
  interval_s: number
  units: Record<string, string>
  figures: Record<string, (number | null)[]>
}

/** The station's error answer. */
export class Refused extends Error {
  readonly status: number
  readonly help: string

  constructor(status: number, message: string, help = '') {
    super(message)
    this.status = status
    this.help = help
  }
}

async function ask(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init)
  if (response.ok) return response
  if (response.status === 401) loginWanted.value = 'needed'
  const text = await response.text()
  let answer: { message?: string; help?: string } = {}
  try {
    answer = JSON.parse(text) as typeof answer
  } catch {}
  throw new Refused(response.status, answer.message ?? text.trim(), answer.help)
}

const json = async <T>(path: string, init?: RequestInit): Promise<T> => (await ask(path, init)).json() as Promise<T>
const withBody = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const post = (body: unknown) => withBody('POST', body)

export const api = {
  parameters: () => json<Parameter[]>('/parameters'),
  commands: () => json<Command[]>('/commands'),
  plugins: () => json<PluginReport[]>('/plugins'),
  session: () => json<Session>('/session'),
  login: (token: string) => json<Session>('/session', post({ token })),
  setPassword: (wanted: { role: LoginRole; password: string | null; old?: string }) =>
    json<Session>('/password', post(wanted)),
  logout: () => json<Session>('/session', { method: 'DELETE' }),
  change: (values: Record<string, unknown>) => json<ChangeAnswer>('/change', post(values)),
  command: async (name: string, value?: string): Promise<string> =>
    (await ask(`/system?${commandQuery(name, value)}`, { method: 'POST' })).text(),
  history: (figures: readonly string[], step: number) =>
    json<HistorySeries>(`/history?figures=${figures.join(',')}&step=${step}`),
  sky: async () => (await json<{ cells: { az: number; el: number; cno: number }[] }>('/history/sky')).cells,
  /** The flight record of a time, one JSON object a line. */
  record: async (from_s: number) => (await ask(`/record?from=${from_s}`)).text(),
  get: json,
  send: <T>(method: 'PUT' | 'POST', path: string, body: unknown) => json<T>(path, withBody(method, body)),
  post: <T>(path: string) => json<T>(path, { method: 'POST' }),
  remove: <T>(path: string) => json<T>(path, { method: 'DELETE' }),
}

/** Their value is an address, which the station takes letter by letter; every other value is form-decoded. */
const verbatim = new Set(['firmware', 'ota-upgrade'])

/** The query of `POST /system` for a command. Pure. */
export function commandQuery(name: string, value: string | undefined): string {
  if (value === undefined) return encodeURIComponent(name)
  return `${encodeURIComponent(name)}=${verbatim.has(name) ? value.trim() : encodeURIComponent(value)}`
}
