/** Provided by fleet-caster: further mountpoints and logins for the plugin ntrip-caster. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, RtcmFrame } from './receiver.js'

/** A position on the ellipsoid, degrees. */
export interface LatLon {
  readonly lat: number
  readonly lon: number
}

/** Takes what a base sends. */
export interface MountFeed {
  /**
   * One publication: reference messages, then at most one epoch.
   * @returns how many rovers it was written to
   */
  take(frames: readonly RtcmFrame[]): number
  /** The position of the base is no longer trusted: its rovers get nothing before the next one. */
  reset(): void
}

/** A base that is being fed to rovers. */
export interface OpenMount {
  /** So many epochs that `take` wrote were acknowledged by a rover, by TCP. */
  acknowledged(epochs: number): void
  /** The last rover left. */
  close(): void
}

/** A mountpoint with the stream of one base. */
export interface BaseMount {
  readonly name: string
  /** For the source table; `''`: the name. */
  readonly place: string
  /** Listed in the source table. Its rovers get data only while it is. */
  readonly offered: boolean
  /** Why it is not offered; `''` while it is. */
  readonly reason: string
  readonly arp: Ecef | undefined
  readonly generator: string
  /** Its first rover is there. The reference messages that are known are given to `feed` before this returns. */
  open(feed: MountFeed): OpenMount
}

/** A rover of a mountpoint that chooses the base by its position. */
export interface ChoosingRover {
  readonly user: string
  readonly address: string
  /** Moves it to a base, `undefined` to none. @param why for people */
  serve(base: BaseMount | undefined, why: string): void
}
export interface Choosing {
  /** The rover sent a GGA. */
  located(position: LatLon): void
  close(): void
}
/** A mountpoint that chooses a base for each of its rovers. */
export interface NearMount {
  readonly name: string
  readonly offered: boolean
  choose(rover: ChoosingRover): Choosing
}

/** A login that is right. */
export interface MountLogin {
  readonly user: string
  /** Connections at the same time, on all instances. */
  readonly most: number
}

export interface MountConnection {
  readonly user: string
  readonly mount: string
}

/** Mountpoints that are not the caster's own. */
export interface MountSource {
  /** By name; letters count. */
  find(name: string): BaseMount | NearMount | undefined
  /** Those of the source table. */
  offered(): Iterable<BaseMount | NearMount>
  /** Rovers of the local network need no login. */
  readonly anonymous: boolean
  /** A login that was right lately, without asking the database. */
  known(user: string, password: string, mount: string): MountLogin | undefined
  /** @returns undefined: wrong, expired, or not for this mountpoint. @throws RTK_ERR_UNAVAILABLE: the database cannot be asked */
  login(user: string, password: string, mount: string): Promise<MountLogin | undefined>
  /** Connections of a login at the other instances. 0 while that is not known. */
  elsewhere(user: string): Promise<number>
  /** A rover connected. @returns to be called when it leaves */
  connected(connection: MountConnection): () => void
  /** The connections of a login have to end. */
  readonly onEnd: Event<{ user: string; why: string }>
}
export const mountSource = defineService<MountSource>('mount-source', {
  shape: {
    find: 'function',
    offered: 'function',
    anonymous: 'value',
    known: 'function',
    login: 'function',
    elsewhere: 'function',
    connected: 'function',
    onEnd: 'function',
  },
})
