/** The simulated router: how it is switched on and off, its state, and its controls (controls.ts). */

import { badValue, type NetworkPort } from 'rtk-base/plugin'
import type { SimulatedRouter } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { control } from './controls.js'
import { Device, type SeenCall } from './device/device.js'
import { parseFirmware } from './device/identity.js'
import { Power } from './device/power.js'
import { type Certificate, Listeners, type Ports, selfSigned } from './http/listeners.js'
import { answerRequest } from './http/web-server.js'
import { registrationOf } from './mobile/readings.js'
import { RouterOptions, type SimulatorClock } from './options.js'

type Partially<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Partially<T[K]> } : T
/** `ports`: where it listened before; left out: on free ones. */
export type SimulatedRouterOptions = Partially<RouterOptions> & {
  clock: SimulatorClock
  network: NetworkPort
  ports?: Ports
}

/** Fills in dependent options. @throws RTK_ERR_COMMAND_VALUE if they contradict each other */
function complete(given: Partially<RouterOptions>): RouterOptions {
  const options = Value.Default(RouterOptions, structuredClone(given)) as RouterOptions
  const [problem] = Value.Errors(RouterOptions, options)
  if (problem) throw badValue(`simulated-router${problem.instancePath}: ${problem.message}`)
  const { generation, transports } = options
  const legacy = generation === 'legacy'
  if (legacy && !transports.includes('ubus'))
    throw badValue('simulated-router: the legacy generation has no REST interface')
  const usual = legacy ? 'RUT9XX_R_00.06.09.5' : transports.includes('rest') ? 'RUTX_R_00.07.20' : 'RUTX_R_00.07.06'
  const firmware = options.firmware || usual
  if (parseFirmware(firmware).legacy !== legacy) {
    throw badValue(`simulated-router: firmware ${firmware} is not of the generation ${generation}`)
  }
  const user = options.credentials.user || (legacy ? 'root' : 'admin')
  return {
    ...options,
    firmware,
    transports: legacy ? ['ubus'] : transports,
    credentials: { ...options.credentials, user },
  }
}

export class SimulatedTeltonika implements SimulatedRouter {
  readonly #device: Device
  readonly #listeners: Listeners
  readonly #power: Power
  #certificate: Certificate | undefined

  private constructor(options: RouterOptions, clock: SimulatorClock, network: NetworkPort, ports?: Ports) {
    this.#device = new Device(options, clock, network)
    this.#certificate = options.https ? selfSigned(this.#device.identity.serial) : undefined
    this.#listeners = new Listeners((request, response) => answerRequest(this.#device, request, response), {
      network,
      certificate: this.#certificate,
      redirect: options.redirect,
      ...(ports && { ports }),
    })
    this.#power = new Power(this.#device, this.#listeners)
  }

  /** Listens on 127.0.0.1 when it resolves. @throws RTK_ERR_COMMAND_VALUE when the options contradict each other */
  static async start({ clock, network, ports, ...options }: SimulatedRouterOptions): Promise<SimulatedTeltonika> {
    const router = new SimulatedTeltonika(complete(options), clock, network, ports)
    await router.#listeners.open()
    return router
  }

  /** Plain HTTP; with `https` and `redirect` it answers 307 to `httpsUrl`. */
  get url(): string {
    return `http://127.0.0.1:${this.#listeners.port(false)}`
  }
  /** For the next one in its place. */
  get ports(): Ports {
    return { plain: this.#listeners.port(false), ...(this.#certificate && { tls: this.#listeners.port(true) }) }
  }
  /** Credentials on the label: a simulated router has no other way to make its password known. */
  get credentials(): { user: string; pswd: string } {
    return this.#device.options.credentials
  }
  /** `''` without https. */
  get httpsUrl(): string {
    return this.#certificate ? `https://127.0.0.1:${this.#listeners.port(true)}` : ''
  }
  /** SHA-256 of its certificate: hexadecimal, lower case; `''` without https. */
  get fingerprint256(): string {
    return this.#certificate?.fingerprint256 ?? ''
  }

  /** The router shuts down for good. */
  close(): Promise<void> {
    return this.#power.close()
  }

  /** Runs one line of the controls. @returns the state, or the text of `help`. @throws RTK_ERR_COMMAND_VALUE */
  command(line: string): string {
    const certificate = () => this.#renewCertificate()
    return control({ device: this.#device, power: this.#power, certificate }, line) ?? this.describe()
  }

  #renewCertificate(): void {
    if (this.#certificate === undefined) return
    this.#certificate = selfSigned(this.#device.identity.serial)
    this.#listeners.present(this.#certificate)
  }

  // State

  /** The router accepts connections. */
  get listening(): boolean {
    return this.#listeners.listening
  }
  /** Ends when its sockets are as its power is: after a restart it can be reached then. */
  get settled(): Promise<void> {
    return this.#power.settled
  }
  /** The mobile data connection stands. */
  get connected(): boolean {
    return this.#power.state === 'on' && this.#device.modem.connected
  }
  /** The last calls, without arguments. */
  get seen(): readonly SeenCall[] {
    return this.#device.seen
  }
  /** The most requests that were in flight at once. */
  get mostRequests(): number {
    return this.#device.requests.most
  }
  /** `most`: logins in flight at once. */
  get logins(): Readonly<{ most: number; failed: number; succeeded: number }> {
    return this.#device.logins
  }
  /** An address is blocked. */
  get blocked(): boolean {
    return this.#device.loginBlock.blocked.length > 0
  }
  get firmware(): string {
    return this.#device.firmware.version
  }
  get identity() {
    return this.#device.identity
  }
  /** A committed value, e.g. `network`, `mob1s1a1`, `apn`; `''` when there is none. */
  configured(config: string, section: string, option: string): string {
    return this.#device.uci.text(config, section, option)
  }

  describe(): string {
    const { firmware, modem, loginBlock, sessions, tokens, uptime_s, faults, ubusOn, restOn } = this.#device
    const { operator, status, technology } = registrationOf(modem)
    const transports = [ubusOn ? 'ubus' : '', restOn ? 'REST' : '', this.#certificate ? 'https' : ''].filter(Boolean)
    const network = modem.online ? status.toLowerCase() : 'modem off'
    const parts = [
      `${firmware.version} ${this.#power.state === 'on' ? `up ${uptime_s} s` : this.#power.state}`,
      transports.join('+') || 'no transport',
      `SIM ${modem.sim.state}`,
      operator ? `${network} ${operator.plmn} ${technology.netMode}` : modem.scanning ? 'scanning' : network,
      modem.rssi_dbm === undefined ? 'no signal' : `${modem.rssi_dbm} dBm`,
      this.connected ? 'connected' : 'disconnected',
      modem.uplink ? '' : 'no uplink',
      `${sessions.count + tokens.count} sessions`,
      `${loginBlock.attempts} of ${loginBlock.limit} failed logins${this.blocked ? ', blocked' : ''}`,
      ...faults.describe(),
    ]
    return parts.filter((part) => part !== '').join(', ')
  }
}
