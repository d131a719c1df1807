/** The outputs and inputs that lead out of the box, and what is done when none of them comes through (plugin recovery). */
import type { Event } from '../event.js'
import type { LinkInfo } from '../info/links.js'
import { defineService } from '../token.js'

/**
 * A connection that a plugin keeps to a peer outside: broker, caster, another machine. `idle`: it is not wanted now. `down`: the peer is
 * not reached, or was lost: the own network may be the cause. `refused`: the peer was reached, and said no: only it can change that.
 */
export interface Link {
  /** Plugin and peer, unique in the station, e.g. `ntrip-server caster.example:2101/ROOF`. Without user or password. */
  readonly name: string
  /** `host:port` */
  readonly peer: string
  readonly state: LinkInfo['state']
  /** `out` when left out: RTCM goes out through it. `in`: corrections come in. `control`: the station is run through it. */
  readonly carries?: 'out' | 'in' | 'control'
  /** The peer is in an own network: it says nothing about the way out. */
  readonly local: boolean
  /** When `state` began, monotonic milliseconds of the station's clock. */
  readonly since_ms: number
  /** Why it is not up, for a person; `''` while it is. */
  readonly reason: string
  /** Attempts that failed since it was up last. */
  readonly attempts: number
  /** What the attempts do differently by now. */
  readonly step: LinkInfo['step']
  /** Address family of the connection, or of the last attempt; 0 unknown. */
  readonly family: 0 | 4 | 6
  /** When the next attempt follows, monotonic; 0: one is under way, or none is made. */
  readonly next_ms: number
}

/** A step of the recovery ladder that was taken, or that could not be. */
export interface RecoveryStep {
  /** UTC milliseconds by the station's best clock. */
  readonly t_ms: number
  readonly step: 'uplink' | 'modem' | 'back'
  /** What was done, to what, and why. */
  readonly text: string
  readonly done: boolean
}

/** Who keeps a connection to the outside reports it here (`Outbound` of `rtk-base/link` does that). */
export interface Links {
  readonly list: readonly Link[]
  /** A link changed, came or went. */
  readonly onChange: Event<void>
  readonly onStep: Event<RecoveryStep>
  /** Adds the link or replaces the one of that name. At most 32; further ones are not shown. */
  report(link: Link): void
  /** It is not kept any more. */
  remove(name: string): void
}
export const links = defineService<Links>('links')
