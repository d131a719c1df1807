import type { Gga } from 'rtk-base/gnss'
import { Distributor, type Piece, type Selection } from 'rtk-base/ntrip'
import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { Ecef, RtcmStream } from 'rtk-base/services'
import { Contents } from './contents.js'
import type { MountLogins } from './logins/mount-logins.js'

/** A client of the stream. */
export interface Rover {
  readonly connection: Connection
  /** The user among the logins of the mountpoint; '': none. */
  readonly user: string
  readonly agent: string
  readonly version: 1 | 2
  readonly chunked: boolean
  /** UTC seconds, 0 without a credible clock. */
  readonly since: number
  /** The rover has the position of the base: nothing else goes out before. */
  primed: boolean
  /** Position that the rover reported, and the time of the report (monotonic ms). */
  gga?: { position: Gga; at_ms: number; distance_m: number | undefined }
}

/** State of a rover: the position as comparable text, and the number of its newest stream item. */
export interface Known {
  position: string
  sequence: number
}

/** A named stream for rovers: the station's own, that of a foreign base, or one of the service `mount-source`. */
export interface MountPoint {
  readonly name: string
  /** The station's own stream. */
  readonly isOwn: boolean
  /** A foreign base: this station has not verified what it sends. */
  readonly unverified: boolean
  readonly contents: Contents
  /** Logins that may use the mountpoint. */
  readonly logins: MountLogins
  /** NTRIP 2 without chunks, for clients that cannot decode them. */
  readonly plainV2?: boolean
  /** Where its base is. */
  readonly arp: Ecef | undefined
  readonly rovers: ReadonlySet<Rover>
  /** For the source table; '' where it is this station. */
  readonly generator: string
  /** Town or name of the place of the base, where it is not this station. */
  readonly place?: string
  /** State of its rovers. */
  readonly known: Known
  /** Offered in the source table. */
  readonly offered: boolean
  /** @param before what it got from the version of the plugin before */
  add(rover: Rover, before?: Known): void
  delete(rover: Rover): void
  /** A rover connected under this name. @returns to be called when it has left */
  joined?(user: string): () => void
  /** The rover has sent its position. */
  located?(rover: Rover): void
  /** Chooses a base by the position of the rover. */
  readonly needsPosition?: boolean
  /** The base that serves this rover, where the mountpoint chooses one; `''`: none. */
  baseOf?(rover: Rover): string
}

/** Sends to one rover in its encoding. Nothing is skipped: a rover that is too slow is disconnected. */
export function send({ connection, chunked }: Rover, piece: Piece): boolean {
  connection.write(chunked ? piece.chunk : piece.bytes)
  return true
}

/** A mountpoint over the station's own stream. */
export class OwnMount implements MountPoint {
  readonly name: string
  readonly isOwn = true
  readonly unverified = false
  readonly generator = ''
  readonly offered = true
  readonly contents: Contents
  readonly logins: MountLogins
  readonly plainV2: boolean
  readonly distributor: Distributor<Rover>
  readonly #stream: RtcmStream

  constructor(
    { clock }: PluginContext,
    stream: RtcmStream,
    { name, plainV2 = false, ...selection }: Selection & { name: string; plainV2?: boolean },
    logins: MountLogins,
  ) {
    this.name = name
    this.logins = logins
    this.plainV2 = plainV2
    this.#stream = stream
    this.contents = new Contents(clock)
    this.distributor = new Distributor<Rover>(stream, selection, () => clock.monotonic(), {
      send,
      counted: (type, bytes, frame) => this.contents.count(type, bytes, frame),
    })
  }

  get arp(): Ecef | undefined {
    return this.#stream.station?.arp
  }

  get known(): Known {
    const { position, sequence } = this.distributor
    return { position, sequence }
  }

  get rovers(): ReadonlySet<Rover> {
    return this.distributor.clients
  }

  add(rover: Rover, before?: Known): void {
    this.distributor.add(rover, before)
  }

  delete(rover: Rover): void {
    this.distributor.clients.delete(rover)
  }
}
