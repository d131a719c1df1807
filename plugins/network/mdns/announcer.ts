import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import type { PluginContext } from 'rtk-base/plugin'
import { device, localNetwork, station } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import type { LinkAddress, MdnsLink, OpenLink } from './link.js'
import { type Announcement, isSame, namesFor } from './records.js'
import { Responder } from './responder.js'

/** Other names are tried at most this often in a row. */
const mostAttempts = 50
/** Interfaces to a provider, and those of containers and virtual machines: no client looks for a station there. */
const foreign = /^(ppp|wwan|wwp|rmnet|tun|tap|wg|docker|br-|veth|virbr|vnet|cni|flannel)/
/** Delay before the first name is tried again: its owner may be gone, or never existed. */
const firstNameWaits = { first_ms: 3_600_000, longest_ms: 86_400_000, spread: [1, 1.1] } as const
const waits = { first_ms: 5_000, longest_ms: 300_000 } as const

export interface AnnouncerOptions {
  /** Names of interfaces; empty: all local ones but loopback. */
  readonly interfaces: readonly string[]
  readonly port: number
  readonly open: OpenLink
  /** As `os.networkInterfaces()` has them. */
  readonly list?: () => NodeJS.Dict<NetworkInterfaceInfo[]>
}

interface Active {
  readonly on: LinkAddress
  readonly responder: Responder
}

/** One responder for each local interface, with common names. */
export class Announcer {
  readonly #ctx: PluginContext
  readonly #options: AnnouncerOptions
  readonly #active = new Map<string, Active>()
  readonly #backoff = new Backoff(waits)
  readonly #firstNameBackoff = new Backoff(firstNameWaits)
  #attempt = 1
  #retryAt_ms = 0
  #following: Promise<void> | undefined
  #again = false

  constructor(ctx: PluginContext, options: AnnouncerOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  /** Follows the interfaces; calls while it works are one further run. */
  follow(): Promise<void> {
    if (this.#following) {
      this.#again = true
      return this.#following
    }
    const run = async () => {
      do {
        this.#again = false
        await this.#follow()
      } while (this.#again && !this.#ctx.signal.aborted)
    }
    this.#following = run().finally(() => {
      this.#following = undefined
    })
    return this.#following
  }

  async stop(): Promise<void> {
    await this.#following
    await Promise.all([...this.#active.values()].map(({ responder }) => responder.close()))
    this.#active.clear()
  }

  async #follow(): Promise<void> {
    const { http } = this.#ctx.services.use(device)
    if (!http || this.#ctx.signal.aborted) return
    const wanted = new Map(this.#links(http.host).map((one) => [`${one.name} ${one.address}/${one.prefix}`, one]))
    for (const [key, { on, responder }] of this.#active) {
      const now = wanted.get(key)
      if (!now) {
        this.#active.delete(key)
        await responder.close()
        this.#ctx.log.info(`not announced on ${on.name} (${on.address}) any more`)
      } else if (JSON.stringify(now) !== JSON.stringify(on)) {
        this.#active.set(key, { on: now, responder })
        responder.update(this.#announcement(now))
      }
    }
    await this.#openNew(wanted)
    const places = [...this.#active.values()].map(({ on }) => `${on.name} (${on.address})`)
    const { instance } = namesFor(this.#ctx.serial, this.#attempt)
    this.#ctx.status(places.length === 0 ? 'no local interface' : `'${instance}' on ${places.join(', ')}`)
  }

  async #openNew(wanted: ReadonlyMap<string, LinkAddress>): Promise<void> {
    const missing = [...wanted].filter(([key]) => !this.#active.has(key))
    if (missing.length === 0 || this.#ctx.clock.monotonic() < this.#retryAt_ms) return
    for (const [key, on] of missing) {
      try {
        await this.#open(key, on)
        this.#ctx.errors.while('mdns', false)
        this.#backoff.reset()
      } catch (error) {
        const delay_ms = this.#backoff.next()
        this.#retryAt_ms = this.#ctx.clock.monotonic() + delay_ms
        const { port } = this.#options
        const reason = (error as Error).message
        const retry_s = Math.round(delay_ms / 1000)
        this.#ctx.errors.while('mdns', { interface: on.name, port, reason, retry_s })
        return
      }
    }
  }

  async #open(key: string, on: LinkAddress): Promise<void> {
    let responder: Responder | undefined
    const link: MdnsLink = await this.#options.open(on, {
      received: (bytes, from) => responder?.received(bytes, from),
      failed: (error) => this.#ctx.log.debug({ err: error }, `a packet on ${on.name} is lost`),
    })
    if (this.#ctx.signal.aborted) {
      await link.close()
      return
    }
    responder = new Responder(link, this.#announcement(on), {
      port: this.#options.port,
      monotonic: () => this.#ctx.clock.monotonic(),
      spent: () => this.#ctx.clock.monotonic(),
      after: (ms, fn) => this.#ctx.timers.after(ms, fn),
      random: Math.random,
      conflict: () => this.#rename(),
      isOwn: (record) =>
        [...this.#active.values()].some((one) => one.responder.records.some((own) => isSame(own, record))),
    })
    this.#active.set(key, { on, responder })
    responder.start()
    this.#ctx.log.info(`announced on ${on.name} (${on.address})`)
  }

  /** The next name, on all interfaces. */
  #rename(): void {
    if (this.#attempt >= mostAttempts) return
    if (this.#attempt === 1) this.#ctx.timers.after(this.#firstNameBackoff.next(), () => this.#take(1))
    const before = namesFor(this.#ctx.serial, this.#attempt)
    this.#take(this.#attempt + 1)
    const now = namesFor(this.#ctx.serial, this.#attempt)
    this.#ctx.log.warn(
      `'${before.instance}' or ${before.host}.local is used by another device: this station is now '${now.instance}'`,
    )
  }

  /** Probes for another name. */
  #take(attempt: number): void {
    this.#attempt = attempt
    for (const { on, responder } of this.#active.values()) responder.update(this.#announcement(on))
    void this.follow()
  }

  #announcement({ address, ip6 }: LinkAddress): Announcement {
    const { version, hardware, http } = this.#ctx.services.use(device)
    return {
      ...namesFor(this.#ctx.serial, this.#attempt),
      port: http?.port ?? 0,
      isSecure: http?.fingerprint256 !== undefined,
      txt: [`serial=${this.#ctx.serial}`, `version=${version}`, `hardware=${hardware}`, 'path=/', ...this.#name()].map(
        (one) => one.slice(0, 255),
      ),
      ip4: [address],
      ip6,
    }
  }

  /** The name that people gave the station is only in the TXT record (RFC 6763 §6.4): the names in DNS stay. */
  #name(): string[] {
    const { base } = (this.#ctx.services.find(station)?.document() ?? {}) as { base?: { name?: string } }
    const text = `name=${base?.name ?? ''}`
    return base?.name && Buffer.byteLength(text) <= 255 ? [text] : []
  }

  #links(httpHost: string): LinkAddress[] {
    const { interfaces, list = networkInterfaces } = this.#options
    const local = this.#ctx.services.use(localNetwork)
    const isOnlyHere = /^(127\.|::1$|localhost$)/.test(httpHost)
    return Object.entries(list()).flatMap(([name, all = []]) => {
      const isNamed = interfaces.includes(name)
      if (interfaces.length > 0 ? !isNamed : foreign.test(name)) return []
      const ip6 = all.filter((one) => one.family === 'IPv6').map(({ address }) => address)
      return all
        .filter(({ family, internal, address }) => {
          if (family !== 'IPv4' || !local.isLocal(address)) return false
          // A server on loopback cannot be reached from outside.
          return internal ? isNamed : !isOnlyHere
        })
        .map(({ address, cidr }) => ({
          name,
          address,
          prefix: Number(cidr?.split('/')[1] ?? 24),
          ip6: ip6.slice(0, 4),
        }))
    })
  }
}
