import { tcpQueues } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import {
  type BaseMount,
  type MountConnection,
  type MountLogin,
  type MountSource,
  mountSource,
  type NearMount,
} from 'rtk-base/services'
import type { Checked, MountLogins } from '../logins/mount-logins.js'
import type { Credentials } from '../logins/stored.js'
import type { MountPoint } from '../mount.js'
import { SourcedBase } from './base-mount.js'
import { SourcedNear } from './near-mount.js'

/** How often the kernel is asked which bytes wait for the rovers. */
const look_ms = 20_000

type SourcedMount = SourcedBase | SourcedNear

/** The logins of the source, which also counts their connections. */
export interface MountUsers extends MountLogins {
  /** A rover connected to a mountpoint. @returns to be called when it has left */
  joined(mount: MountPoint, user: string): () => void
}

/** A rover, as the source counts it. */
interface Joined {
  readonly connection: MountConnection
  uncount: (() => void) | undefined
}

const isNear = (mount: BaseMount | NearMount): mount is NearMount => 'choose' in mount

/** The mountpoints of the service `mount-source` that a rover has asked for. Without the service there are none. */
export class SourcedMounts implements MountUsers {
  readonly #ctx: PluginContext
  readonly #ended: (user: string) => number
  readonly #mounts = new Map<string, SourcedMount>()
  readonly #joined = new Set<Joined>()
  #source: MountSource | undefined

  /** @param ended ends the connections of a login of the source */
  constructor(ctx: PluginContext, ended: (user: string) => number) {
    this.#ctx = ctx
    this.#ended = ended
  }

  /** The service is there. */
  get isThere(): boolean {
    return this.#source !== undefined
  }

  /** Rovers wait for the service. */
  get isMissing(): boolean {
    return !this.isThere && this.#mounts.size > 0
  }

  // ── logins ──────────────────────────────────────────────────────────────────────────────────────────────────────

  get isOpen(): boolean {
    return this.#source?.anonymous === true
  }

  known({ user, password }: Credentials, mount: string): MountLogin | undefined {
    return this.#source?.known(user, password, mount)
  }

  /** Many can be asked for at a time, as nothing is derived. */
  async check({ user, password }: Credentials, mount: string): Promise<Checked> {
    if (!this.#source) return 'unavailable'
    try {
      return await this.#source.login(user, password, mount)
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'a login could not be checked')
      return 'unavailable'
    }
  }

  async elsewhere(user: string): Promise<number> {
    return (await this.#source?.elsewhere(user)) ?? 0
  }

  /** The source counts its connections, and a mountpoint without rovers is forgotten. */
  joined(mount: MountPoint, user: string): () => void {
    const connection = { user, mount: mount.name }
    const joined: Joined = { connection, uncount: this.#source?.connected(connection) }
    this.#joined.add(joined)
    return () => {
      this.#joined.delete(joined)
      joined.uncount?.()
      if (mount.rovers.size === 0) this.#mounts.delete(mount.name)
    }
  }

  /** The rovers that stay connected are counted by this source instead of the one before. */
  #countBy(source: MountSource | undefined): void {
    for (const joined of this.#joined) {
      joined.uncount?.()
      joined.uncount = source?.connected(joined.connection)
    }
  }

  // ── mountpoints ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param changed the service came or went */
  start(changed: () => void): void {
    const { services, on, timers, log } = this.#ctx
    services.watch(mountSource, (source) => {
      this.#source = source
      this.#countBy(source)
      if (source) this.#replace(source)
      changed()
      return (
        source &&
        on(source.onEnd, ({ user, why }) => {
          const ended = this.#ended(user)
          if (ended > 0) log.info({ user, ended }, `connections of a rover account are ended: ${why}`)
        })
      )
    })
    timers.every(look_ms, () => this.#acknowledge())
    // The next version has the rovers by then, opens its own, and counts them itself.
    this.#ctx.defer(() => {
      for (const mount of this.#mounts.values()) mount.close()
      this.#countBy(undefined)
    })
  }

  find(name: string): SourcedMount | undefined {
    const offered = this.#source?.find(name)
    return offered && this.#mountOf(offered)
  }

  /** Mountpoints of the source table. One without rovers is made for the moment. */
  offered(): SourcedMount[] {
    return [...(this.#source?.offered() ?? [])].map((one) => this.#mounts.get(one.name) ?? this.#make(one))
  }

  /** The service is gone for good. */
  close(): void {
    for (const mount of this.#mounts.values()) {
      const rovers = [...mount.rovers]
      mount.close()
      for (const { connection } of rovers) connection.destroy()
    }
    this.#mounts.clear()
  }

  #mountOf(offered: BaseMount | NearMount): SourcedMount {
    const known = this.#mounts.get(offered.name)
    if (known instanceof SourcedBase && !isNear(offered)) known.replace(offered)
    if (known && known instanceof SourcedNear === isNear(offered)) return known
    const mount = this.#make(offered)
    this.#mounts.set(offered.name, mount)
    return mount
  }

  #make(offered: BaseMount | NearMount): SourcedMount {
    if (!isNear(offered)) return new SourcedBase(this.#ctx, offered, this)
    return new SourcedNear(this.#ctx, offered, this, (base) => this.#mountOf(base) as SourcedBase)
  }

  /** A new version of the source is there: rovers stay connected. */
  #replace(source: MountSource): void {
    // Bases first: they may serve rovers of a mountpoint that chooses.
    const mounts = [...this.#mounts.values()].sort((one) => (one instanceof SourcedBase ? -1 : 1))
    for (const mount of mounts) {
      const offered = source.find(mount.name)
      if (offered && !isNear(offered) && mount instanceof SourcedBase) mount.replace(offered)
      else if (offered && isNear(offered) && mount instanceof SourcedNear) mount.replace(offered)
      else {
        for (const { connection } of mount.rovers) connection.destroy()
        this.#mounts.delete(mount.name)
      }
    }
  }

  async #acknowledge(): Promise<void> {
    const bases = [...this.#mounts.values()].filter((mount) => mount instanceof SourcedBase && mount.rovers.size > 0)
    if (bases.length === 0) return
    const queues = await tcpQueues()
    for (const mount of bases) if (mount instanceof SourcedBase) mount.acknowledge(queues)
  }
}
