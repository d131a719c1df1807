import { withStandingError } from 'rtk-base/link'
import type { Caller, PluginContext } from 'rtk-base/plugin'
import type { StaAuth, StaInfo } from 'rtk-base/schemas'
import {
  mqttLink,
  type Network,
  type NetworkInterface,
  type Radio,
  type RadioInterface,
  type RadioLink,
  type ScannedNetwork,
} from 'rtk-base/services'
import { Value } from 'typebox/value'
import { type Parameters, SsidSchema } from './parameters.js'

const look_ms = 10_000

interface Readings {
  readonly link: RadioLink
  readonly radio: RadioInterface
  readonly silence_ms: number
}

/** The uplink: configuration and driver state. */
export class Uplink {
  readonly #ctx: PluginContext
  readonly #parameters: Parameters
  readonly #changed: () => void
  #radio: Radio | undefined
  #network: Network | undefined
  #readings: Readings | undefined
  #auth: { readonly bssid: string; readonly value: StaAuth } | undefined

  constructor(ctx: PluginContext, parameters: Parameters, changed: () => void) {
    this.#ctx = ctx
    this.#parameters = parameters
    this.#changed = changed
  }

  start(radio: Radio, network: Network): void {
    this.#radio = radio
    this.#network = network
    this.#ctx.on(radio.onChange, () => this.#follow())
    this.#ctx.on(network.onChange, this.#changed)
    this.#ctx.timers.every(look_ms, () => this.#read())
    this.apply()
    this.#show()
  }

  apply(): void {
    this.#radio?.setStation(this.#parameters.profile())
    this.#changed()
  }

  /** The plugin is removed. */
  end(): void {
    this.#radio?.setStation(undefined)
  }

  get isUp(): boolean {
    return this.#radio?.station.state === 'up'
  }

  /** The caller uses this uplink, and it runs with the current settings. */
  reaches({ source, address }: Caller): boolean {
    if (!this.isUp) return false
    if (source === 'mqtt') return this.#ctx.services.find(mqttLink)?.via === 'sta'
    const { ip4 = [], ip6 = [] } = this.#interface ?? {}
    return source === 'http' && [...ip4, ...ip6].some((own) => own.address === address)
  }

  /** Undefined without station mode: the block is left out then. */
  block(): StaInfo | undefined {
    const profile = this.#parameters.profile()
    if (!profile) return undefined
    const one = this.#interface
    const joined = this.isUp ? one : undefined
    const { link, radio, silence_ms = 0 } = (joined && this.#readings) || {}
    const bssid = joined?.wifi?.bssid ?? ''
    return {
      mac: one?.mac ?? '',
      ssid: profile.ssid,
      bssid,
      auth: this.#auth?.bssid === bssid && bssid !== '' ? this.#auth.value : guessedAuth(profile.password),
      ip4: joined?.ip4[0]?.address ?? '',
      ip6: joined?.ip6.map(({ address }) => address).slice(0, 16) ?? [],
      inactive_time: Math.round(silence_ms / 1000),
      channel: joined?.wifi?.channel ?? 0,
      channel2: radio ? secondChannel(radio) : 0,
      bandwidth: radio?.width_mhz ?? 0,
      rssi: link?.rssi_dbm ?? 0,
    }
  }

  get #interface(): NetworkInterface | undefined {
    const name = this.#radio?.station.name
    return this.#network?.interfaces.find((one) => one.name === name)
  }

  #follow(): void {
    this.#show()
    this.#changed()
    if (this.isUp) void this.#read()
    else this.#readings = undefined
  }

  async #read(): Promise<void> {
    const radio = this.#radio
    if (!radio || !this.isUp) return
    const { tools, station } = radio
    const isRead = await withStandingError(this.#ctx, 'sta-facts', async () => {
      const link = await tools.link(station.name)
      const own = await tools.interface(station.name)
      const silence_ms = await tools.silence_ms(station.name)
      this.#readings = link && { link, radio: own, silence_ms }
    })
    if (this.#ctx.signal.aborted) return
    if (!isRead) this.#readings = undefined
    await this.#readAuth(radio)
    this.#changed()
  }

  /** How the joined network authenticates is seen in a scan only. */
  async #readAuth(radio: Radio): Promise<void> {
    const bssid = this.#interface?.wifi?.bssid ?? ''
    if (bssid === '' || this.#auth?.bssid === bssid) return
    const networks = await radio.scan(this.#ctx.signal).catch(() => [])
    const value = networks.find((one) => one.bssid === bssid)?.auth
    // Where no scan shows it the guess stays, and is not asked for again until another access point is joined.
    this.#auth = { bssid, value: value ?? guessedAuth(this.#parameters.password.get()) }
  }

  #show(): void {
    const { state = 'absent', text = '' } = this.#radio?.station ?? {}
    const ssid = this.#parameters.ssid.get()
    if (ssid === '') this.#ctx.status('sta-ssid is empty: no station mode')
    else this.#ctx.status(`${ssid}: ${state}${text === '' ? '' : ` (${text})`}`)
  }
}

const guessedAuth = (password: string): StaAuth => (password === '' ? 'open' : 'wpa2-psk')

/** The other half of a 40 MHz network: four channels above or below. */
function secondChannel({ width_mhz, centre_mhz, frequency_mhz, channel }: RadioInterface): number {
  if (width_mhz !== 40 || centre_mhz === 0) return 0
  return channel + (centre_mhz > frequency_mhz ? 4 : -4)
}

const mostLines = 64

/** One line a network, strongest first: signal, channel, how it authenticates, name. A network of several access points is one line. */
export function scanText(networks: readonly ScannedNetwork[]): string {
  const strongest = strongestOf(networks)
  if (strongest.length === 0) return 'no network is in reach'
  return strongest
    .map(
      ({ ssid, rssi, channel, auth }) =>
        `${String(rssi).padStart(4)} dBm  channel ${String(channel).padEnd(3)}  ${auth.padEnd(8)}  ${ssid === '' ? '(hidden)' : printable(ssid)}`,
    )
    .join('\n')
}

/** Networks of a scan for a program. Names are untrusted: as they are on the air. */
export const scanList = (networks: readonly ScannedNetwork[]) =>
  strongestOf(networks).map(({ ssid, bssid, channel, rssi, auth }) => ({
    ...{ ssid, bssid, channel, signal_dbm: rssi, auth },
    canJoin: ssid !== '' && auth !== 'wep' && auth !== 'wpa-eap' && Value.Check(SsidSchema, ssid),
  }))

function strongestOf(networks: readonly ScannedNetwork[]): ScannedNetwork[] {
  const sorted = networks.toSorted((a, b) => b.rssi - a.rssi)
  const isFirst = ({ ssid, auth }: ScannedNetwork, index: number) =>
    ssid === '' || sorted.findIndex((one) => one.ssid === ssid && one.auth === auth) === index
  return sorted.filter(isFirst).slice(0, mostLines)
}

/** Names are untrusted: control characters and line breaks are shown as dots. */
const printable = (ssid: string) => ssid.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '·').slice(0, 32)
