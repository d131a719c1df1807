import { Mutex } from 'async-mutex'
import { withStandingError } from 'rtk-base/link'
import type { Caller, PluginContext } from 'rtk-base/plugin'
import type { AccessPointProfile, Network, Radio, RadioInterface } from 'rtk-base/services'
import { type DhcpFolders, DhcpServer } from './dhcp.js'
import type { Parameters } from './parameters.js'
import { RegulatoryDomain } from './regulatory.js'
import { ReverseGateway } from './reverse-gateway.js'
import { Stations } from './stations.js'

const poll_ms = 10_000

export interface AccessPointOptions extends DhcpFolders {
  /** IPv4 with prefix of the station on its own network. */
  readonly address: string
  /** Folder of the lease files. */
  readonly leases: string
}

/** State of the running access point, from the driver and wpa_supplicant. */
export interface Facts {
  readonly radio: RadioInterface | undefined
  /** 0: unknown, or not limited. */
  readonly maxStations: number
  readonly beacon_tu: number
}

/** Errors that mean nothing while the access point is not up. */
const whileUp = ['wap-stations', 'wap-inactive', 'wap-facts', 'wap-revgw', 'wap-txpwr']

const unknown: Facts = { radio: undefined, maxStations: 0, beacon_tu: 0 }

/** The access point: configuration, state, clients, DHCP and the reverse gateway. */
export class AccessPoint {
  readonly regulatory: RegulatoryDomain
  readonly stations: Stations
  readonly gateway: ReverseGateway
  readonly #ctx: PluginContext
  readonly #parameters: Parameters
  readonly #options: AccessPointOptions
  readonly #dhcp: DhcpServer
  readonly #changed: () => void
  readonly #turns = new Mutex()
  #radio: Radio | undefined
  #network: Network | undefined
  #devicePassword = ''
  #facts: Facts = unknown
  #starts = 0
  #isPowerSet = true
  /** Interface that was seen last. */
  #name = ''

  constructor(ctx: PluginContext, parameters: Parameters, options: AccessPointOptions, changed: () => void) {
    this.#ctx = ctx
    this.#parameters = parameters
    this.#options = options
    this.#changed = changed
    this.#dhcp = new DhcpServer(options)
    this.regulatory = new RegulatoryDomain(ctx, parameters)
    this.stations = new Stations(ctx, options.leases)
    this.gateway = new ReverseGateway(ctx)
  }

  get facts(): Facts {
    return this.#facts
  }
  get radio(): Radio | undefined {
    return this.#radio
  }
  /** The access point is up, with these settings. */
  get isUp(): boolean {
    return this.#radio?.accessPoint.state === 'up' && this.#parameters.enabled.get() === 1
  }
  get password(): string {
    return this.#parameters.password.get() || this.#devicePassword
  }
  /** The password is the device's generated one. */
  get hasDevicePassword(): boolean {
    return this.#parameters.password.get() === ''
  }
  get interfaceName(): string {
    return this.#radio?.accessPoint.name ?? ''
  }

  async start(radio: Radio, network: Network, devicePassword: string): Promise<void> {
    this.#devicePassword = devicePassword
    this.#radio = radio
    this.#network = network
    this.#ctx.on(radio.onChange, () => this.#follow())
    this.#ctx.timers.every(poll_ms, () => this.#poll())
    // Nothing of it is waited for: a radio that is missing or a daemon that is away must not keep the plugin from starting.
    void this.apply(new Set()).catch((error: Error) =>
      this.#ctx.log.warn({ err: error }, 'the access point is not up yet'),
    )
    this.#show()
  }

  /**
   * Applies the parameters. @param changed the changed ones; empty: at the start
   * @throws RTK_ERR_NETWORK if the machine or the daemon rejects it
   */
  apply(changed: ReadonlySet<string>): Promise<void> {
    return this.#turns
      .runExclusive(async () => {
        const radio = this.#radio
        if (!radio) return
        const { country, channel, enabled, maxStations, txPower } = this.#parameters
        // A change has 10 s: only the affected parts are applied.
        const touches = ({ name }: { name: string }) => changed.size === 0 || changed.has(name)
        if (touches(country) || touches(channel)) await this.#applyCountry(radio, changed.size > 0)
        if (enabled.get() === 0) {
          await radio.setAccessPoint(undefined)
          return
        }
        const isLimited = touches(maxStations) && (await this.#limitStations(radio))
        const { starts } = radio.accessPoint
        await radio.setAccessPoint(this.#profile())
        const isRestarted = radio.accessPoint.starts !== starts
        if (isLimited && !isRestarted && this.isUp) await radio.restartAccessPoint()
        if (this.isUp && changed.has(txPower.name)) await this.#setTxPower(radio)
      })
      .finally(() => {
        this.#changed()
        void this.#poll()
      })
  }

  /** Activates the profile again: clients are dropped for some seconds. */
  restart(): Promise<void> {
    return this.#turns.runExclusive(async () => {
      const radio = this.#radio as Radio
      await radio.restartAccessPoint()
      await this.#afterStart(radio)
    })
  }

  /** @returns what was done */
  restartFast(): Promise<string> {
    return this.#turns.runExclusive(async () => {
      const radio = this.#radio as Radio
      const channel = this.regulatory.channel()
      try {
        const who = await radio.tools.announceChannel(this.interfaceName, channel)
        await this.#setTxPower(radio)
        await this.#readAll(radio)
        return `${who} announced channel ${channel} to the clients of the access point: they stay`
      } catch (error) {
        await radio.restartAccessPoint()
        await this.#afterStart(radio)
        return `the access point was started again and its clients were dropped for some seconds, as ${(error as Error).message}`
      }
    })
  }

  reloadDhcp(): Promise<void> {
    return this.#turns.runExclusive(() => this.#dhcp.reload(this.#radio as Radio, this.interfaceName))
  }

  /** Own IPv4 addresses on the access point; none while it is not up. */
  get addresses(): string[] {
    if (!this.isUp) return []
    const one = this.#network?.interfaces.find(({ name }) => name === this.interfaceName)
    return one?.wifi?.mode === 'ap' ? one.ip4.map(({ address }) => address) : []
  }

  /** The caller uses this access point, and it runs with the current settings. */
  reaches({ source, address = '' }: Caller): boolean {
    return source === 'http' && this.addresses.includes(address)
  }

  /** The plugin is removed. */
  async end(): Promise<void> {
    const radio = this.#radio
    if (!radio) return
    await this.gateway.remove(radio)
    await this.#dhcp.removeConfiguration(radio).catch(() => {})
    await radio.setAccessPoint(undefined).catch(() => {})
  }

  /** Leaves the network unchanged, except the route through a client, which is no longer monitored. */
  async pause(): Promise<void> {
    if (this.#radio) await this.gateway.remove(this.#radio)
  }

  /** Rejected settings are reported at their source, and retried. */
  #applyAll(): void {
    this.apply(new Set()).catch((error: unknown) => {
      if (!this.#ctx.signal.aborted) this.#ctx.log.warn({ err: error }, 'the access point is not up yet')
    })
  }

  #profile(): AccessPointProfile {
    const { ssid } = this.#parameters
    return {
      ssid: ssid.get(),
      password: this.password,
      channel: this.regulatory.channel(),
      address: this.#options.address,
    }
  }

  async #applyCountry(radio: Radio, isAsked: boolean): Promise<void> {
    const wanted = this.#parameters.country.get()
    try {
      await this.regulatory.apply(radio)
      this.#ctx.errors.while('wap-country', false)
    } catch (error) {
      if (isAsked && wanted !== '' && radio.accessPoint.state !== 'absent') throw error
      if (wanted !== '') this.#ctx.errors.while('wap-country', { country: wanted, reason: (error as Error).message })
    }
    const refusal = isAsked ? this.regulatory.refusal(this.#parameters.channel.get()) : undefined
    if (refusal !== undefined) throw new Error(refusal)
  }

  /** wpa_supplicant reads the limit when the access point starts. @returns whether it took another one than it had */
  async #limitStations(radio: Radio): Promise<boolean> {
    const most = this.#parameters.maxStations.get()
    await withStandingError(this.#ctx, 'wap-dhcp', () => this.#dhcp.configure(radio, most))
    if (this.interfaceName === '') return false
    let isOther = false
    const limit = async () => {
      if ((await radio.tools.limits(this.interfaceName)).maxStations === most) return
      await radio.tools.setMaxStations(this.interfaceName, most)
      isOther = true
    }
    await withStandingError(this.#ctx, 'wap-max-sta', limit, { most_clients: most })
    return isOther
  }

  async #setTxPower(radio: Radio): Promise<void> {
    const wanted_dbm = this.#parameters.txPower.get()
    const apply = async () => {
      await radio.tools.setTxPower(this.interfaceName, wanted_dbm)
      const { txPower_dbm } = await radio.tools.interface(this.interfaceName)
      if (txPower_dbm > 0 && Math.abs(txPower_dbm - wanted_dbm) >= 1)
        throw new Error(
          `the driver transmits with ${txPower_dbm} dBm because of its own or the country's limits: set wap-txpwr to that, or check wifi-reg-cc`,
        )
    }
    this.#isPowerSet = await withStandingError(this.#ctx, 'wap-txpwr', apply, { wanted_dbm })
  }

  async #afterStart(radio: Radio): Promise<void> {
    this.#starts = radio.accessPoint.starts
    // wpa_supplicant was restarted and has forgotten the limit: no client is connected yet.
    if (await this.#limitStations(radio)) {
      await radio.restartAccessPoint()
      this.#starts = radio.accessPoint.starts
    }
    await this.#setTxPower(radio)
    await this.#readAll(radio)
    this.#changed()
  }

  /** The radio changed: another access point is up, or none. */
  async #follow(): Promise<void> {
    this.#show()
    this.#changed()
    const radio = this.#radio
    if (!radio) return
    const { name } = radio.accessPoint
    const isOther = name !== this.#name
    this.#name = name
    if (isOther && name !== '') this.#applyAll()
    await this.#turns.runExclusive(async () => {
      if (!this.isUp) {
        this.#facts = unknown
        this.stations.clear(radio)
        for (const code of whileUp) this.#ctx.errors.while(code, false)
        this.#isPowerSet = true
        await this.gateway.remove(radio)
      } else if (radio.accessPoint.starts !== this.#starts) await this.#afterStart(radio)
    })
    this.#changed()
  }

  /** Retries rejected settings, and reads the state. */
  async #poll(): Promise<void> {
    const radio = this.#radio
    if (!radio || !this.isUp) return
    await this.#turns.runExclusive(async () => {
      if (!this.#isPowerSet) await this.#setTxPower(radio)
      await this.#readAll(radio)
    })
  }

  async #readAll(radio: Radio): Promise<void> {
    if (!this.isUp) return
    const before = JSON.stringify(this.#facts)
    const { inactiveTime, gatewayMac, gatewayDns } = this.#parameters
    const mac = gatewayMac.get().toLowerCase()
    const changed = await this.stations.read(radio, inactiveTime.get())
    await this.gateway.follow(radio, { mac, dns: gatewayDns.get() }, this.stations.address(mac))
    await withStandingError(this.#ctx, 'wap-facts', async () => {
      this.#facts = { ...this.#facts, radio: await radio.tools.interface(this.interfaceName) }
      await this.regulatory.read(radio)
    })
    const { maxStations, beacon_tu } = await radio.tools
      .limits(this.interfaceName)
      .catch(() => ({ maxStations: 0, beacon_tu: 0 }))
    this.#facts = { ...this.#facts, maxStations, beacon_tu }
    if (changed || JSON.stringify(this.#facts) !== before) this.#changed()
  }

  #show(): void {
    const { state = 'absent', text = '', name = '' } = this.#radio?.accessPoint ?? {}
    this.#ctx.status(
      state === 'up' ? `${this.#parameters.ssid.get()} on ${name}` : text === '' ? state : `${state}: ${text}`,
    )
  }
}
