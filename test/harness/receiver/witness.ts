/** Hears everything that a receiver says over its service, and notes what no receiver may say. */
import { crc24q, messageNumber, referencePoint } from '../../../runtime/lib/gnss/index.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../runtime/plugin.js'
import {
  integrity,
  procedureStatus,
  type Receiver,
  type ReceiverFix,
  type ReceiverReport,
  type Reception,
  type RtcmFrame,
  type RtcmStream,
  receiver as receiverToken,
  reception,
  rtcmStream,
} from '../../../schemas/services.js'

/** An arrival time may be as old as that: frames wait for their epoch. */
const oldest_ms = 2_000
/** A change of state is told within that. */
const untold_ms = 1_500
const descriptors: readonly number[] = [1008, 1033]

export class Witness {
  readonly definition: AnyPlugin
  /** What was heard so far, by report. */
  readonly reports = new Set<ReceiverReport>()
  readonly fixes: ReceiverFix[] = []
  /** From the receiver, before the gate. */
  readonly frames: RtcmFrame[] = []
  /** What left through the gate. */
  sent = 0
  /** The longest time in which nothing left. */
  longestGap_ms = 0
  #sentAt_ms = Number.POSITIVE_INFINITY
  /** `configured` at each `onState`. */
  readonly configured: boolean[] = []
  readonly problems = new Set<string>()
  #ctx: PluginContext | undefined
  #receiver: Receiver | undefined
  #stream: RtcmStream | undefined
  /** What the newest `onState` told, and since when it is otherwise. */
  #told = ''
  #otherSince_ms: number | undefined

  constructor() {
    this.definition = definePlugin({
      name: 'receiver-witness',
      version: '1.0.0',
      api: '^1.0.0',
      setup: () => {},
      start: (ctx) => this.#start(ctx),
    })
  }

  get receiver(): Receiver | undefined {
    return this.#receiver
  }

  get open(): boolean {
    return this.#stream?.open === true
  }

  /** Where the procedure of the station stands. */
  get status(): string {
    return this.#ctx?.services.find(procedureStatus)?.status ?? 'offline'
  }

  /** What the station makes of the receiver's reports. */
  get reception(): Reception | undefined {
    return this.#ctx?.services.find(reception)
  }

  /** Whether the station would notice by its carrier phases that the antenna moves. */
  get seesMoves(): boolean {
    return this.#ctx?.services.find(integrity)?.seesMoves === true
  }

  claims(report: ReceiverReport): boolean {
    return this.#receiver?.can?.reports.has(report) === true
  }

  #start(ctx: PluginContext): void {
    this.#ctx = ctx
    ctx.services.watch(rtcmStream, (stream) => {
      this.#stream = stream
      const take = () => {
        this.sent++
        const now_ms = ctx.clock.monotonic()
        this.longestGap_ms = Math.max(this.longestGap_ms, now_ms - this.#sentAt_ms)
        this.#sentAt_ms = now_ms
        return true
      }
      const subscription = stream?.subscribe({ via: 'test', name: 'witness', ip: '', shown: false, take })
      return () => subscription?.close()
    })
    ctx.services.watch(receiverToken, (source) => {
      this.#receiver = source
      this.#told = source ? described(source) : ''
      this.#otherSince_ms = undefined
      if (!source) return undefined
      const undo = this.#listen(ctx, source)
      return () => undo.forEach((dispose) => void dispose?.())
    })
  }

  #listen({ on }: PluginContext, source: Receiver) {
    const report = (name: ReceiverReport) => {
      this.reports.add(name)
      if (!this.claims(name)) this.problems.add(`sends ${name}, which is not in can.reports`)
    }
    return [
      on(source.onState, () => {
        this.#told = described(source)
        this.#otherSince_ms = undefined
        this.configured.push(source.configured)
      }),
      on(source.onFix, (fix) => this.#heardFix(fix)),
      on(source.onRtcm, (frame) => this.#heardFrame(source, frame)),
      source.onAntenna && on(source.onAntenna, () => report('antenna')),
      source.onCorrection && on(source.onCorrection, () => report('corrections')),
      source.onInterference && on(source.onInterference, () => report('interference')),
      source.onResiduals && on(source.onResiduals, () => report('residuals')),
      source.onSecondFix && on(source.onSecondFix, () => report('second-fix')),
      source.onSpoofing && on(source.onSpoofing, () => report('spoofing')),
      source.onSatellites &&
        on(source.onSatellites, ({ hasSignals, satellites }) => {
          report('satellites')
          if (hasSignals) report('signals')
          const isOff = satellites.some(
            ({ azimuth_deg = 0, elevation_deg = 0 }) =>
              !(azimuth_deg >= 0 && azimuth_deg <= 360 && Math.abs(elevation_deg) <= 90),
          )
          if (isOff) this.problems.add('sends a satellite with an azimuth or elevation that is no direction')
        }),
    ]
  }

  #heardFix(fix: ReceiverFix): void {
    this.fixes.push(fix)
    this.#heardAt('a fix', fix.arrival_ms)
    const { position, lat, lon, alt, acc_m } = fix
    if (fix.ok && fix.fix !== 'none' && ![...Object.values(position), lat, lon, alt].every(Number.isFinite))
      this.problems.add('sends a fix with a position that is not finite')
    if (fix.ok && acc_m === 0) this.problems.add('sends an accuracy of 0: Infinity where it is unknown')
  }

  #heardFrame(source: Receiver, { type, bytes, arrival_ms }: RtcmFrame): void {
    this.frames.push({ type, bytes, arrival_ms })
    this.#heardAt(`RTCM ${type}`, arrival_ms)
    if (crc24q(bytes, 0, bytes.length) !== 0) this.problems.add(`sends RTCM ${type} with a wrong CRC`)
    else if (messageNumber(bytes) !== type) this.problems.add(`sends RTCM ${messageNumber(bytes)} as ${type}`)
    if (descriptors.includes(type) && source.can?.antennaDescriptor !== true)
      this.problems.add(`sends ${type}, but can.antennaDescriptor is not true`)
    const id = referencePoint(bytes)?.stationId
    if (id !== undefined && source.can?.stationId && id !== source.stationId)
      this.problems.add(`sends station ID ${id}, which its stationId is not`)
  }

  #heardAt(what: string, arrival_ms: number): void {
    const age_ms = (this.#ctx?.clock.monotonic() ?? 0) - arrival_ms
    if (!(age_ms >= 0 && age_ms <= oldest_ms))
      this.problems.add(`sends ${what} with an arrival_ms that is not a time of now by ctx.clock.monotonic()`)
  }

  /** To be called often: a change has to be told soon. */
  look(): void {
    const [source, now_ms] = [this.#receiver, this.#ctx?.clock.monotonic() ?? 0]
    if (!source || described(source) === this.#told) this.#otherSince_ms = undefined
    else this.#otherSince_ms ??= now_ms
    if (now_ms - (this.#otherSince_ms ?? now_ms) > untold_ms && source)
      this.problems.add(`changes without onState: ${this.#told} → ${described(source)}`)
  }
}

const described = ({ link, mode, configured, identity }: Receiver) =>
  [link, mode, `configured ${configured}`, ...Object.values(identity)].filter((word) => word !== '').join(' ')
