import type { FleetQuery } from 'rtk-base/services'

/** A connection to a database, from its opening to its end. */
export interface Engine {
  readonly query: FleetQuery
  transaction<T>(work: (query: FleetQuery) => Promise<T>): Promise<T>
  listen(channel: string): Promise<void>
  unlisten(channel: string): Promise<void>
  /** Tries to become the one that leads; asked again, it stays so. @returns whether it leads @throws if the connection is gone */
  lead(): Promise<boolean>
  close(): Promise<void>
}

export interface EngineEvents {
  notified(channel: string, payload: string): void
  /** The engine cannot be used any more. */
  ended(reason: string): void
}

export type OpenEngine = (events: EngineEvents) => Promise<Engine>

/** The lock of the instance that leads: any number, the same in every release. */
export const leaderLock = 7_262_101

/** Names of channels come from the plugins, never from outside. */
export const quoted = (name: string) => `"${name.replaceAll('"', '')}"`
