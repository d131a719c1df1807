/** The router behind its web server: identity, storage and running programs. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { NetworkPort } from 'rtk-base/plugin'
import { Modem, type Profile } from '../mobile/modem.js'
import type { SelectionMode } from '../mobile/operators.js'
import type { RouterOptions, SimulatorClock } from '../options.js'
import { defaultConfig } from '../uci/defaults.js'
import { UciStore } from '../uci/store.js'
import { Faults } from './faults.js'
import { Files } from './files.js'
import { type Firmware, type Identity, identityOf, parseFirmware } from './identity.js'
import { type BlockSettings, LoginBlock, Sessions } from './logins.js'
import { Delays, PingReboot, type PowerAction } from './power.js'

/** One call as the router saw it, without its arguments: they may hold a password. */
export interface SeenCall {
  at_ms: number
  call: string
  /** ubus status, error code of the envelope, or HTTP status. */
  status: number
}
const mostSeen = 256
/** From the command to the end of all connections. */
const upgrade_ms = 3_000

const digest = (text: string) => createHash('sha256').update(text).digest()

export class Device {
  readonly options: RouterOptions
  readonly clock: SimulatorClock
  readonly network: NetworkPort
  readonly delays: Delays
  readonly faults = new Faults()
  readonly files: Files
  readonly uci: UciStore
  readonly sessions: Sessions
  readonly tokens: Sessions
  readonly loginBlock: LoginBlock
  readonly modem: Modem
  readonly pingReboot: PingReboot
  /** The last ones. */
  readonly seen: SeenCall[] = []
  credentials: { user: string; pswd: string }
  firmware: Firmware
  identity: Identity
  unit: number
  ubusOn: boolean
  restOn: boolean
  /** Seconds by which its clock is wrong. */
  timeShift_s = 0
  bootedAt_ms: number
  /** Requests and logins that are being answered now, and the most of them at once. */
  readonly requests = { now: 0, most: 0 }
  readonly logins = { now: 0, most: 0, failed: 0, succeeded: 0 }
  /** Set by the power switch: takes the router away and brings it back. */
  onPower: (action: PowerAction, away_s: number) => void = () => {}

  constructor(options: RouterOptions, clock: SimulatorClock, network: NetworkPort) {
    this.network = network
    this.options = options
    this.clock = clock
    const monotonic = () => clock.monotonic()
    this.delays = new Delays(clock)
    this.firmware = parseFirmware(options.firmware)
    this.unit = options.unit
    this.identity = identityOf(options.unit, this.firmware)
    this.credentials = { ...options.credentials }
    this.ubusOn = options.transports.includes('ubus')
    this.restOn = options.transports.includes('rest')
    this.uci = new UciStore(() => defaultConfig(this.identity, this.firmware, options.loginLimit))
    this.uci.onCommit = (config) => this.#committed(config)
    this.files = new Files(
      () => this.identity,
      () => this.firmware,
    )
    this.sessions = new Sessions(monotonic)
    this.tokens = new Sessions(monotonic)
    this.loginBlock = new LoginBlock(() => this.#blockSettings(), monotonic)
    this.bootedAt_ms = clock.monotonic() - options.uptime_s * 1000
    this.modem = new Modem(options, monotonic, () => this.#profile())
    this.pingReboot = new PingReboot(this)
  }

  get uptime_s(): number {
    return Math.floor((this.clock.monotonic() - this.bootedAt_ms) / 1000)
  }

  get time_s(): number {
    return Math.floor(this.clock.now() / 1000) + this.timeShift_s
  }

  /** Counts, and blocks: while the address is blocked the right password is wrong as well. */
  login(user: string, pswd: string, address: string): boolean {
    const right =
      timingSafeEqual(digest(user), digest(this.credentials.user)) &&
      timingSafeEqual(digest(pswd), digest(this.credentials.pswd))
    const granted = right && !this.loginBlock.blocks(address)
    if (granted) {
      this.logins.succeeded++
      this.loginBlock.unblock(address)
    } else {
      this.logins.failed++
      if (!right) this.loginBlock.failed(address)
    }
    return granted
  }

  saw(call: string, status: number): void {
    this.seen.push({ at_ms: this.clock.monotonic(), call, status })
    if (this.seen.length > mostSeen) this.seen.shift()
  }

  /** Clears volatile state. */
  powerLost(): void {
    this.delays.clear()
    this.sessions.clear()
    this.tokens.clear()
    this.files.clear()
    this.logins.now = 0
    this.requests.now = 0
  }

  booted(): void {
    this.bootedAt_ms = this.clock.monotonic()
    this.loginBlock.rebooted()
    this.modem.start()
    this.pingReboot.check()
  }

  factory(): void {
    this.uci.reset()
    this.loginBlock.unblock()
  }

  /** Keeps the configuration, unless it is one of the other generation. */
  install(version: string): void {
    const { legacy } = this.firmware
    this.firmware = parseFirmware(version)
    if (this.firmware.legacy !== legacy) this.factory()
  }

  /** Writes the image and restarts. @param keep the configuration stays */
  upgrade(version: string, keep: boolean): void {
    this.delays.after(upgrade_ms, () => {
      this.install(version)
      this.onPower(keep ? 'flash' : 'factory', this.options.flash_s)
    })
  }

  /** Replaces it by another router of the same model. */
  replace(): void {
    this.unit++
    this.identity = identityOf(this.unit, this.firmware)
    this.factory()
  }

  /** Where scripts of the router, not the RPC daemon, start the mobile connection again. */
  reloadNetwork(): void {
    this.modem.reload()
  }

  #committed(config: string): void {
    if (config === 'ping_reboot') this.pingReboot.check()
    // The mobile daemon of 7.x has triggers on these. Legacy waits for a reload of the network.
    if (!this.firmware.legacy && (config === 'network' || config === 'simcard' || config === 'operctl'))
      this.modem.reload()
  }

  #profile(): Profile {
    const { legacy } = this.firmware
    const [config, section] = legacy ? (['simcard', 'sim1'] as const) : (['network', 'mob1s1a1'] as const)
    const of = (option: string) => this.uci.text(config, section, option)
    const sim = (option: string) => this.uci.text('simcard', legacy ? 'sim1' : '@sim[0]', option)
    const mode = sim(legacy ? 'mode' : 'operator')
    return {
      apn: of('apn'),
      auth: of('auth'),
      user: of('username'),
      pswd: of('password'),
      autoApn: of('auto_apn') === '1',
      roaming: legacy ? of('roaming') !== '0' : of('deny_roaming') !== '1',
      mode: (['manual', 'manual-auto'].includes(mode) ? mode : 'auto') as SelectionMode,
      plmn: sim(legacy ? 'numeric' : 'opernum'),
    }
  }

  #blockSettings(): BlockSettings {
    const { legacy } = this.firmware
    const sections = legacy
      ? ([['logtrigger', '@rule[0]']] as const)
      : // Named from 7.11 on; an upgrade that keeps the settings keeps the old one.
        ([
          ['ip_blockd', 'ip_blockd'],
          ['ip_blockd', '@globals[0]'],
        ] as const)
    const of = (option: string) =>
      sections.map(([config, section]) => this.uci.text(config, section, option)).find((text) => text !== '')
    return {
      enabled: of('enabled') === '1',
      limit: Math.max(1, Number(of(legacy ? 'maxfail' : 'max_attempt_count')) || 10),
      rebootClear: of('reboot_clear') === '1',
      duration_ms: !legacy && of('enabled_time_based') === '1' ? this.options.block_s * 1000 : undefined,
    }
  }
}
