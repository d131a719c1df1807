/**
 * Provided by the plugins of a fleet, the program that watches many stations: the connections (fleet), the stations
 * (fleet-registry), mountpoints of its caster (fleet-caster).
 */
import type { Callback, Dispose, Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef } from './receiver.js'

/** A message from the broker of the fleet. */
export interface FleetMessage {
  readonly topic: string
  /** {SN} of a topic `base/{SN}/…`, `''` for any other. */
  readonly serial: string
  /** The topic behind `base/{SN}/`, e.g. `drtk/sig`; the whole topic if it is another one. */
  readonly part: string
  readonly payload: Buffer
  /** The broker kept it from before: it may be of any age. */
  readonly retained: boolean
  /** MQTT 5 only. */
  readonly userProperties: Readonly<Record<string, string | string[]>>
}

/** The connection to the broker that the stations use too. */
export interface FleetBroker {
  readonly connected: boolean
  readonly onConnected: Event<boolean>
  /** MQTT 5: requests may name a topic for the answer. */
  readonly answers: boolean
  /**
   * Subscribes until disposed; the same filter twice is one subscription at the broker.
   * @param filter with the wildcards `+` and `#`
   */
  subscribe(filter: string, take: Callback<[message: FleetMessage]>): Dispose
  /** `offline` and `full`: it is lost. */
  publish(topic: string, payload: string | Buffer, options?: { responseTopic?: string }): 'sent' | 'offline' | 'full'
}
export const fleetBroker = defineService<FleetBroker>('fleet-broker', {
  shape: { connected: 'value', onConnected: 'function', answers: 'value', subscribe: 'function', publish: 'function' },
})

/** Role of a person in the fleet: a viewer reads, an operator acts on stations, an admin also manages people and accounts. */
export type FleetRole = 'viewer' | 'operator' | 'admin'

/** Who may do what. Routes of the fleet that change something have the role `viewer` for the runtime, and ask here. */
export interface FleetAccess {
  /**
   * @param request `user` and `role` as the runtime sets them on a request
   * @returns who it is, for the record: a name, or `token` or `local` for somebody without one
   * @throws RTK_ERR_FORBIDDEN_ROLE
   */
  demand(request: { readonly user: string; readonly role: string }, needed: FleetRole): string
}
export const fleetAccess = defineService<FleetAccess>('fleet-access', { shape: { demand: 'function' } })

/** A row of a result: column → value. `bigint` and `timestamptz` columns are read as numbers and `Date`. */
export type FleetRow = Readonly<Record<string, unknown>>
/** @throws RTK_ERR_UNAVAILABLE while the database cannot be reached; else the error of the database */
export type FleetQuery = <R extends object = FleetRow>(sql: string, values?: readonly unknown[]) => Promise<R[]>

/** The database of the fleet: PostgreSQL, or the embedded one of one desk. Parameters are `$1`, `$2`, … */
export interface FleetDatabase {
  readonly connected: boolean
  readonly query: FleetQuery
  /** All of `work` or nothing is stored. */
  readonly transaction: <T>(work: (query: FleetQuery) => Promise<T>) => Promise<T>
  /**
   * Brings the tables of one plugin up to date. Steps that were done are left out; a step, once released, never changes.
   * @param owner name of the plugin
   * @param steps SQL, oldest first
   */
  migrate(owner: string, steps: readonly string[]): Promise<void>
  /** Calls `take` for each `notify` on this channel by any instance of the fleet, this one included. After a gap: with `undefined`. */
  listen(channel: string, take: Callback<[payload: string | undefined]>): Dispose
  /** At most 7,900 bytes. */
  notify(channel: string, payload: string): Promise<void>
  /** This instance is the one that writes what all of them hear. */
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
    leads: 'value',
    onLeads: 'function',
  },
})

/** A station as the fleet knows it now. Times are UTC seconds, 0 if unknown. */
export interface FleetStation {
  readonly serial: string
  /** As named in the fleet, otherwise as the station names itself; `''` without a name. */
  readonly name: string
  readonly group: string
  readonly labels: Readonly<Record<string, string>>
  /** Since `online` has this value. `unknown`: it was never heard on its topic `online`. */
  readonly online: 'online' | 'offline' | 'unknown'
  readonly onlineSince_s: number
  /** `unknown`: neither the station nor its document says it, or what says it is too old. */
  readonly verdict: 'fit' | 'degraded' | 'unfit' | 'unknown'
  /** Code of the verdict's cause, `ok` if nothing is wrong; of the fleet's own if it is `unknown`. */
  readonly cause: string
  /** The cause in words. */
  readonly why: string
  readonly verdictSince_s: number
  /** Said by the station itself on `state`, or read from its document (another make, or an older version). */
  readonly source: 'state' | 'document' | 'none'
  /** The reference that it announces. */
  readonly arp: Ecef | undefined
  readonly place: { readonly lat: number; readonly lon: number; readonly alt: number } | undefined
  /** Tells references apart: changes with each. */
  readonly reference: string
  readonly version: string
  readonly variant: string
  readonly rtcm: { readonly signed: boolean; readonly rate_s: number }
  /** Clients of its own outputs. */
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

/** An entry of the fleet's record, kept for good. */
export interface FleetEvent {
  readonly t_s: number
  /** `''`: of the fleet itself. */
  readonly serial: string
  /** `verdict`, `online`, `reference`, `version`, `name`, `refused`, `change`, `command`, `rollout`, `account`, `caster`. */
  readonly kind: string
  readonly text: string
  /** Person or part that did it; `''` for a report. */
  readonly by: string
}

/** The stations of the fleet. */
export interface Fleet {
  stations(): IterableIterator<FleetStation>
  readonly size: number
  station(serial: string): FleetStation | undefined
  /** A station is new, or something about it changed; it is undefined once forgotten. */
  readonly onStation: Event<{ serial: string; station: FleetStation | undefined; before: FleetStation | undefined }>
  /** Asks a station to change parameters. @returns its answer @throws RTK_ERR_UNAVAILABLE: offline, or no answer in 30 s */
  change(
    serial: string,
    values: Readonly<Record<string, unknown>>,
    by: string,
  ): Promise<{ result: string; leftover: Record<string, unknown>; errors?: { name: string; message: string }[] }>
  /** @returns the answer, `''` from a broker or a station that cannot answer @throws RTK_ERR_UNAVAILABLE */
  command(serial: string, text: string, by: string): Promise<string>
  /** Its newest document, of any make, whole. */
  document(serial: string): Promise<Record<string, unknown> | undefined>
  /** Asks for a new document. */
  ask(serial: string): void
  record(event: Omit<FleetEvent, 't_s'>): void
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
    ask: 'function',
    record: 'function',
    onRecord: 'function',
  },
})

/** Something that a person should hear of, or its end. */
export interface Alert {
  /** The same for its begin and its end, e.g. `SIM00001 moved`. */
  readonly key: string
  /** {SN} of the station it is about, `''` for none. */
  readonly serial: string
  /** Name of the station for people. */
  readonly name: string
  /** For grouping; `''` for none. */
  readonly group: string
  /** What happened, e.g. `unfit`, `moved`, `offline`, `update-failed`, `certificate`, `disk`. */
  readonly kind: string
  readonly severity: 'warning' | 'critical'
  readonly text: string
  /** What a person can do; `''`: nothing. */
  readonly advice: string
  readonly since_s: number
}
/** Where alerts come from. */
export interface AlertSource {
  /** Those that hold now. */
  active(): readonly Alert[]
  /** The list changed. */
  readonly onChange: Event<void>
  /** Whether an alert that is not in the list may hold all the same: it is not known now, so there is no all-clear. Omitted: never. */
  isUndecided?(alert: Alert): boolean
}
export const alertSource = defineService<AlertSource>('alert-source', {
  shape: { active: 'function', onChange: 'function' },
})
