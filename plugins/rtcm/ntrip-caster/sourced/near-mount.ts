import type { PluginContext } from 'rtk-base/plugin'
import type { BaseMount, Choosing, NearMount } from 'rtk-base/services'
import { Contents } from '../contents.js'
import type { Known, MountPoint, Rover } from '../mount.js'
import type { SourcedBase } from './base-mount.js'
import type { MountUsers } from './index.js'

interface Served {
  readonly choosing: Choosing
  base: SourcedBase | undefined
}

/** A mountpoint that moves each of its rovers to the base that the source chooses by its GGA. */
export class SourcedNear implements MountPoint {
  readonly name: string
  readonly place: string
  readonly isOwn = false
  readonly unverified = false
  readonly needsPosition = true
  readonly generator = ''
  readonly arp = undefined
  /** The bases count what they send. */
  readonly contents: Contents
  readonly known = { position: '', sequence: 0 }
  readonly logins: MountUsers
  readonly #baseOf: (base: BaseMount) => SourcedBase
  readonly #served = new Map<Rover, Served>()
  #near: NearMount

  constructor({ clock }: PluginContext, near: NearMount, source: MountUsers, baseOf: (base: BaseMount) => SourcedBase) {
    this.name = near.name
    this.logins = source
    this.place = near.name
    this.contents = new Contents(clock)
    this.#near = near
    this.#baseOf = baseOf
  }

  get offered(): boolean {
    return this.#near.offered
  }

  get rovers(): ReadonlySet<Rover> {
    return new Set(this.#served.keys())
  }

  /**
   * The present base of a rover: what the rover got of it before a reload counts again if the source chooses the same
   * one.
   */
  baseOf(rover: Rover): string {
    return this.#served.get(rover)?.base?.name ?? ''
  }

  add(rover: Rover, _before?: Known): void {
    this.#served.set(rover, { choosing: this.#choose(rover), base: undefined })
    this.located(rover)
  }

  delete(rover: Rover): void {
    const served = this.#served.get(rover)
    if (!served) return
    this.#served.delete(rover)
    served.choosing.close()
    served.base?.delete(rover)
  }

  joined(user: string): () => void {
    return this.logins.joined(this, user)
  }

  located(rover: Rover): void {
    const { lat, lon, quality } = rover.gga?.position ?? {}
    // A receiver without a fix sends zeros, or the last position. Zeros also come with another quality, from programs that make the GGA.
    if (lat === undefined || lon === undefined || quality === 0 || (lat === 0 && lon === 0)) return
    this.#served.get(rover)?.choosing.located({ lat, lon })
  }

  /** The source was replaced. Rovers stay at their base until it has chosen. */
  replace(near: NearMount): void {
    this.#near = near
    for (const [rover, { base }] of this.#served) {
      this.#served.set(rover, { choosing: this.#choose(rover), base })
      this.located(rover)
    }
  }

  close(): void {
    for (const { choosing } of this.#served.values()) choosing.close()
  }

  #choose(rover: Rover): Choosing {
    const { user, connection } = rover
    return this.#near.choose({
      user,
      address: connection.remoteAddress,
      serve: (base) => this.#move(rover, base && this.#baseOf(base)),
    })
  }

  #move(rover: Rover, base: SourcedBase | undefined): void {
    const served = this.#served.get(rover)
    if (!served || served.base === base) return
    served.base?.delete(rover)
    served.base = base
    rover.primed = false
    // Its reference messages come first: the observations of another base do not fit the position that the rover has.
    base?.add(rover)
  }
}
