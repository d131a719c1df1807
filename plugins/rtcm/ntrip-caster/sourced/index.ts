import { tcpQueues } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { type BaseMount, type MountSource, mountSource, type NearMount } from 'rtk-base/services'
import type { MountPoint } from '../mount.js'
import { SourcedBase } from './base-mount.js'
import { SourcedNear } from './near-mount.js'

/** How often the kernel is asked which bytes wait for the rovers. */
const look_ms = 20_000

export type SourcedMount = SourcedBase | SourcedNear

export const isSourced = (mount: MountPoint): mount is SourcedMount =>
  mount instanceof SourcedBase || mount instanceof SourcedNear

const isNear = (mount: BaseMount | NearMount): mount is NearMount => 'choose' in mount

/** The mountpoints of the service `mount-source` that a rover has asked for. Without the service there are none. */
export class SourcedMounts {
  readonly #ctx: PluginContext
  readonly #ended: (user: string) => number
  readonly #mounts = new Map<string, SourcedMount>()
  source: MountSource | undefined

  /** @param ended ends the connections of a login of the source */
  constructor(ctx: PluginContext, ended: (user: string) => number) {
    this.#ctx = ctx
    this.#ended = ended
  }

  get size(): number {
    return this.#mounts.size
  }

  /** @param changed the service came or went */
  start(changed: () => void): void {
    const { services, on, timers, log } = this.#ctx
    services.watch(mountSource, (source) => {
      this.source = source
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
    timers.every(look_ms, () => this.#look())
    // The next version has the rovers by then, and opens its own.
    this.#ctx.defer(() => {
      for (const mount of this.#mounts.values()) mount.close()
    })
  }

  find(name: string): SourcedMount | undefined {
    const found = this.source?.find(name)
    return found && this.#mountOf(found)
  }

  /** Those of the source table. One without rovers is made for the moment. */
  offered(): SourcedMount[] {
    return [...(this.source?.offered() ?? [])].map((one) => this.#mounts.get(one.name) ?? this.#make(one))
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

  /** Forgets a mountpoint without rovers. */
  left(mount: MountPoint): void {
    if (isSourced(mount) && mount.rovers.size === 0) this.#mounts.delete(mount.name)
  }

  #mountOf(found: BaseMount | NearMount): SourcedMount {
    const known = this.#mounts.get(found.name)
    if (known instanceof SourcedBase && !isNear(found)) known.replace(found)
    if (known && known instanceof SourcedNear === isNear(found)) return known
    const mount = this.#make(found)
    this.#mounts.set(found.name, mount)
    return mount
  }

  #make(found: BaseMount | NearMount): SourcedMount {
    if (!isNear(found)) return new SourcedBase(this.#ctx, found)
    return new SourcedNear(this.#ctx, found, (base) => this.#mountOf(base) as SourcedBase)
  }

  /** Another version of the source: rovers stay connected. */
  #replace(source: MountSource): void {
    // Bases first: they may serve rovers of a mountpoint that chooses.
    const mounts = [...this.#mounts.values()].sort((one) => (one instanceof SourcedBase ? -1 : 1))
    for (const mount of mounts) {
      const found = source.find(mount.name)
      if (found && !isNear(found) && mount instanceof SourcedBase) mount.replace(found)
      else if (found && isNear(found) && mount instanceof SourcedNear) mount.replace(found)
      else {
        for (const { connection } of mount.rovers) connection.destroy()
        this.#mounts.delete(mount.name)
      }
    }
  }

  async #look(): Promise<void> {
    const bases = [...this.#mounts.values()].filter((mount) => mount instanceof SourcedBase && mount.rovers.size > 0)
    if (bases.length === 0) return
    const queues = await tcpQueues()
    for (const mount of bases) if (mount instanceof SourcedBase) mount.look(queues)
  }
}
