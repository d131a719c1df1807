/**
 * Provided by the plugins of a fleet, a service that watches many stations. `fleet` provides the connections,
 * `fleet-registry` the stations and their alerts.
 */
import type { Callback, Dispose, Event } from '../event.js'
import type { StationSettings } from '../station.js'
import { defineService } from '../token.js'
import type { Ecef, Enu } from './receiver.js'

/** A message from the broker of the fleet. */
export interface FleetMessage {
  readonly topic: string
  /** {SN} of a topic `base/{SN}/…`, `''` for any other. */
  readonly serial: string
  /** The topic without `base/{SN}/`, e.g. `drtk/sig`. For any other topic: the whole topic. */
  readonly part: string
  readonly payload: Buffer
  /** The broker had stored the message, so it may be of any age. */
  readonly retained: boolean
  /** MQTT 5 only. */
  readonly userProperties: Readonly<Record<string, string | string[]>>
}

/** The fleet's connection to the broker of the stations. */
export interface FleetBroker {
  readonly connected: boolean
  readonly onConnected: Event<boolean>
  /** True with MQTT 5: a request can name a topic for its answer. */
  readonly answers: boolean
  /**
   * Subscribes until the returned function is called. Calls with the same filter share one subscription at the broker.
   * @param filter with the wildcards `+` and `#`
   */
  subscribe(filter: string, take: Callback<[message: FleetMessage]>): Dispose
  /** With `offline` and `full` the message is lost. */
  publish(topic: string, payload: string | Buffer, options?: { responseTopic?: string }): 'sent' | 'offline' | 'full'
}
export const fleetBroker = defineService<FleetBroker>('fleet-broker', {
  shape: { connected: 'value', onConnected: 'function', answers: 'value', subscribe: 'function', publish: 'function' },
})

/** Role of a person in the fleet: a viewer reads, an operator acts on stations, an admin also manages people and accounts. */
export type FleetRole = 'viewer' | 'operator' | 'admin'

/**
 * Checks the roles of people. The runtime lets viewers use all routes of the fleet. Routes that change something call
 * `demand`.
 */
export interface FleetAccess {
  /**
   * @param request `user` and `role` as the runtime sets them on a request
   * @returns name of the person, for the record; `token` or `local` for a caller without a name
   * @throws RTK_ERR_FORBIDDEN_ROLE
   */
  demand(request: { readonly user: string; readonly role: string }, needed: FleetRole): string
  /** Whether `demand` would let it through. */
  may(request: { readonly user: string; readonly role: string }, needed: FleetRole): boolean
}
export const fleetAccess = defineService<FleetAccess>('fleet-access', {
  shape: { demand: 'function', may: 'function' },
})

/** A row of a result: column → value. `bigint` and `timestamptz` columns are read as numbers and `Date`. */
export type FleetRow = Readonly<Record<string, unknown>>
/** @throws RTK_ERR_UNAVAILABLE while the database cannot be reached; else the error of the database */
export type FleetQuery = <R extends object = FleetRow>(sql: string, values?: readonly unknown[]) => Promise<R[]>

/** The database of the fleet: PostgreSQL, or the embedded database. Parameters in SQL are `$1`, `$2`, … */
export interface FleetDatabase {
  readonly connected: boolean
  readonly query: FleetQuery
  /** Stores everything that `work` writes, or nothing. */
  readonly transaction: <T>(work: (query: FleetQuery) => Promise<T>) => Promise<T>
  /**
   * Brings tables up to date. Runs the steps that have not run yet. Never change a released step. Resolves when the tables are there:
   * what fails is tried again, and is the error `fleet-tables`.
   * @param owner of the tables: a plugin, or a part of one. The steps of one owner are in one list, which only grows at its end
   * @param steps SQL, oldest first
   */
  migrate(owner: string, steps: readonly string[]): Promise<void>
  /** Calls `take` for each `notify` on this channel by any instance of the fleet, including this one. After an interruption, `take` gets `undefined`, because calls may have been missed. */
  listen(channel: string, take: Callback<[payload: string | undefined]>): Dispose
  /** Sends a payload of at most 7,900 bytes to all instances. */
  notify(channel: string, payload: string): Promise<void>
  /**
   * UTC seconds by the clock of the database, as `now()` in SQL. Instances compare times by it, because their own clocks may differ.
   * The embedded database has the clock of the service.
   */
  now_s(): Promise<number>
  /** Only the leading instance stores the states of the stations. */
  readonly leads: boolean
  readonly onLeads: Event<boolean>
}
export const fleetDatabase = defineService<FleetDatabase>('fleet-database', {
  shape: {
    connected: 'value',
    query: 'function',
    transaction: 'function',
    migrate: 'function',
    listen: 'function',
    notify: 'function',
    now_s: 'function',
    leads: 'value',
    onLeads: 'function',
  },
})

export interface NewJob {
  /** Unique in its kind. */
  readonly key: string
  /** Due after this time, seconds. Default: at once. */
  readonly after_s?: number
  /** Jobs that are due in the same hour are begun in this order. */
  readonly place?: number
}
/**
 * Ends a job, and stores what came of it in one transaction: an instance whose job another one has begun stores nothing. Tried again while
 * the database is away.
 * @param again_s the job is due again after this time, seconds; undefined: it is over
 * @returns whether it was stored @throws what the database refuses: then the job failed
 */
export type JobEnd = (again_s?: number, store?: (query: FleetQuery) => Promise<unknown>) => Promise<boolean>

export interface FleetJobKind {
  /** Jobs that this instance works at, at the same time. */
  readonly atOnce: number
  /** A job that was not ended after this time is begun by another instance. */
  readonly lease_s: number
  /** A job that was begun this often is given up. Default: never. */
  readonly tries?: number
  /** Time between two tries: doubles, with jitter. Default: 15 s to 15 min. */
  readonly waits?: { readonly first_ms: number; readonly longest_ms: number }
  /** Whether this instance can begin jobs now. Default: always. */
  mayBegin?(): boolean
  /** Resolves without a call of `end`, or rejects: it failed, and is tried again. */
  run(job: { readonly key: string; readonly tries: number }, end: JobEnd): Promise<void>
}
/**
 * Jobs that the instances of the fleet share. Each is done by one of them once it is due, by the clock of the database. A job that ends
 * with its instance is begun by another one.
 */
export interface FleetJobs {
  /**
   * Adds jobs, or begins those that are there anew: what is under way stores nothing.
   * @param query of a transaction. Default: a transaction of its own
   */
  put(kind: string, jobs: readonly NewJob[], query?: FleetQuery): Promise<void>
  /** Removes jobs. What is under way stores nothing. */
  drop(kind: string, keys: readonly string[], query?: FleetQuery): Promise<void>
  /** These are begun before all others of their kind. */
  prefer(kind: string, keys: readonly string[]): Promise<void>
  /** How many jobs there are, and for how long the oldest waits though it is due. */
  waiting(kind: string): Promise<{ readonly count: number; readonly behind_s: number }>
  /** Works at jobs of a kind. @returns gives those back that are under way */
  work(kind: string, options: FleetJobKind): () => Promise<void>
}
export const fleetJobs = defineService<FleetJobs>('fleet-jobs', {
  shape: { put: 'function', drop: 'function', prefer: 'function', waiting: 'function', work: 'function' },
})

/** A station as the fleet knows it now. Times are UTC seconds, 0 if unknown. */
export interface FleetStation {
  readonly serial: string
  /** As named in the fleet, otherwise as the station names itself; `''` without a name. */
  readonly name: string
  readonly group: string
  readonly labels: Readonly<Record<string, string>>
  /** `unknown`: nothing was received on the topic `online` of this station. */
  readonly online: 'online' | 'offline' | 'unknown'
  readonly onlineSince_s: number
  /** `unknown`: neither the topic `state` nor the status document has a verdict, or it is too old. */
  readonly verdict: 'fit' | 'degraded' | 'unfit' | 'unknown'
  /** Code of the verdict's cause; `ok` if nothing is wrong. For the verdict `unknown`, a code of the fleet itself. */
  readonly cause: string
  /** The cause in words. */
  readonly why: string
  readonly verdictSince_s: number
  /** Source of the verdict: the topic `state`, or the status document (another make, or an older version). */
  readonly source: 'state' | 'document' | 'none'
  /** The reference that it announces. */
  readonly arp: Ecef | undefined
  readonly place: { readonly lat: number; readonly lon: number; readonly alt: number } | undefined
  /** Identifies the reference: different references have different values. */
  readonly reference: string
  readonly version: string
  readonly variant: string
  readonly rtcm: { readonly signed: boolean; readonly rate_s: number }
  /** Number of clients of the station's own outputs. */
  readonly rovers: number
  /** Uplink to the broker: `eth`, `sta`, `cellular` or `''`. */
  readonly uplink: string
  readonly certificateUntil_s: number
  readonly update: { readonly state: string; readonly failed: boolean }
  /** Codes of the errors in its newest document. */
  readonly errors: readonly string[]
  readonly firstSeen_s: number
  readonly seen_s: number
  /** When its newest document came. */
  readonly document_s: number
}

/** An entry of the fleet's record. */
export interface FleetEvent {
  readonly t_s: number
  /** `''`: of the fleet itself. */
  readonly serial: string
  /** `new`, `online`, `verdict`, `reference`, `version`, `name`, `update`, `refused`, `change`, `command`, `given`, `forgotten`, `rollout`, `account`, `caster`, `position`. */
  readonly kind: string
  readonly text: string
  /** Person or plugin that acted; `''` for a report of a station. */
  readonly by: string
}

/** The stations of the fleet. */
export interface Fleet {
  stations(): IterableIterator<FleetStation>
  readonly size: number
  station(serial: string): FleetStation | undefined
  /** A station is new, changed, or was removed. `before` is undefined for a new station, `station` for a removed one. */
  readonly onStation: Event<{ serial: string; station: FleetStation | undefined; before: FleetStation | undefined }>
  /** Asks a station to change parameters. @returns its answer @throws RTK_ERR_UNAVAILABLE: offline, or no answer in 30 s */
  change(
    serial: string,
    values: Readonly<Record<string, unknown>>,
    by: string,
  ): Promise<{ result: string; leftover: Record<string, unknown>; errors?: { name: string; message: string }[] }>
  /** @returns the answer; `''` if the broker or the station does not support answers @throws RTK_ERR_UNAVAILABLE */
  command(serial: string, text: string, by: string): Promise<string>
  /** The newest status document of a station of any make; undefined if there is none. */
  document(serial: string): Promise<Record<string, unknown> | undefined>
  /** What can be set and done on a station. @throws RTK_ERR_UNAVAILABLE: it has not said so, as one of another make */
  settings(serial: string): Promise<StationSettings>
  /** Requests a new status document. */
  ask(serial: string): void
  record(event: Omit<FleetEvent, 't_s'>): void
  /**
   * For trouble that somebody may cause at any rate: once an hour for each station, kind and subject.
   * @param about the subject, e.g. `signature` @returns whether it was recorded
   */
  recordRarely(event: Omit<FleetEvent, 't_s'>, about: string): boolean
  readonly onRecord: Event<FleetEvent>
}
export const fleet = defineService<Fleet>('fleet-stations', {
  shape: {
    stations: 'function',
    size: 'value',
    station: 'function',
    onStation: 'function',
    change: 'function',
    command: 'function',
    document: 'function',
    settings: 'function',
    ask: 'function',
    record: 'function',
    recordRarely: 'function',
    onRecord: 'function',
  },
})

/** Provided by fleet-caster: the rovers that would miss a base. */
export interface FleetRovers {
  /** Rovers of this base at the casters of all instances. */
  on(serial: string): number
}
export const fleetRovers = defineService<FleetRovers>('fleet-rovers', { shape: { on: 'function' } })

/** Judgement of the position that a station announces, by the vectors to its neighbours. */
export interface FleetJudgement {
  readonly serial: string
  /** `unknown`: too few vectors, or they do not tell. */
  readonly state: 'agrees' | 'contradicts' | 'unknown'
  /** A `NetReason` of `rtk-base/baseline`; `pending`: contradicted by one window, so `unknown`, and the next one decides. */
  readonly reason: string
  /** True minus announced position, metres, and its standard deviations; 0 when unknown. */
  readonly offset: Enu
  readonly sigma: Enu
  /** Number of neighbours that the judgement is based on. */
  readonly vectors: number
  readonly since_s: number
  /** Begin of the middle one of the windows that were judged, UTC seconds: half of them began later. 0: there is none. */
  readonly window_s: number
  /**
   * The cause of a contradiction, a `NetCause` of `rtk-base/baseline`; `''` without one. `survey`: the offset is within
   * three times the accuracy that the station states (`values.acc_m`).
   */
  readonly cause: {
    readonly kind: string
    readonly values: Readonly<Record<string, string | number | boolean>>
    readonly text: string
  }
}

/** Whether a person must correct the position: it is contradicted, and farther off than its stated accuracy allows. */
export const isPositionWrong = (judgement: Pick<FleetJudgement, 'state' | 'cause'> | undefined): boolean =>
  judgement?.state === 'contradicts' && judgement.cause.kind !== 'survey'

/** Provided by fleet-net: which stations announce a wrong position. */
export interface FleetNet {
  /** undefined: the station was never judged, or announces another position since. */
  judgement(serial: string): FleetJudgement | undefined
  /** Judgements were made: some may have changed. */
  readonly onChange: Event<void>
}
export const fleetNet = defineService<FleetNet>('fleet-net', { shape: { judgement: 'function', onChange: 'function' } })

/** Kinds of alerts. */
export const alertKinds = [
  ...(['offline', 'unfit', 'moved', 'position', 'degraded', 'broker', 'database', 'update-failed'] as const),
  ...(['certificate', 'disk'] as const),
] as const
export type AlertKind = (typeof alertKinds)[number]

/** A problem that a person should know of. */
export interface Alert {
  /** Identifies the alert from its begin to its end, e.g. `SIM00001 moved`. */
  readonly key: string
  /** Serial number of the station; `''` if the alert is not about a station. */
  readonly serial: string
  /** Name of the station for people. */
  readonly name: string
  /** For grouping; `''` for none. */
  readonly group: string
  /** Kind of the alert: one of `alertKinds`, or a name of a third party, which is told as it is. */
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly text: string
  /** Remedy for a person; `''`: none. */
  readonly advice: string
  readonly since_s: number
}
/** Reports the current alerts. */
export interface AlertSource {
  /** The current alerts. */
  active(): readonly Alert[]
  /** The list changed. */
  readonly onChange: Event<void>
  /** For an alert that is not in the list: whether it is unknown if the problem is over. No all-clear is sent then. Omitted: always known. */
  isUndecided?(alert: Alert): boolean
}
export const alertSource = defineService<AlertSource>('alert-source', {
  shape: { active: 'function', onChange: 'function' },
})
