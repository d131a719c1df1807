/** The station's operations, over the same HTTP interface that programs use. */
import type { Static } from 'typebox'
import {
  ask,
  change,
  json,
  type LoginRole,
  post,
  type Session,
  sessions,
  withBody,
} from '../../../../../runtime/lib/page/ui/http.js'
import type { Schema } from '../../../../../runtime/lib/page/ui/model/form.js'
import type { ActionAnswer, ActionEntry, ParameterEntry, PluginReport } from '../../../../../schemas/station.js'

export { type LoginRole, loginWanted, Refused, type Session, session } from '../../../../../runtime/lib/page/ui/http.js'

/** A schema is what forms need of it. */
export type Parameter = Omit<ParameterEntry, 'schema'> & { schema: Schema }
export type StationAction = Omit<ActionEntry, 'input'> & { input: Schema }

export interface HistorySeries {
  t: number
  interval_s: number
  units: Record<string, string>
  figures: Record<string, (number | null)[]>
}

export const api = {
  ...sessions,
  parameters: () => json<Parameter[]>('/parameters'),
  actions: () => json<StationAction[]>('/actions'),
  plugins: () => json<PluginReport[]>('/plugins'),
  setPassword: (wanted: { role: LoginRole; password: string | null; old?: string }) =>
    json<Session>('/password', post(wanted)),
  /** @throws ValuesRefused */
  change: (values: Readonly<Record<string, unknown>>) => change('/change', post(values)),
  act: (name: string, input: Readonly<Record<string, unknown>> = {}) =>
    json<Static<typeof ActionAnswer>>(`/actions/${encodeURIComponent(name)}`, post(input)),
  /** The text of the answer. */
  run: async (name: string, input?: Readonly<Record<string, unknown>>): Promise<string> =>
    (await api.act(name, input)).text,
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
