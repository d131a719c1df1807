/**
 * The modem and the network around it. It needs no timer: each state is computed from a start time, so an idle modem costs
 * nothing.
 */
import type { RouterOptions, SimulatedSim } from '../options.js'
import {
  type Operator,
  operatorsAround,
  type RegistrationStatus,
  type SelectionMode,
  type Technology,
} from './operators.js'

/** How the mobile interface is configured. It is read when the interface starts. */
export interface Profile {
  apn: string
  auth: string
  user: string
  pswd: string
  /** The router takes the APN from its own table. */
  autoApn: boolean
  roaming: boolean
  mode: SelectionMode
  plmn: string
}

export interface Registration {
  status: RegistrationStatus
  operator: Operator | undefined
}

/** From the registration to the data connection. */
const attach_ms = 2_000
/** Data rate of a connection without users: keep-alives. */
const rate_Bps = { sent: 120, received: 260 }

export class Modem {
  readonly #options: RouterOptions
  readonly #now: () => number
  readonly #profileOf: () => Profile
  readonly operators: Operator[] = operatorsAround.map((operator) => ({ ...operator }))
  sim: SimulatedSim
  /** Undefined: nothing is received. */
  rssi_dbm: number | undefined = -57
  technology: Technology = 'LTE'
  temperature_dC: number | undefined = 385
  operatorControl = true
  /** The interface was taken down by hand. */
  dataOff = false
  /** The network hands data on to the Internet. */
  uplink = true
  /** The router's own table knows the APN of the SIM. */
  autoApnKnown = true
  selection: { mode: SelectionMode; plmn: string }
  #profile: Profile
  #upAt_ms: number
  #searchFrom_ms: number
  #scanUntil_ms = Number.NEGATIVE_INFINITY
  #bytes = { sent: 48_213, received: 152_644 }
  #countedAt_ms: number

  constructor(options: RouterOptions, now: () => number, profile: () => Profile) {
    this.#options = options
    this.#now = now
    this.#profileOf = profile
    this.sim = { ...options.sim }
    this.#profile = profile()
    this.selection = { mode: this.#profile.mode, plmn: this.#profile.plmn }
    // It has been on for long at the start.
    this.#upAt_ms = now() - options.uptime_s * 1000
    this.#searchFrom_ms = this.#upAt_ms
    this.#countedAt_ms = now()
  }

  /** The modem answers commands. */
  get online(): boolean {
    return this.#now() >= this.#upAt_ms
  }

  get scanning(): boolean {
    return this.online && this.#now() < this.#scanUntil_ms
  }

  get registration(): Registration {
    const none = (status: RegistrationStatus): Registration => ({ status, operator: undefined })
    if (!this.online || this.sim.state !== 'ready' || this.selection.mode === 'unregister') return none(0)
    if (this.scanning || this.rssi_dbm === undefined || this.#now() < this.#registersAt_ms) return none(2)
    const { mode, plmn } = this.selection
    if (mode !== 'auto') {
      const heard = this.operators.filter((operator) => operator.plmn === plmn)
      const allowed = this.#best(heard)
      if (allowed !== undefined) return this.#registered(allowed)
      if (mode === 'manual') return none(heard.length > 0 ? 3 : 2)
    }
    const any =
      this.#best(this.operators.filter(({ plmn: heard }) => this.#isHome(heard))) ?? this.#best(this.operators)
    return any ? this.#registered(any) : none(2)
  }

  get connected(): boolean {
    const { status } = this.registration
    const profile = this.#profile
    if (this.dataOff) return false
    if (status !== 1 && !(status === 5 && profile.roaming)) return false
    if (this.#now() < this.#registersAt_ms + attach_ms) return false
    if (profile.autoApn) return this.autoApnKnown
    const { apn, user, pswd } = this.sim
    if (apn.length > 0 && !apn.includes(profile.apn)) return false
    return user === '' || (profile.auth !== 'none' && profile.user === user && profile.pswd === pswd)
  }

  /** Technology of the current network: the configured one, if there are several. */
  get traffic(): { sent: number; received: number } {
    const seconds = (this.#now() - this.#countedAt_ms) / 1000
    this.#countedAt_ms = this.#now()
    if (this.connected) {
      this.#bytes.sent += Math.round(seconds * rate_Bps.sent)
      this.#bytes.received += Math.round(seconds * rate_Bps.received)
    }
    return { ...this.#bytes }
  }

  /** Power comes on, or the modem restarts. */
  start(delay_ms: number = this.#options.modemBoot_s * 1000): void {
    this.#upAt_ms = this.#now() + delay_ms
    this.#scanUntil_ms = Number.NEGATIVE_INFINITY
    this.reload()
  }

  /** The mobile interface restarts with its configuration: an unsaved selection is lost. */
  reload(): void {
    this.dataOff = false
    this.#profile = this.#profileOf()
    this.selection = { mode: this.#profile.mode, plmn: this.#profile.plmn }
    this.search()
  }

  select(mode: SelectionMode, plmn: string): void {
    this.selection = { mode, plmn }
    this.search()
  }

  /** The modem leaves the network and looks for one. */
  search(): void {
    void this.traffic
    this.#searchFrom_ms = Math.max(this.#now(), this.#upAt_ms)
  }

  /** The mobile connection is lost until the end of the scan, and then has to be made again. */
  beginScan(): void {
    void this.traffic
    this.#scanUntil_ms = this.#now() + this.#options.scan_s * 1000
    this.#searchFrom_ms = this.#scanUntil_ms
  }

  insert(sim: Partial<SimulatedSim>): void {
    this.sim = { ...this.sim, ...sim }
    this.search()
  }

  get #registersAt_ms(): number {
    return this.#searchFrom_ms + this.#options.register_s * 1000
  }

  #isHome(plmn: string): boolean {
    return this.sim.imsi.startsWith(plmn)
  }

  #best(operators: readonly Operator[]): Operator | undefined {
    const allowed = operators.filter(({ forbidden }) => !forbidden)
    return allowed.find(({ technology }) => technology === this.technology) ?? allowed[0]
  }

  #registered(operator: Operator): Registration {
    return { status: this.#isHome(operator.plmn) ? 1 : 5, operator }
  }
}
