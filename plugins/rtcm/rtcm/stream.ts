import { isMsm, isReferencePoint, referencePoint, referenceTypes } from 'rtk-base/gnss'
import { type Event, type EventSource, guarded, type PluginContext } from 'rtk-base/plugin'
import {
  type Ecef,
  type GateReason,
  neighbourCheck,
  procedureStatus,
  type Receiver,
  type RtcmClient,
  type RtcmEpoch,
  type RtcmFrame,
  type RtcmItem,
  type RtcmStream,
  type RtcmSubscriber,
  type RtcmSubscription,
  reception,
  station,
} from 'rtk-base/services'
import { type Antenna, atPhaseCentre, defineAntenna } from './antenna.js'
import { EpochGrouper } from './epochs.js'
import { Flow } from './flow.js'
import { Gate } from './gate.js'
import { HeldConditions, isProvided } from './held.js'
import { History } from './history.js'
import { nominal_s, StationMessages } from './station-messages.js'
import { RtcmStatistics } from './statistics.js'
import { Subscribers } from './subscribers.js'

/** Messages that a rover needs before observations; the newest of each type is kept (1006 replaces 1005). */

/** Keeps the newest frame of each type; a 1006 replaces an earlier 1005 and vice versa. */
function keepNewest(frames: Map<number, RtcmFrame>, frame: RtcmFrame): void {
  if (frame.type === 1005) frames.delete(1006)
  if (frame.type === 1006) frames.delete(1005)
  frames.set(frame.type, frame)
}

function inOrder(frames: ReadonlyMap<number, RtcmFrame>): RtcmFrame[] {
  return [...frames.values()].sort((a, b) => a.type - b.type)
}

/** The hot path: receiver → statistics → gate → epochs and subscribers. */
export class GatedStream implements RtcmStream {
  readonly gate: Gate
  readonly onEpoch: Event<RtcmEpoch>
  readonly onState: Event<{ open: boolean; reason: GateReason | undefined }>
  readonly onFlow: Event<void>
  readonly input: Flow
  readonly #output: Flow
  readonly #ctx: PluginContext
  readonly #epochEvent: EventSource<RtcmEpoch>
  readonly #stateEvent: EventSource<{ open: boolean; reason: GateReason | undefined }>
  #receiver: Receiver | undefined
  readonly #subscribers: Subscribers
  readonly #epochs: EpochGrouper
  readonly #statistics = new RtcmStatistics()
  readonly #history: History
  readonly #antenna: () => Antenna
  readonly #messages: StationMessages
  /** The receiver's newest reference messages, sent or not. */
  readonly #heard = new Map<number, RtcmFrame>()
  /** The reference messages sent since the gate opened. */
  readonly #reference = new Map<number, RtcmFrame>()
  /** The station's own newest antenna messages. */
  #own: readonly RtcmFrame[] = []
  readonly #held: HeldConditions

  constructor(ctx: PluginContext, queue_bytes: number) {
    this.#ctx = ctx
    this.#epochEvent = ctx.event()
    this.#stateEvent = ctx.event()
    this.onEpoch = this.#epochEvent.on
    this.onState = this.#stateEvent.on
    const flowEvent = ctx.event<void>()
    this.onFlow = flowEvent.on
    this.#antenna = defineAntenna(ctx, () => this.#antennaChanged())
    this.#messages = new StationMessages({
      antenna: () => (this.gate.isPhaseCentre ? atPhaseCentre(this.#antenna()) : this.#antenna()),
      identity: () => this.#receiver?.identity,
    })
    const after = (ms: number, fn: () => void) => ctx.timers.after(ms, fn)
    const flow = {
      after,
      now_ms: () => ctx.clock.monotonic(),
      interval_s: () => this.#receiver?.intervals_s?.observations,
      isListening: () => this.#receiver?.mode === 'listening',
      changed: () => flowEvent.emit(),
    }
    this.#held = new HeldConditions(ctx)
    this.input = new Flow(flow)
    this.#output = new Flow(flow)
    this.gate = new Gate({
      mode: () => this.#receiver?.mode ?? 'unknown',
      held: () => this.#held.update(),
      isJudged: () => isProvided(ctx, procedureStatus),
      after,
      text: ctx.text,
      changed: (state) => this.#gateChanged(state),
    })
    this.#history = new History(() => ctx.clock.monotonic())
    this.#epochs = new EpochGrouper(after, (epoch) => {
      this.#history.epoch(epoch)
      this.#epochEvent.emit(epoch)
    })
    this.#subscribers = new Subscribers({
      now: () => ctx.clock.monotonic(),
      queue_bytes,
      left: ({ via, name }) =>
        ctx.log.warn({ via, name }, 'a subscriber failed or its plugin stopped: it gets no more'),
    })
  }

  /** Frames come from here from now on. */
  async connect(receiver: Receiver): Promise<void> {
    const { on, services } = this.#ctx
    await this.#held.read()
    this.#receiver = receiver
    on(receiver.onRtcm, (frame) => this.push(frame), 'first')
    on(receiver.onState, () => {
      this.input.intervalChanged()
      this.#output.intervalChanged()
      this.gate.update()
    })
    this.input.begin()
    // Whether a plugin judges the reference.
    on(services.use(station).onPlugins, () => this.gate.update())
    services.watch(reception, (quality) => {
      this.gate.update()
      return quality && on(quality.onState, () => this.gate.update())
    })
    services.watch(neighbourCheck, (check) => {
      this.gate.update()
      return check && on(check.onChange, () => this.gate.update())
    })
  }

  /** One verified frame of the receiver. */
  push(frame: RtcmFrame): void {
    this.#pass(frame)
    // Rovers first: who hears that RTCM flows again must not hold it up.
    this.input.count(frame.type)
  }

  #pass(frame: RtcmFrame): void {
    const isReference = referenceTypes.includes(frame.type)
    const outgoing = isReference ? this.#messages.outgoing(frame) : frame
    this.#statistics.count(outgoing)
    if (isReference) keepNewest(this.#heard, frame)
    if (!this.gate.admit(frame)) return
    if (isReference) this.#sendReference(outgoing)
    // Observations belong to a position: a rover must get the position first, or it would use a wrong one.
    else if (this.#isAnnounced || !isMsm(frame.type) || !this.gate.announces) this.#send(frame)
  }

  /** The station's antenna messages follow the position. */
  #sendReference(frame: RtcmFrame): void {
    keepNewest(this.#reference, frame)
    this.#send(frame)
    if (!isReferencePoint(frame.type)) return
    const own = this.#messages.after(frame)
    if (own.length > 0) this.#own = own
    for (const message of own) {
      this.#statistics.note(message)
      keepNewest(this.#reference, message)
      this.#send(message)
    }
  }

  /** The antenna parameters changed: the earlier messages are discarded, and the position is sent again with the new ones. */
  #antennaChanged(): void {
    for (const message of this.#own)
      if (this.#reference.get(message.type) === message) this.#reference.delete(message.type)
    this.#own = []
    this.#messages.restart()
    const position = this.#heard.get(1005) ?? this.#heard.get(1006)
    if (position && this.#isAnnounced) this.#sendReference(this.#messages.outgoing(position))
  }

  /** The reference position was sent since the gate opened. */
  get #isAnnounced(): boolean {
    return this.#reference.has(1005) || this.#reference.has(1006)
  }

  #send(frame: RtcmFrame): void {
    if (!isMsm(frame.type)) this.#history.frame(frame)
    this.#subscribers.push(frame, this.#epochs.sequence)
    this.#epochs.push(frame)
    this.#output.count(frame.type)
  }

  /** The gate opened: the receiver's earlier reference messages are sent at once if they fit. */
  #announce(): void {
    for (const frame of inOrder(this.#heard)) {
      if (this.gate.fits(frame)) this.#sendReference(this.#messages.outgoing(frame))
    }
  }

  get open(): boolean {
    return this.gate.open
  }

  get reason(): GateReason | undefined {
    return this.gate.reason
  }

  get flows(): boolean | undefined {
    return this.#output.flows
  }

  get flowLimit_s(): number {
    return this.#output.limit_ms / 1000
  }

  get station(): { id: number; arp: Ecef } | undefined {
    const frame = this.#reference.get(1005) ?? this.#reference.get(1006)
    const point = frame && referencePoint(frame.bytes)
    return point && { id: point.stationId, arp: point.arp }
  }

  reference(): readonly RtcmFrame[] {
    return inOrder(this.#reference)
  }

  get sequence(): number {
    return this.#history.sequence
  }

  recent(): readonly RtcmItem[] {
    return this.#history.items()
  }

  subscribe(subscriber: RtcmSubscriber): RtcmSubscription {
    const take = guarded((frame: RtcmFrame) => subscriber.take(frame))
    return this.#subscribers.add({ ...subscriber, take }, this.open ? this.reference() : [], this.#epochs.sequence)
  }

  get outputs(): number {
    return this.#subscribers.count
  }

  get rovers(): number {
    return this.#subscribers.rovers
  }

  list(client: RtcmClient): Pick<RtcmSubscription, 'touch' | 'close'> {
    return this.#subscribers.list(client)
  }

  get received(): number {
    return this.#statistics.received
  }

  /** Continues the count of the previous instance. */
  resumeCount(received: number): void {
    this.#statistics.received = received
  }

  /** `gnss.rtcm.antenna` of the document. */
  antenna(): Antenna {
    return this.#antenna()
  }

  /** `gnss.rtcm` of the document. */
  block() {
    return {
      msgs: this.#statistics.list(this.#ctx.clock.monotonic()).map((row) => {
        const nominal = nominal_s(row.id, this.#receiver ?? {})
        return { ...row, ...(nominal !== undefined && { nominal }) }
      }),
      stat: { recvd: this.#statistics.received, corrupt: this.#receiver?.corruptRtcm ?? 0 },
      subscribers: this.#subscribers.block(),
    }
  }

  #gateChanged({ open, wasOpen, reason }: { open: boolean; wasOpen: boolean; reason: GateReason | undefined }): void {
    const { log, status } = this.#ctx
    status(reason ? `closed: ${reason.text}` : '')
    if (reason) log[wasOpen ? 'warn' : 'debug'](`no RTCM goes out: ${reason.text}`)
    else log.info('RTCM goes out')
    if (open) this.#output.begin()
    else {
      this.#output.end()
      // Frames gathered under a reference that is no longer trusted are not sent.
      this.#reference.clear()
      this.#messages.restart()
      this.#subscribers.clear()
      this.#epochs.reset()
      this.#history.clear()
    }
    if (open) this.#announce()
    this.#stateEvent.emit({ open, reason })
  }
}
