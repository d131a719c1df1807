import { isReferencePoint, referencePoint, referenceTypes } from 'rtk-base/gnss'
import { Piece } from 'rtk-base/ntrip'
import type { PluginContext } from 'rtk-base/plugin'
import type { Ecef } from 'rtk-base/services'
import { Contents } from './contents.js'
import type { MountLogins } from './logins/mount-logins.js'
import { type Known, type MountPoint, type Rover, send } from './mount.js'

/** Messages that a rover needs before observations. */

/** A mountpoint with frames that are not the station's own: every rover gets the position of the base first. */
export abstract class RelayedMount implements MountPoint {
  readonly name: string
  readonly isOwn = false
  abstract readonly unverified: boolean
  abstract readonly generator: string
  abstract readonly offered: boolean
  readonly contents: Contents
  readonly logins: MountLogins
  readonly rovers = new Set<Rover>()
  /** The newest of each reference message of the base. */
  protected readonly reference = new Map<number, Uint8Array>()
  /** Frames that go out together. */
  #waiting: Uint8Array[] = []

  constructor({ clock }: PluginContext, name: string, logins: MountLogins) {
    this.name = name
    this.logins = logins
    this.contents = new Contents(clock)
  }

  get arp(): Ecef | undefined {
    const position = this.#position
    return position && referencePoint(position)?.arp
  }

  get known(): Known {
    const position = this.#position
    return { position: position ? Buffer.from(position).toString('base64') : '', sequence: 0 }
  }

  get #position(): Uint8Array | undefined {
    return this.reference.get(1005) ?? this.reference.get(1006)
  }

  /** A newcomer gets the reference messages at once. @param before it has this position already */
  add(rover: Rover, before?: Known): void {
    this.rovers.add(rover)
    rover.primed = before !== undefined && before.position !== '' && before.position === this.known.position
    if (rover.primed || this.reference.size === 0) return
    const reference = [...this.reference].sort(([one], [other]) => one - other)
    rover.primed = reference.some(([type]) => isReferencePoint(type))
    send(rover, new Piece(Buffer.concat(reference.map(([, bytes]) => bytes))))
  }

  delete(rover: Rover): void {
    this.rovers.delete(rover)
  }

  /** A whole frame of the base. It goes out with the next `relay`; a position also ends the frames before it. */
  protected frame(type: number, bytes: Uint8Array): void {
    this.contents.count(type, bytes.length, bytes)
    if (isReferencePoint(type)) {
      this.relay()
      this.reference.delete(type === 1005 ? 1006 : 1005)
      for (const rover of this.rovers) rover.primed = true
    }
    if (referenceTypes.includes(type)) this.reference.set(type, bytes)
    this.#waiting.push(bytes)
  }

  /** Sends the frames that wait. @returns how many rovers they were written to */
  protected relay(): number {
    if (this.#waiting.length === 0) return 0
    const piece = new Piece(Buffer.concat(this.#waiting))
    this.#waiting = []
    let written = 0
    for (const rover of this.rovers) if (rover.primed && send(rover, piece)) written += 1
    return written
  }

  /** The base is gone, or its position is in doubt: rovers get nothing before the next position. */
  protected forget(): void {
    this.#waiting = []
    this.reference.clear()
    this.contents.clear()
    for (const rover of this.rovers) rover.primed = false
  }
}
