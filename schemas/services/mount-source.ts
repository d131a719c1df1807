/** Provided by fleet-caster: further mountpoints and logins for the plugin ntrip-caster. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, RtcmFrame } from './receiver.js'

/** A position on the ellipsoid, degrees. */
export interface LatLon {
  readonly lat: number
  readonly lon: number
}

/** Takes the RTCM of a base. */
export interface MountFeed {
  /**
   * @param frames reference messages, then at most one epoch
   * @returns number of rovers to which they were written
   */
  take(frames: readonly RtcmFrame[]): number
  /** The position of the base is no longer trusted: its rovers get nothing until the next position. */
  reset(): void
}

/** A base that is being fed to rovers. */
export interface OpenMount {
  /** A rover acknowledged this number of epochs (written by `take`) by TCP. */
  acknowledged(epochs: number): void
  /** The last rover left. */
  close(): void
}

/** A mountpoint with the stream of one base. */
export interface BaseMount {
  readonly name: string
  /** For the source table; `''`: the name. */
  readonly place: string
  /** True: the mountpoint is in the source table, and its rovers get data. */
  readonly offered: boolean
  /** Why it is not offered; `''` while it is. */
  readonly reason: string
  readonly arp: Ecef | undefined
  readonly generator: string
  /** Called when the first rover connects. The known reference messages are passed to `feed` before this returns. */
  open(feed: MountFeed): OpenMount
}

/** A rover of a mountpoint that chooses the base by its position. */
export interface ChoosingRover {
  readonly user: string
  readonly address: string
  /** Switches the rover to a base; undefined: to none. @param why for people */
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

/** An accepted login. */
export interface MountLogin {
  readonly user: string
  /** Maximum number of simultaneous connections, on all instances together. */
  readonly most: number
}

export interface MountConnection {
  readonly user: string
  readonly mount: string
}

/** Mountpoints and logins in addition to the caster's own. */
export interface MountSource {
  /** By name; letters count. */
  find(name: string): BaseMount | NearMount | undefined
  /** The mountpoints of the source table. */
  offered(): Iterable<BaseMount | NearMount>
  /** Rovers of the local network need no login. */
  readonly anonymous: boolean
  /** A login that was accepted recently, without a query to the database. */
  known(user: string, password: string, mount: string): MountLogin | undefined
  /** @returns undefined: wrong, expired, or not for this mountpoint. @throws RTK_ERR_UNAVAILABLE if the database cannot be reached */
  login(user: string, password: string, mount: string): Promise<MountLogin | undefined>
  /** Number of connections of a login at the other instances; 0 while unknown. */
  elsewhere(user: string): Promise<number>
  /** Reports a connected rover. @returns a function to call when the rover disconnects */
  connected(connection: MountConnection): () => void
  /** All connections of a login must be closed. */
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
