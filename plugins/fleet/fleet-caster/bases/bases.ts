import { ecefToGeodetic } from 'rtk-base/gnss'
import { spelledLike } from 'rtk-base/ntrip'
import type { EventSource, PluginContext } from 'rtk-base/plugin'
import { type BaseMount, type FleetStation, fleet, fleetBroker, type LatLon, type OpenMount } from 'rtk-base/services'
import type { Settings } from '../options.js'
import { BaseFeed, type FeedPorts } from './base-feed.js'
import { whyUnfit } from './fitness.js'
import { PublicationReader } from './publication.js'

const look_ms = 1_000
/** A base whose RTCM was bad or missing is not chosen again for so long. */
const avoided_ms = 300_000
const mountName = /^[A-Za-z0-9_.-]{1,100}$/

/** Where the antenna of a station is. */
export function placeOf({ arp, place }: FleetStation): LatLon | undefined {
  const { lat, lon } = arp ? ecefToGeodetic(arp) : (place ?? {})
  return lat === undefined || lon === undefined ? undefined : { lat, lon }
}

/** A mountpoint for each station of the fleet. */
export class Bases {
  readonly #ctx: PluginContext
  readonly #settings: Settings
  readonly #ports: FeedPorts
  readonly #mounts = new Map<string, BaseMount>()
  /** Only bases with rovers, and those whose last rover left within a minute. */
  readonly #feeds = new Map<string, BaseFeed>()
  /** Bases that were subscribed and bad: until when they are avoided (monotonic ms), and why. */
  readonly #avoided = new Map<string, { until_ms: number; why: string }>()
  /** Label → {SN}, where mountpoints are named by labels. */
  #labels: Map<string, string> | undefined
  readonly #changes: EventSource<string>
  #connected_ms: number | undefined

  constructor(
    ctx: PluginContext,
    settings: Settings,
    ports: Omit<FeedPorts, 'changed' | 'connected_ms' | 'idle' | 'station' | 'reader'>,
  ) {
    this.#ctx = ctx
    this.#settings = settings
    this.#changes = ctx.event()
    this.#ports = {
      ...ports,
      reader: new PublicationReader(settings.leap_s),
      station: (serial) => this.#stations.station(serial),
      connected_ms: () => this.#connected_ms,
      changed: (serial) => this.#feedChanged(serial),
      idle: (serial) => this.#idle(serial),
    }
  }

  get #stations() {
    return this.#ctx.services.use(fleet)
  }

  /** {SN} of a base that may, or may no longer, serve rovers. */
  get onChange() {
    return this.#changes.on
  }

  /** {SN} → rovers of this instance. */
  rovers(): Map<string, number> {
    const found = [...this.#feeds].map(([serial, feed]) => [serial, feed.rovers] as const)
    return new Map(found.filter(([, rovers]) => rovers > 0))
  }

  get subscribed(): number {
    return this.#feeds.size
  }

  /** Without the broker every base looks silent: nothing is said by that. */
  get isConnected(): boolean {
    return this.#connected_ms !== undefined
  }

  start(): void {
    const { clock, on, services } = this.#ctx
    services.watch(fleetBroker, (broker) => {
      const take = (isConnected: boolean) => {
        this.#connected_ms = isConnected ? clock.monotonic() : undefined
        for (const feed of this.#feeds.values()) feed.look()
      }
      take(broker?.connected === true)
      return broker && on(broker.onConnected, take)
    })
    on(this.#stations.onStation, ({ serial, station, before }) => {
      if (station?.labels.mount !== before?.labels.mount || !station || !before) this.#labels = undefined
      if (!station) this.#mounts.delete(serial)
      this.#feeds.get(serial)?.look()
      this.#changes.emit(serial)
    })
    this.#ctx.timers.every(look_ms, () => {
      for (const feed of this.#feeds.values()) feed.look()
    })
  }

  stop(): void {
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
  }

  /** Why a base may not serve rovers now; `''`: it may. */
  why(serial: string): string {
    const feed = this.#feeds.get(serial)
    if (feed) return feed.reason
    const unfit = whyUnfit(this.#stations.station(serial), this.#settings)
    if (unfit) return unfit
    const avoided = this.#avoided.get(serial)
    return avoided && avoided.until_ms > this.#ctx.clock.monotonic() ? avoided.why : ''
  }

  find(name: string): BaseMount | undefined {
    const serial = this.#serialOf(name) ?? this.#serialOf(spelledLike(this.#names(), name) ?? '')
    return serial === undefined ? undefined : this.mount(serial)
  }

  /** Everything that a mountpoint may be asked for by. */
  *#names(): Generator<string> {
    for (const { serial } of this.#stations.stations()) yield serial
    yield* this.#labels?.keys() ?? []
  }

  /** Bases that may serve rovers. */
  *offered(): Generator<BaseMount> {
    for (const { serial } of this.#stations.stations()) if (this.why(serial) === '') yield this.mount(serial)
  }

  nameOf({ serial, labels }: FleetStation): string {
    const { mount } = labels
    return this.#settings.names === 'label' && mount && this.#serialOf(mount) === serial ? mount : serial
  }

  mount(serial: string): BaseMount {
    const known = this.#mounts.get(serial)
    const station = this.#stations.station(serial)
    const name = station ? this.nameOf(station) : serial
    if (known?.name === name) return known
    const bases = this
    const current = () => bases.#stations.station(serial)
    const mount: BaseMount & { serial: string } = {
      name,
      serial,
      get place() {
        return current()?.name ?? ''
      },
      get offered() {
        return bases.why(serial) === ''
      },
      get reason() {
        return bases.why(serial)
      },
      get arp() {
        return current()?.arp
      },
      get generator() {
        const { version = '' } = current() ?? {}
        return version.slice(0, 64) || 'unknown'
      },
      open: (feed) => this.#open(serial, feed),
    }
    this.#mounts.set(serial, mount)
    return mount
  }

  /** Observes a base, so that it has proved itself before a rover is moved to it. @returns whether it has */
  prove(serial: string): boolean {
    const found = this.#feeds.get(serial) ?? new BaseFeed(serial, this.#ports)
    this.#feeds.set(serial, found)
    found.warm()
    return found.isProven
  }

  #open(serial: string, feed: Parameters<BaseMount['open']>[0]): OpenMount {
    const found = this.#feeds.get(serial) ?? new BaseFeed(serial, this.#ports)
    this.#feeds.set(serial, found)
    this.#avoided.delete(serial)
    return found.open(feed)
  }

  #idle(serial: string): void {
    this.#feeds.get(serial)?.close()
    this.#feeds.delete(serial)
  }

  #feedChanged(serial: string): void {
    const why = this.#feeds.get(serial)?.reason ?? ''
    const isOwnFault = why !== '' && this.isConnected && whyUnfit(this.#stations.station(serial), this.#settings) === ''
    if (isOwnFault) this.#avoided.set(serial, { until_ms: this.#ctx.clock.monotonic() + avoided_ms, why })
    else this.#avoided.delete(serial)
    this.#changes.emit(serial)
  }

  /** A serial number counts before a label, and of two stations with the same label the first. */
  #serialOf(name: string): string | undefined {
    if (!mountName.test(name)) return undefined
    if (this.#stations.station(name)) return name
    if (this.#settings.names !== 'label') return undefined
    if (!this.#labels) {
      this.#labels = new Map()
      const all = [...this.#stations.stations()].sort((one, other) => (one.serial < other.serial ? -1 : 1))
      for (const { serial, labels } of all) {
        const { mount } = labels
        if (mount && mountName.test(mount) && !this.#labels.has(mount)) this.#labels.set(mount, serial)
      }
    }
    return this.#labels.get(name)
  }
}
