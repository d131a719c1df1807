/** The routes of the fleet, and what they answer. Every text in it may come from a station: it is shown as text only. */
import { change, json, post, withBody } from '../../../../../runtime/lib/page/ui/http.js'
import type { Json } from '../../../../../runtime/lib/page/ui/station/document.js'
import type { StationSettings } from '../model/chosen.js'

export const verdicts = ['unfit', 'degraded', 'unknown', 'fit'] as const
export type VerdictName = (typeof verdicts)[number]
export const onlines = ['online', 'offline', 'unknown'] as const
export type OnlineName = (typeof onlines)[number]

export interface StationRow {
  readonly serial: string
  readonly name: string
  readonly group: string
  readonly labels: Readonly<Record<string, string>>
  readonly online: OnlineName
  readonly verdict: VerdictName
  readonly cause: string
  /** UTC seconds, as all times; 0 unknown. */
  readonly since: number
  /** Degrees; 0 and 0: unknown. */
  readonly lat: number
  readonly lon: number
  readonly version: string
  readonly rovers: number
  readonly seen: number
}
export interface StationDetail extends StationRow {
  readonly why: string
  readonly onlineSince: number
  readonly source: 'state' | 'document' | 'none'
  readonly reference: string
  readonly alt: number
  readonly variant: string
  readonly uplink: string
  readonly signed: boolean
  readonly certificateUntil: number
  readonly update: { readonly state: string; readonly failed: boolean }
  readonly errors: readonly string[]
  readonly firstSeen: number
  readonly documentAt: number
}
export interface Entry {
  /** Absent in `/fleet/live`. */
  readonly id?: number
  readonly t: number
  /** Empty: the fleet itself. */
  readonly serial: string
  readonly kind: string
  readonly text: string
  readonly by: string
}
export interface FormerDocument {
  readonly t: number
  readonly document: Json
}

export type FleetRole = 'viewer' | 'operator' | 'admin'
export interface Me {
  readonly user: string
  readonly role: FleetRole
  readonly people: boolean
}
export interface Person {
  readonly user: string
  readonly role: FleetRole
  readonly created: string
}
export interface About {
  readonly version: string
  readonly tiles: string
  readonly attribution: string
  readonly parts: readonly string[]
}

export type Wave = { count: number } | { percent: number } | { labels: Record<string, string> }
export interface PlanRequest {
  name: string
  filter: { group?: string; variant?: string; version?: string; labels?: Record<string, string>; serials?: string[] }
  what: { change: Json; back?: Json } | { image: string; version: string }
  waves?: Wave[]
  soak_s?: number
  errors?: number
  atOnce?: number
  apart_km?: number
  force?: boolean
  position?: boolean
  window?: { from: string; to: string }
}
export type RolloutState = 'running' | 'paused' | 'stopping' | 'stopped' | 'done'
export interface ListedRollout {
  readonly id: number
  readonly name: string
  readonly state: RolloutState
  readonly reason: string
  readonly wave: number
  readonly created: number
  readonly by: string
}
export interface Rollout extends ListedRollout {
  readonly plan: PlanRequest
}
export const targetStates = ['waiting', 'measuring', 'asked', 'proving', 'done', 'failed', 'undone'] as const
export interface Target {
  readonly serial: string
  readonly wave: number
  readonly state: (typeof targetStates)[number]
  readonly reason: string
  readonly since: number
}
export interface ShownRollout {
  readonly rollout: Rollout
  readonly waves: number
  readonly counts: Readonly<Partial<Record<Target['state'], number>>>
  /** The first of each state. */
  readonly targets: readonly Target[]
}
export interface Preview {
  readonly waves: readonly (readonly string[])[]
  readonly waits: readonly { readonly serial: string; readonly reason: string }[]
  readonly neighbours: readonly (readonly string[])[]
  readonly open: boolean
}

export interface Account {
  readonly name: string
  readonly mounts: readonly string[]
  readonly most: number
  readonly from_s: number
  readonly until_s: number
  readonly note: string
}
export interface Rovers {
  readonly accounts: readonly { readonly mount: string; readonly user: string; readonly connections: number }[]
  readonly near: readonly {
    readonly user: string
    readonly address: string
    readonly base: string
    readonly why: string
    readonly distance_m: number
    readonly changes: number
  }[]
  readonly silent: readonly { readonly mount: string; readonly why: string }[]
}
export interface Delivered {
  readonly serial: string
  readonly expected: number
  readonly published: number
  readonly relayed: number
  readonly acknowledged: number
}

export interface Alert {
  readonly key: string
  readonly serial: string
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly text: string
  readonly advice: string
  readonly since: number
  readonly state: string
  readonly acknowledged?: { readonly by: string; readonly t: number }
}
export interface Notice {
  readonly id: string
  readonly t: number
  readonly what: string
  readonly severity: string
  readonly subject: string
  readonly text: string
  readonly channels: Readonly<Record<string, { readonly state: string; readonly reason: string }>>
}
export interface Notices {
  readonly channels: readonly { readonly name: string; readonly trouble: string }[]
  readonly notices: readonly Notice[]
}

const part = encodeURIComponent
const stationUrl = (serial: string) => `/fleet/stations/${part(serial)}`
const remove = { method: 'DELETE' }
/** A request without a body. */
const bare = { method: 'POST' }

export interface RecordFilter {
  readonly serial?: string
  readonly kind?: string
  /** The last entry of the page before. */
  readonly after?: Entry | undefined
  readonly limit?: number
}

/** As many the service gives at once. */
const rolloutsAtOnce = 200
const alertsAtOnce = 200

export const fleetApi = {
  about: () => json<About>('/fleet/page'),
  me: () => json<Me>('/fleet/me'),
  /** Every station, page by page. */
  stations: async () => {
    const all: StationRow[] = []
    let after = ''
    do {
      const page = await json<{ stations: StationRow[]; next: string }>(`/fleet/stations?after=${part(after)}`)
      all.push(...page.stations)
      after = page.next
    } while (after !== '')
    return all
  },
  station: (serial: string) => json<StationDetail>(stationUrl(serial)),
  document: (serial: string) => json<Json>(`${stationUrl(serial)}/document`),
  documents: (serial: string) => json<FormerDocument[]>(`${stationUrl(serial)}/documents`),
  give: (serial: string, given: { name?: string; group?: string; labels?: Record<string, string> }) =>
    json<unknown>(stationUrl(serial), withBody('PATCH', given)),
  forget: (serial: string) => json<unknown>(stationUrl(serial), remove),
  settings: (serial: string) => json<StationSettings>(`${stationUrl(serial)}/settings`),
  ask: (serial: string) => json<unknown>(`${stationUrl(serial)}/ask`, bare),
  change: (serial: string, values: Json) => change(`${stationUrl(serial)}/change`, post(values)),
  command: (serial: string, command: string) =>
    json<{ answer: string }>(`${stationUrl(serial)}/command`, post({ command })),
  record: ({ after, ...filter }: RecordFilter) => {
    const page = after && { before: after.t, ...(after.id !== undefined && { beforeId: after.id }) }
    const query = Object.entries({ ...filter, ...page }).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [`${name}=${part(value)}`],
    )
    return json<Entry[]>(`/fleet/record?${query.join('&')}`)
  },
  people: () => json<Person[]>('/fleet/people'),
  addPerson: (user: string, role: FleetRole) => json<{ key: string }>('/fleet/people', post({ user, role })),
  removePerson: (user: string) => json<unknown>(`/fleet/people/${part(user)}`, remove),
  rollouts: async (after?: ListedRollout) => {
    const rows = await json<ListedRollout[]>(`/fleet/rollouts${after ? `?before=${after.id}` : ''}`)
    return { rows, isLast: rows.length < rolloutsAtOnce }
  },
  rollout: (id: number) => json<ShownRollout>(`/fleet/rollouts/${id}`),
  targets: async (id: number, state: Target['state'], after?: Target) => {
    const key = after ? `&after=${part(`${after.wave} ${after.serial}`)}` : ''
    const { targets, next } = await json<{ targets: Target[]; next: string }>(
      `/fleet/rollouts/${id}/targets?state=${state}${key}`,
    )
    return { rows: targets, isLast: next === '' }
  },
  preview: (plan: PlanRequest) => json<Preview>('/fleet/rollouts/preview', post(plan)),
  begin: (plan: PlanRequest) => json<Rollout>('/fleet/rollouts', post(plan)),
  step: (id: number, step: 'pause' | 'resume' | 'stop') => json<Rollout>(`/fleet/rollouts/${id}/${step}`, bare),
  rovers: () => json<Rovers>('/fleet/rovers'),
  accounts: () => json<Account[]>('/fleet/rovers/accounts'),
  addAccount: (account: { name: string; mounts?: string[]; most?: number; note?: string }) =>
    json<{ password: string }>('/fleet/rovers/accounts', post(account)),
  newPassword: (name: string) =>
    json<{ password?: string }>(`/fleet/rovers/accounts/${part(name)}`, withBody('PATCH', { password: 'new' })),
  removeAccount: (name: string) => json<unknown>(`/fleet/rovers/accounts/${part(name)}`, remove),
  delivery: (day: string, serial: string) =>
    json<{ bases: Delivered[] }>(`/fleet/delivery?day=${day}&serial=${part(serial)}`),
  alerts: async (after?: Alert) => {
    const before = after ? `&before=${after.since}&beforeKey=${part(after.key)}` : ''
    const rows = await json<Alert[]>(`/alerts?limit=${alertsAtOnce}${before}`)
    return { rows, isLast: rows.length < alertsAtOnce }
  },
  notices: () => json<Notices>('/alerts/notices'),
  testAlerts: () => json<{ channel: string; accepted: boolean; reason: string }[]>('/alerts/test', bare),
  acknowledge: (key: string) => json<unknown>(`/alerts/${part(key)}/acknowledge`, bare),
}
