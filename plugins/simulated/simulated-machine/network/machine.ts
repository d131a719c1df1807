/** The simulated network of a machine: NetworkManager's answers, and external events. */
import { badValue, type Dispose, type EventSource, type PluginContext, unavailable } from 'rtk-base/plugin'
import type {
  AccessPointProfile,
  FixedAddress,
  Neighbour,
  Network,
  ScannedNetwork,
  StationProfile,
} from 'rtk-base/services'
import type { MachineOptions } from '../options.js'
import { EthernetPort } from './ethernet-port.js'
import { refused } from './failures.js'
import type { InterfaceHost, SimulatedInterface } from './interface.js'
import { Radio } from './radio.js'

type Edges = Pick<PluginContext, 'event' | 'signal' | 'timers'>

/** No answer of the daemon is waited for longer, as a client of the real one does it. */
const callLimit_ms = 4_000
const kinds = { ethernet: 'Ethernet', wifi: 'WiFi' }

export class SimulatedMachine implements Network {
  readonly all: readonly SimulatedInterface[]
  /** Calls take so long. */
  slow_ms = 0
  /** The daemon's error for every call; `''`: none. */
  refusal = ''
  readonly #timers: Edges['timers']
  readonly #options: MachineOptions
  readonly #changed: EventSource<void>
  readonly #ended: AbortSignal
  #isNoted = false
  #daemon: 'off' | 'starting' | 'on' = 'off'
  #start: Dispose = () => {}

  constructor(edges: Edges, options: MachineOptions) {
    this.#timers = edges.timers
    this.#options = options
    this.#changed = edges.event<void>()
    this.#ended = edges.signal
    const host: InterfaceHost = {
      options,
      after: (ms, fn) => edges.timers.after(ms, fn),
      changed: () => this.noteChange(),
    }
    const ports = options.ethernet.map((port, index) => new EthernetPort(port, index, host))
    this.all = [...ports, ...(options.radio ? [new Radio('wlan0', host)] : [])]
  }

  // ── what NetworkManager shows and does ────────────────────────────────────────────────────────────────────────────

  get ready(): boolean {
    return this.#daemon === 'on'
  }

  get failure(): string {
    if (this.ready) return ''
    return this.#daemon === 'starting'
      ? 'the simulated network daemon is starting'
      : 'the simulated network daemon is not running: sim-network=daemon,on starts it'
  }

  get interfaces() {
    return this.ready ? this.all.filter(({ present }) => present).map((one) => one.snapshot()) : []
  }

  get onChange() {
    return this.#changed.on
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    await this.#call()
    const port = this.port(name)
    if (!port.managed) throw this.#unmanaged(name)
    if (!enabled) {
      port.autoconnect = false
      if (port.profile !== '') port.drop(39)
      return
    }
    const isOn = port.autoconnect && port.profile !== ''
    port.autoconnect = true
    if (!isOn) port.reconsider()
  }

  async setAddress(name: string, address: FixedAddress | undefined): Promise<void> {
    await this.#call()
    const port = this.port(name)
    if (!port.managed) throw this.#unmanaged(name)
    port.setFixed(address)
  }

  async startAccessPoint(name: string, profile: AccessPointProfile): Promise<void> {
    await this.#call()
    const radio = this.#usable(name)
    if (!radio.canBeAp) throw refused(`${name}: the driver of the interface has no access point mode`)
    if (profile.password !== '' && profile.password.length < 8)
      throw refused(`${name}: 802-11-wireless-security.psk: property is invalid`)
    await radio.startAccessPoint(profile)
  }

  async join(name: string, profile: StationProfile): Promise<void> {
    await this.#call()
    await this.#usable(name).join(profile)
  }

  async disconnect(name: string): Promise<void> {
    await this.#call()
    const radio = this.radio(name)
    radio.autoconnect = false
    radio.forget()
    if (radio.profile !== '') radio.drop(39)
  }

  async scan(name: string, signal?: AbortSignal): Promise<ScannedNetwork[]> {
    await this.#call()
    const radio = this.#usable(name)
    if (!this.#options.scansAsAp && radio.snapshot().wifi?.mode === 'ap')
      throw refused(`${name}: scanning is not allowed while the interface is an access point`)
    await this.#pause(this.#options.scan_s * 1000, signal)
    return radio.scanned
  }

  async steer(name: string | undefined): Promise<void> {
    await this.#call()
    for (const one of this.all) one.preferred = one.name === name && one.state === 'connected'
    this.noteChange()
  }

  neighbours(name: string): readonly Neighbour[] {
    return this.all.find((one) => one.name === name && one.present)?.neighbourList ?? []
  }

  // ── what happens to it ────────────────────────────────────────────────────────────────────────────────────────────

  describe(): string {
    const faults = [
      this.slow_ms > 0 ? `answers take ${this.slow_ms / 1000} s` : '',
      this.refusal === '' ? '' : `refuses every call: ${this.refusal}`,
    ]
    return [`daemon ${this.#daemon}`, ...this.all.map((one) => one.describe), ...faults].filter(Boolean).join('; ')
  }

  /** After a restart it activates all automatic profiles, including those disconnected on request before. */
  daemon(isOn: boolean, within_s = this.#options.restart_s): void {
    void this.#start()
    this.#daemon = isOn ? 'starting' : 'off'
    this.noteChange()
    if (!isOn) return
    const ready = () => {
      this.#daemon = 'on'
      for (const one of this.all) {
        one.autoconnect = true
        one.reconsider()
      }
    }
    if (within_s === 0) ready()
    else this.#start = this.#timers.after(within_s * 1000, ready)
  }

  /** Several changes in one turn of the event loop are told once. */
  noteChange(): void {
    if (this.#isNoted) return
    this.#isNoted = true
    queueMicrotask(() => {
      this.#isNoted = false
      if (!this.#ended.aborted) this.#changed.emit()
    })
  }

  interface(name: string): SimulatedInterface {
    const one = this.all.find((other) => other.name === name)
    if (one) return one
    throw badValue(`sim-network: interfaces are ${this.all.map(({ name }) => name).join(', ')}, not '${name}'`)
  }

  /** @throws RTK_ERR_NETWORK */
  port(name: string): EthernetPort {
    const one = this.all.find((other) => other.name === name && other.present)
    if (one instanceof EthernetPort) return one
    throw this.#missing(name, 'ethernet')
  }

  /** @throws RTK_ERR_NETWORK */
  radio(name: string): Radio {
    const one = this.all.find((other) => other.name === name && other.present)
    if (one instanceof Radio) return one
    throw this.#missing(name, 'wifi')
  }

  #missing(name: string, kind: keyof typeof kinds) {
    return refused(`${name}: this machine has no such ${kinds[kind]} interface`, 'no interface')
  }

  #unmanaged(name: string) {
    return refused(`${name}: the network daemon is configured not to manage the interface`, 'no interface')
  }

  /** A radio that a profile can be activated on. */
  #usable(name: string): Radio {
    const radio = this.radio(name)
    if (!radio.managed) throw this.#unmanaged(name)
    if (!radio.available) throw refused(`${name}: the radio is switched off (rfkill)`, 'no carrier')
    return radio
  }

  /** One call of the daemon. */
  async #call(): Promise<void> {
    if (!this.ready) throw unavailable(this.failure)
    if (this.slow_ms > 0) await this.#pause(Math.min(this.slow_ms, callLimit_ms))
    if (!this.ready) throw unavailable(this.failure)
    if (this.slow_ms >= callLimit_ms)
      throw refused(`the network daemon did not answer within ${callLimit_ms / 1000} s`, 'timeout')
    if (this.refusal !== '') throw refused(this.refusal, 'not allowed')
  }

  #pause(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const end = this.#timers.after(ms, () => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      })
      const aborted = () => {
        void end()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', aborted, { once: true })
    })
  }
}
