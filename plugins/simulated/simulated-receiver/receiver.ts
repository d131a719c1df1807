/** The simulated ZED-F9P: UBX and corrections in; UBX, RTCM and NMEA out, by its configuration. */
import { type Frame, Framer } from 'rtk-base/gnss'
import type { Edges } from 'rtk-base/link'
import type { Ecef } from 'rtk-base/services'
import { type Epoch, lowest_deg, Model, SimulatedDevice } from 'rtk-base/simulation'
import { Type } from 'typebox'
import { CorrectionInput } from './corrections.js'
import { type CommandTarget, type ResetKind, runCommand } from './firmware/commands.js'
import { ConfigStore } from './firmware/config-store.js'
import { bootText, type Firmware, factorySettings, firmwareOf } from './firmware/factory.js'
import { type ReceiverOptions, ReceiverSnapshot } from './options.js'
import { EpochFrames } from './output/epoch-frames.js'
import { type ReceiverEpoch, ubxMessage } from './output/ubx-output.js'
import { Navigation } from './solution.js'
import { groupOf } from './ubx/config.js'
import { keyId, type PortName } from './ubx/keys.js'
import { messages, monVer, secUniqId, uniqIdPayload } from './ubx/messages.js'
import { frameOf, write } from './ubx/wire.js'

const times = { boot_ms: 300, latency_ms: 40 }
const tmodeKey = keyId('CFG-TMODE-MODE')
const measKey = keyId('CFG-RATE-MEAS')
const nav2Key = keyId('CFG-NAV2-OUT_ENABLED')
const interferenceKey = keyId('CFG-ITFM-ENABLE')
const navKey = keyId('CFG-RATE-NAV')
const signalGroup = groupOf(keyId('CFG-SIGNAL-GPS_ENA'))
/** Keys by the names of the simulated sky, which has no QZSS. */
const enableKeys = [
  ['GPS', keyId('CFG-SIGNAL-GPS_ENA')],
  ['GLONASS', keyId('CFG-SIGNAL-GLO_ENA')],
  ['Galileo', keyId('CFG-SIGNAL-GAL_ENA')],
  ['BeiDou', keyId('CFG-SIGNAL-BDS_ENA')],
] as const

/** Ports by the upper byte of a portId. */
const portNumbers: readonly PortName[] = ['I2C', 'UART1', 'UART2', 'USB', 'SPI']

export class SimulatedZed extends SimulatedDevice<ReceiverSnapshot> {
  readonly config: ConfigStore
  readonly navigation: Navigation
  readonly options: ReceiverOptions
  readonly shape = Type.Unsafe<ReceiverSnapshot>(ReceiverSnapshot)
  /** Every n-th ACK or NAK is lost; 0: none. */
  dropAcks = 0
  readonly #firmware: Firmware
  readonly #corrections = new CorrectionInput()
  readonly #framer: Framer
  readonly #frames: EpochFrames
  readonly #commands: CommandTarget
  #ttff_ms = 0
  #isTracking = true
  #epochCount = 0
  #now: ReceiverEpoch | undefined
  #txBytes = 0
  #acks = 0

  constructor(options: ReceiverOptions, edges: Edges) {
    const firmware = firmwareOf(options)
    super(new Model({ ...options, without: firmware.without }), edges, times)
    this.options = options
    this.#firmware = firmware
    this.config = new ConfigStore(firmware.lacks)
    const { satellites = Number.POSITIVE_INFINITY, mask_deg = lowest_deg } = options
    this.model.limit = { satellites, mask_deg }
    this.navigation = new Navigation(this.model, this.config)
    this.#framer = new Framer({ onFrame: (frame) => this.#frame(frame) })
    this.#frames = new EpochFrames(this, this.#corrections)
    this.#commands = {
      config: this.config,
      reply: (frame) => {
        if (this.#frames.enabled('UBX')) this.write(frame)
      },
      loseAck: () => this.dropAcks > 0 && ++this.#acks % this.dropAcks === 0,
      configChanged: (keys) => this.#configChanged(keys),
      reset: (kind, cold) => this.#reset(kind, cold),
      poll: (cls, id) => this.#poll(cls, id),
    }
    this.config.preset(factorySettings(options))
  }

  snapshot(): ReceiverSnapshot {
    return {
      config: this.config.snapshot(),
      model: this.model.snapshot(),
      navigation: this.navigation.state,
      bootedAt_ms: this.bootedAt_ms,
      ttff_ms: this.#ttff_ms,
    }
  }

  restore({ config, model, navigation, bootedAt_ms, ttff_ms }: ReceiverSnapshot): void {
    this.config.restore(config)
    this.model.restore(model)
    this.navigation.state = navigation
    this.bootedAt_ms = bootedAt_ms
    this.#ttff_ms = ttff_ms
  }

  get baud(): number | undefined {
    const { wiring } = this.options
    return wiring === 'UART1' || wiring === 'UART2' ? this.config.get(keyId(`CFG-${wiring}-BAUDRATE`)) : undefined
  }

  /** Where the bases of this world truly are, by station ID. */
  get bases(): Map<number, Ecef> {
    return this.#corrections.bases
  }

  /** RAM is lost. */
  protected load(cold: boolean): void {
    this.config.restart()
    this.navigation.restart(cold)
    this.#corrections.forget()
    this.#isTracking = true
    this.#ttff_ms = 0
    this.#epochCount = 0
    this.#now = undefined
  }

  protected override greet(): void {
    if (this.#frames.enabled('NMEA')) this.write(Buffer.concat(bootText))
  }

  // ── commands and corrections ──────────────────────────────────────────────────────────────────────────────────────

  protected heard(bytes: Uint8Array): void {
    this.#framer.push(bytes, this.edges.clock.monotonic())
  }

  #frame(frame: Frame): void {
    if (frame.kind === 'ubx') runCommand(this.#commands, frame.cls, frame.id, frame.bytes.subarray(6, -2))
    else if (frame.kind === 'rtcm') {
      const isListening = this.#isTracking && this.navigation.mode === 0
      this.#corrections.hear(frame.bytes, frame.type, frame.arrival_ms, isListening)
    }
  }

  /** A key is written by another program, through another port. */
  set(key: number, value: number): void {
    this.#configChanged(this.config.change(key, value))
  }

  #configChanged(keys: ReadonlySet<number>): void {
    if (keys.has(tmodeKey)) this.navigation.modeChanged()
    if ([...keys].some((key) => groupOf(key) === signalGroup)) this.#reset('gnss-restart', false)
    if (keys.has(measKey) || keys.has(navKey)) this.schedule()
  }

  #reset(kind: ResetKind, cold: boolean): void {
    if (kind === 'restart') {
      this.reset(cold)
      return
    }
    this.#isTracking = kind !== 'gnss-stop'
    this.navigation.restart(cold)
    this.navigation.modeChanged()
    this.#ttff_ms = 0
  }

  #poll(cls: number, id: number): Uint8Array | undefined {
    const isOf = ([ofCls, ofId]: readonly [number, number]) => cls === ofCls && id === ofId
    if (isOf(monVer)) return frameOf(monVer, this.#firmware.version)
    if (isOf(secUniqId)) return frameOf(secUniqId, uniqIdPayload(this.options.uniqueId))
    if (isOf(messages['MON-COMMS'].is)) return this.#comms()
    return this.#now && ubxMessage(cls, id, this.#now)
  }

  #comms(): Uint8Array {
    const own = this.options.wiring
    return write(
      messages['MON-COMMS'],
      {},
      this.#firmware.ports.map((portId) => {
        const isOwn = portNumbers[portId >> 8] === own
        return { portId, txBytes: isOwn ? this.#txBytes : 0, rxBytes: isOwn ? this.received.bytes : 0 }
      }),
    )
  }

  // ── epochs ────────────────────────────────────────────────────────────────────────────────────────────────────────

  protected override get period_ms(): number {
    return Math.max(25, this.config.get(measKey) * Math.max(1, this.config.get(navKey)))
  }

  protected get without(): readonly string[] {
    const off = enableKeys.filter(([, key]) => this.config.get(key) === 0).map(([name]) => name)
    return [...this.#firmware.without, ...off]
  }

  protected override get isTracking(): boolean {
    return this.#isTracking
  }

  protected measured(epoch: Epoch, dt_s: number): void {
    const solution = this.navigation.solve(epoch, dt_s, this.#corrections.state(this.edges.clock.monotonic()))
    if (solution.fixType > 0 && this.#ttff_ms === 0) this.#ttff_ms = this.uptime_ms
    this.#now = {
      epoch,
      solution,
      survey: this.navigation.survey,
      msss_ms: this.uptime_ms,
      ttff_ms: this.#ttff_ms,
      geoidSeparation_m: this.options.geoidSeparation_m,
      nav2: this.config.get(nav2Key) === 1,
      antenna: this.model.antenna,
      jam_db: this.model.jam_db,
      watchesInterference: this.config.get(interferenceKey) === 1,
      spoofing: this.faults.spoofing,
    }
    this.#epochCount++
    this.write(Buffer.concat(this.#frames.of(this.#now, this.#epochCount)))
  }

  protected override write(bytes: Uint8Array): boolean {
    const isSent = super.write(bytes)
    if (isSent) this.#txBytes += bytes.length
    return isSent
  }
}
