import { catchUp, feed, spelledLike } from 'rtk-base/ntrip'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { type RtcmStream, rtcmStream } from 'rtk-base/services'
import type { Static } from 'typebox'
import { ForeignMount } from './foreign.js'
import { type MountLogins, stationLogins } from './logins/mount-logins.js'
import type { StoredLogins } from './logins/stored.js'
import { type MountPoint, OwnMount } from './mount.js'
import type { CasterOptions } from './options.js'
import type { Rovers } from './rovers.js'
import { SourcedMounts } from './sourced/index.js'

export interface CasterLogins {
  readonly users: StoredLogins
  /** Passwords of foreign bases, by mountpoint. */
  readonly bases: StoredLogins
  /** Rovers of the local network need no login although there are logins. */
  anonymous(): boolean
}

/** The mountpoints of the caster: over the station's own stream, of foreign bases that push, and of the service `mount-source`. */
export class Mounts {
  readonly #ctx: PluginContext
  readonly #options: Static<typeof CasterOptions>
  readonly #bases: StoredLogins
  readonly #rovers: Rovers
  readonly #own = new Map<string, OwnMount>()
  readonly #foreign = new Map<string, ForeignMount>()
  readonly #sourced: SourcedMounts
  #stream: RtcmStream | undefined
  /** The logins of the station itself. */
  readonly logins: MountLogins

  constructor(
    ctx: PluginContext,
    options: Static<typeof CasterOptions>,
    { users, bases, anonymous }: CasterLogins,
    rovers: Rovers,
  ) {
    this.#ctx = ctx
    this.#options = options
    this.#bases = bases
    this.#rovers = rovers
    this.logins = stationLogins(users, anonymous, (name) => this.spelt(name))
    this.#sourced = new SourcedMounts(ctx, (user) => rovers.endUser(user, this.#sourced))
  }

  /** @param changed a service came or went */
  start(changed: () => void): void {
    this.#sourced.start(changed)
    this.#ctx.services.watch(rtcmStream, (stream) => {
      const end = stream && this.#useStream(stream)
      this.#stream = stream
      changed()
      return end
    })
    this.basesChanged()
  }

  /** Mountpoints over the station's own stream. A stream that replaces another one takes over its rovers. */
  #useStream(stream: RtcmStream): Dispose {
    const { serial } = this.#ctx
    const named = this.#options.mounts.length > 0 ? this.#options.mounts : [{ name: serial }]
    this.#own.clear()
    for (const mount of named) this.#own.set(mount.name, new OwnMount(this.#ctx, stream, mount, this.logins))
    const distributors = this.own.map(({ distributor }) => distributor)
    catchUp(stream, distributors)
    const end = feed(this.#ctx, stream, () => distributors)
    this.#rovers.ownChanged(this.#own)
    return end
  }

  /** A service is there whose mountpoints can be offered. */
  get isOffering(): boolean {
    return this.#stream !== undefined || this.#sourced.isThere
  }

  /** There are mountpoints of a service that is not there. */
  get isMissing(): boolean {
    return (!this.#stream && this.#own.size > 0) || this.#sourced.isMissing
  }

  /** The services that are missing do not come back. */
  giveUpMissing(): void {
    if (!this.#stream) {
      this.#rovers.endOwn()
      this.#own.clear()
    }
    if (!this.#sourced.isThere) this.#sourced.close()
  }

  get own(): OwnMount[] {
    return [...this.#own.values()]
  }

  get foreign(): ForeignMount[] {
    return [...this.#foreign.values()]
  }

  /** The mountpoints of this station. */
  get names(): string[] {
    return [...this.#own.keys(), ...this.#foreign.keys()]
  }

  /** For the source table. */
  offered(): MountPoint[] {
    return [...[...this.own, ...this.foreign].filter((mount) => mount.offered), ...this.#sourced.offered()]
  }

  /** By name, in whatever letters. */
  find(name: string): MountPoint | undefined {
    return alike(new Map<string, MountPoint>([...this.#foreign, ...this.#own]), name) ?? this.#sourced.find(name)
  }

  foreignMount(name: string): ForeignMount | undefined {
    return alike(this.#foreign, name)
  }

  /** Whether this is a mountpoint of the station's own stream. */
  isOwn(name: string): boolean {
    return alike(this.#own, name) !== undefined
  }

  /** The name of a mountpoint as it is written itself. */
  spelt(name: string): string {
    return this.find(name)?.name ?? name
  }

  /** Applies a new password: a base that uses another one is disconnected. */
  basePasswordChanged(mount: string): void {
    this.#foreign.get(mount)?.release('its password was changed')
    this.basesChanged()
  }

  /** Mountpoints of foreign bases come and go with their passwords. */
  basesChanged(): void {
    for (const [name, mount] of this.#foreign) {
      if (this.#bases.has(name)) continue
      mount.close()
      this.#foreign.delete(name)
    }
    for (const { name } of this.#bases.list()) {
      if (!this.#foreign.has(name) && !this.isOwn(name))
        this.#foreign.set(name, new ForeignMount(this.#ctx, name, this.logins))
    }
  }
}

const alike = <T>(mounts: ReadonlyMap<string, T>, name: string): T | undefined =>
  mounts.get(spelledLike(mounts.keys(), name) ?? '')
