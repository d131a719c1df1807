/** The simulated ZED-F9P: a byte stream in and out, a configuration, and one epoch after the other. */
import { Framer } from 'rtk-base/gnss'
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import type { Ecef } from 'rtk-base/services'
import { lowest_deg, Model } from 'rtk-base/simulation'
import { CorrectionInput } from './corrections.js'
import { type CommandTarget, type ResetKind, runCommand } from './firmware/commands.js'
import { ConfigStore } from './firmware/config-store.js'
import { bootText, type Firmware, factorySettings, firmwareOf } from './firmware/factory.js'
import type { Faults, ReceiverOptions, ReceiverSnapshot } from './options.js'
import { EpochFrames } from './output/epoch-frames.js'
import { type ReceiverEpoch, ubxMessage } from './output/ubx-output.js'
import { Navigation } from './solution.js'
import { groupOf } from './ubx/config.js'
import { keyId, type PortName } from './ubx/keys.js'
import { messages, monVer, secUniqId, uniqIdPayload } from './ubx/messages.js'
import { frameOf, write } from './ubx/wire.js'

/** Delay from an epoch to its first byte. */
const latency_ms = 40
const boot_ms = 300
/** Without a credible system clock the receiver still knows the time: it has satellites. */
const earliest_utc_ms = Date.UTC(2026, 0, 1)
const tmodeKey = keyId('CFG-TMODE-MODE')
const measKey = keyId('CFG-RATE-MEAS')
const nav2Key = keyId('CFG-NAV2-OUT_ENABLED')
const interferenceKey = keyId('CFG-ITFM-ENABLE')
const navKey = keyId('CFG-RATE-NAV')
const signalGroup = groupOf(keyId('CFG-SIGNAL-GPS_ENA'))
/** By the names of the simulated sky. QZSS is not in it. */
const enableKeys = [
  ['GPS', keyId('CFG-SIGNAL-GPS_ENA')],
  ['GLONASS', keyId('CFG-SIGNAL-GLO_ENA')],
  ['Galileo', keyId('CFG-SIGNAL-GAL_ENA')],
  ['BeiDou', keyId('CFG-SIGNAL-BDS_ENA')],
] as const

/** By the upper byte of a portId. */
const portNumbers: readonly PortName[] = ['I2C', 'UART1', 'UART2', 'USB', 'SPI']

export class SimulatedZed implements CommandTarget {
  readonly config: ConfigStore
  readonly model: Model
  readonly navigation: Navigation
  readonly faults: Faults = { silent: false, wrongReference_m: 0, corruptFrames: 0, dropAcks: 0, spoofing: 1 }
  readonly options: ReceiverOptions
  readonly #firmware: Firmware
  readonly #edges: Edges
  readonly #corrections = new CorrectionInput()
  readonly #framer: Framer
  readonly #frames: EpochFrames
  /** UTC of the receiver less the monotonic clock: a step of the system clock does not move the satellites. */
  readonly #utcOffset_ms: number
  #send: ((bytes: Uint8Array) => void) | undefined
  #bootedAt_ms: number
  #ttff_ms = 0
  #gnssOn: boolean = true
  #epochCount = 0
  #lastEpoch_ms: number | undefined
  #now: ReceiverEpoch | undefined
  #timer: Dispose = () => {}
  #txBytes = 0
  #rxBytes = 0
  #acks = 0

  constructor(options: ReceiverOptions, edges: Edges) {
    this.options = options
    this.#firmware = firmwareOf(options)
    this.#edges = edges
    this.config = new ConfigStore(this.#firmware.lacks)
    this.model = new Model({ ...options, without: this.#firmware.without })
    this.limit(options.satellites, options.mask_deg)
    this.navigation = new Navigation(this.model, this.config)
    this.#framer = new Framer({ onFrame: (frame) => this.#heard(frame) })
    this.#frames = new EpochFrames(this, this.#corrections)
    this.#utcOffset_ms = Math.max(edges.clock.now(), earliest_utc_ms) - edges.clock.monotonic()
    this.#bootedAt_ms = edges.clock.monotonic()
    this.config.preset(factorySettings(options))
  }

  snapshot(): ReceiverSnapshot {
    return {
      config: this.config.snapshot(),
      model: this.model.snapshot(),
      navigation: this.navigation.state,
      bootedAt_ms: this.#bootedAt_ms,
      ttff_ms: this.#ttff_ms,
    }
  }

  /** Continues from another instance, as if it had been powered all the time. */
  restore({ config, model, navigation, bootedAt_ms, ttff_ms }: ReceiverSnapshot): void {
    this.config.restore(config)
    this.model.restore(model)
    this.navigation.state = navigation
    this.#bootedAt_ms = bootedAt_ms
    this.#ttff_ms = ttff_ms
  }

  /** Switches power on. Epochs continue until `powerOff`, even without a listener. */
  powerOn(): void {
    void this.#timer()
    // After a snapshot it has been on all the time.
    const booting_ms = Math.max(0, this.#bootedAt_ms + boot_ms - this.#edges.clock.monotonic())
    this.#timer = this.#edges.timers.after(booting_ms, () => {
      if (booting_ms > 0 && this.#frames.enabled('NMEA')) this.#write(bootText)
      this.#schedule()
    })
  }

  powerOff(): void {
    void this.#timer()
    this.#timer = () => {}
    this.#lastEpoch_ms = undefined
  }

  /** The line rate of the receiver's port; undefined where a rate means nothing (USB). */
  get baud(): number | undefined {
    const { wiring } = this.options
    return wiring === 'UART1' || wiring === 'UART2' ? this.config.get(keyId(`CFG-${wiring}-BAUDRATE`)) : undefined
  }

  /** Where the bases of this world truly are, by station ID. */
  get bases(): Map<number, Ecef> {
    return this.#corrections.bases
  }

  /** Limits the received satellites; undefined: all. */
  limit(satellites: number | undefined, mask_deg: number | undefined): void {
    this.model.limit = { satellites: satellites ?? Number.POSITIVE_INFINITY, mask_deg: mask_deg ?? lowest_deg }
  }

  /** Bytes that the host sent since power came on. */
  get receivedBytes(): number {
    return this.#rxBytes
  }

  connect(send: ((bytes: Uint8Array) => void) | undefined): void {
    this.#send = send
  }

  /** Bytes from the host. */
  input(bytes: Uint8Array): void {
    if (this.faults.silent) return
    this.#rxBytes += bytes.length
    this.#framer.push(bytes, this.#edges.clock.monotonic())
  }

  /** Unexpected restart: RAM is lost. */
  restart(cold = false): void {
    this.powerOff()
    this.config.restart()
    this.navigation.restart(cold)
    this.#corrections.forget()
    this.#gnssOn = true
    this.#bootedAt_ms = this.#edges.clock.monotonic()
    this.#ttff_ms = 0
    this.#epochCount = 0
    this.#now = undefined
    this.powerOn()
  }

  loseAck(): boolean {
    const { dropAcks } = this.faults
    return dropAcks > 0 && ++this.#acks % dropAcks === 0
  }

  reply(frame: Uint8Array): void {
    if (this.#frames.enabled('UBX')) this.#write([frame])
  }

  /** Someone else writes a key, through another port. */
  set(key: number, value: number): void {
    this.configChanged(this.config.change(key, value))
  }

  configChanged(keys: ReadonlySet<number>): void {
    if (keys.has(tmodeKey)) this.navigation.modeChanged()
    if ([...keys].some((key) => groupOf(key) === signalGroup)) this.reset('gnss-restart', false)
    if (keys.has(measKey) || keys.has(navKey)) this.#schedule()
  }

  reset(kind: ResetKind, cold: boolean): void {
    if (kind === 'restart') {
      this.restart(cold)
      this.onRestart?.()
      return
    }
    this.#gnssOn = kind !== 'gnss-stop'
    this.navigation.restart(cold)
    this.navigation.modeChanged()
    this.#ttff_ms = 0
  }

  /** Set by its line: a USB device vanishes for a moment when it restarts. */
  onRestart: (() => void) | undefined

  poll(cls: number, id: number): Uint8Array | undefined {
    const isOf = ([ofCls, ofId]: readonly [number, number]) => cls === ofCls && id === ofId
    if (isOf(monVer)) return frameOf(monVer, this.#firmware.version)
    if (isOf(secUniqId)) return frameOf(secUniqId, uniqIdPayload(this.options.uniqueId))
    if (isOf(messages['MON-COMMS'].is)) return this.#comms()
    return this.#now && ubxMessage(cls, id, this.#now)
  }

  #heard(frame: Parameters<ConstructorParameters<typeof Framer>[0]['onFrame']>[0]): void {
    if (frame.kind === 'ubx') runCommand(this, frame.cls, frame.id, frame.bytes.subarray(6, -2))
    else if (frame.kind === 'rtcm') {
      const listening = this.#gnssOn && this.navigation.mode === 0
      this.#corrections.hear(frame.bytes, frame.type, frame.arrival_ms, listening)
    }
  }

  /** UTC as it knows it. */
  get utc_ms(): number {
    return this.#edges.clock.monotonic() + this.#utcOffset_ms
  }

  get #period_ms(): number {
    return Math.max(25, this.config.get(measKey) * Math.max(1, this.config.get(navKey)))
  }

  /** Epochs are at whole multiples of the rate. */
  #schedule(): void {
    void this.#timer()
    const period_ms = this.#period_ms
    const now = this.utc_ms
    // 1 ms of play, or rounding would make the same epoch come twice.
    const next = (Math.floor((now - latency_ms + 1) / period_ms) + 1) * period_ms
    this.#timer = this.#edges.timers.after(next + latency_ms - now, () => {
      this.#epoch(next)
      this.#schedule()
    })
  }

  #epoch(utc_ms: number): void {
    const dt_s = this.#lastEpoch_ms === undefined ? 1 : Math.max(0, utc_ms - this.#lastEpoch_ms) / 1000
    this.#lastEpoch_ms = utc_ms
    const off = enableKeys.filter(([, key]) => this.config.get(key) === 0).map(([name]) => name)
    this.model.without = new Set([...this.#firmware.without, ...off])
    const epoch = this.model.epoch(utc_ms, dt_s, this.#gnssOn)
    const now_ms = this.#edges.clock.monotonic()
    const solution = this.navigation.solve(epoch, dt_s, this.#corrections.state(now_ms))
    const msss_ms = now_ms - this.#bootedAt_ms
    if (solution.fixType > 0 && this.#ttff_ms === 0) this.#ttff_ms = msss_ms
    this.#now = {
      epoch,
      solution,
      survey: this.navigation.survey,
      msss_ms,
      ttff_ms: this.#ttff_ms,
      geoidSeparation_m: this.options.geoidSeparation_m,
      nav2: this.config.get(nav2Key) === 1,
      antenna: this.model.antenna,
      jam_db: this.model.jam_db,
      watchesInterference: this.config.get(interferenceKey) === 1,
      spoofing: this.faults.spoofing,
    }
    this.#epochCount++
    this.#write(this.#frames.of(this.#now, this.#epochCount))
  }

  #write(frames: readonly Uint8Array[]): void {
    if (frames.length === 0 || this.faults.silent || !this.#send) return
    const bytes = Buffer.concat(frames)
    this.#txBytes += bytes.length
    this.#send(bytes)
  }

  #comms(): Uint8Array {
    const own = this.options.wiring
    return write(
      messages['MON-COMMS'],
      {},
      this.#firmware.ports.map((portId) => {
        const isOwn = portNumbers[portId >> 8] === own
        return { portId, txBytes: isOwn ? this.#txBytes : 0, rxBytes: isOwn ? this.#rxBytes : 0 }
      }),
    )
  }
}
