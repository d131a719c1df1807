/** Outbound connections, and recovery when every one of them is down (plugin recovery). */
import type { Event } from '../event.js'
import type { LinkInfo } from '../info/links.js'
import { defineService } from '../token.js'

/**
 * A connection of a plugin to an outside peer: broker, caster, another machine. `idle`: not wanted now. `down`: the peer is unreachable
 * or was lost; the station's own network may be the cause. `refused`: the peer was reached and refused; only the peer can change that.
 */
export interface Link {
  /** Plugin and peer, unique in the station, e.g. `ntrip-server caster.example:2101/ROOF`. Without user or password. */
  readonly name: string
  /** `host:port` */
  readonly peer: string
  readonly state: LinkInfo['state']
  /** `out` (default): RTCM is sent. `in`: corrections are received. `control`: remote control of the station. */
  readonly carries?: 'out' | 'in' | 'control'
  /** The peer is in a local network: the link proves nothing about the uplink. */
  readonly local: boolean
  /** When `state` began, monotonic milliseconds of the station's clock. */
  readonly since_ms: number
  /** Why the link is not up, for a person; `''` while it is up. */
  readonly reason: string
  /** Failed attempts since the link was last up. */
  readonly attempts: number
  /** Strategy of the next attempt. */
  readonly step: LinkInfo['step']
  /** Address family of the connection, or of the last attempt; 0 unknown. */
  readonly family: 0 | 4 | 6
  /** Time of the next attempt, monotonic; 0: in progress, or none is planned. */
  readonly next_ms: number
}

/** A recovery step that was taken, or that failed. */
export interface RecoveryStep {
  /** UTC milliseconds by the station's best clock. */
  readonly t_ms: number
  readonly step: 'uplink' | 'modem' | 'back'
  /** Description, with the reason. */
  readonly text: string
  readonly done: boolean
}

/** Registry of outbound connections (`Outbound` of `rtk-base/link` reports to it). */
export interface Links {
  readonly list: readonly Link[]
  /** A link changed, appeared or was removed. */
  readonly onChange: Event<void>
  readonly onStep: Event<RecoveryStep>
  /** Adds the link, or replaces the link of the same name. At most 32; further links are ignored. */
  report(link: Link): void
  /** The link is no longer maintained. */
  remove(name: string): void
}
export const links = defineService<Links>('links')
