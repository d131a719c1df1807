import type { Dispose, Event, EventSource, PluginContext } from 'rtk-base/plugin'
import { type BaseStateName, fitnesses, type MqttFailureCause, type Verdict } from 'rtk-base/schemas'
import {
  type BaseVerdict,
  device,
  firmwareInstaller,
  type Link,
  links,
  mqttLink,
  neighbourCheck,
  procedureStatus,
  receiver,
  reception,
  rtcmStream,
  station,
} from 'rtk-base/services'
import { Steady } from 'rtk-base/time'
import type { BaseState } from './base-state.js'
import { type Facts, isFew, type Judgement, judge } from './rules.js'

/** Metrics that raise no event, such as the number of satellites, are looked at so often. */
const look_ms = 2_000
/** A shorter outage of a link is not a fault: brokers restart, mobile connections roam, and retries follow. */
const brief_ms = 60_000

const steadySatellites = () => new Steady(isFew, 30_000, 60_000)

/** The verdict as it stands, and since when. */
export class VerdictWatch implements BaseVerdict {
  readonly onChange: BaseVerdict['onChange']
  readonly #ctx: PluginContext
  readonly #state: BaseState
  readonly #changed: EventSource<void>
  #satellites = steadySatellites()
  #now: Judgement = {
    ...{ fitness: 'unfit', code: 'starting', why: 'the station starts', advice: 'wait up to 2 minutes' },
    ...{ why_code: 'starting-station', values: {} },
  }
  #base: BaseStateName = 'starting'
  #since_ms: number
  #since_utc_ms = 0
  #linkDown_ms: number | undefined
  #settled: Dispose = () => {}

  constructor(ctx: PluginContext, state: BaseState) {
    this.#ctx = ctx
    this.#state = state
    this.#changed = ctx.event()
    this.onChange = this.#changed.on
    this.#since_ms = ctx.clock.monotonic()
    ctx.metrics.gauge({
      name: 'fitness',
      help: 'Whether the base is fit to serve: 1 for the current one.',
      labels: ['fitness'],
      collect: (gauge) => {
        for (const fitness of fitnesses) gauge.set(fitness === this.#now.fitness ? 1 : 0, { fitness })
      },
    })
  }

  get base(): BaseStateName {
    return this.#state.look()
  }

  get verdict(): Verdict {
    const { clock } = this.#ctx
    const for_s = Math.max(0, Math.floor((clock.monotonic() - this.#since_ms) / 1000))
    return { ...this.#now, since: Math.floor(this.#since_utc_ms / 1000), for_s }
  }

  watch(): void {
    const { on, services, timers } = this.#ctx
    const follow = (...events: (Event<unknown> | undefined)[]): Dispose => {
      this.#lookSettled()
      const undo = events.map((event) => event && on(event, () => this.#lookSettled()))
      return () => {
        for (const dispose of undo) void dispose?.()
      }
    }
    follow(services.use(device).onErrors)
    services.watch(procedureStatus, (procedure) => follow(procedure?.onState))
    services.watch(receiver, (source) => follow(source?.onState))
    services.watch(reception, (received) => follow(received?.onState))
    services.watch(rtcmStream, (stream) => follow(stream?.onFlow, stream?.onState))
    services.watch(firmwareInstaller, (installer) => follow(installer?.onState))
    services.watch(neighbourCheck, (check) => follow(check?.onChange))
    services.watch(links, (all) => follow(all?.onChange))
    timers.every(look_ms, () => this.look())
  }

  /** The gate, the status and the errors change one after the other: half of that would give the wrong advice. */
  #lookSettled(): void {
    void this.#settled()
    this.#settled = this.#ctx.timers.after(0, () => this.look())
  }

  look(): void {
    const { clock, services } = this.#ctx
    const facts = this.#facts()
    const next = judge(facts)
    const before = this.#now
    if (next.fitness !== before.fitness || next.code !== before.code) {
      this.#since_ms = clock.monotonic()
      this.#since_utc_ms = services.use(device).utc_ms()
    }
    // A station without a clock learns the time after its start.
    else if (this.#since_utc_ms === 0) this.#since_utc_ms = this.#sinceByNow_ms()
    const isSame = next.why === before.why && next.fitness === before.fitness && next.code === before.code
    this.#now = next
    if (isSame && facts.base === this.#base) return
    this.#base = facts.base
    this.#changed.emit()
  }

  /** When the verdict began by the clock of now; 0 while there is none. */
  #sinceByNow_ms(): number {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    return utc_ms > 0 ? utc_ms - (this.#ctx.clock.monotonic() - this.#since_ms) : 0
  }

  /** The current facts; intermittent conditions count once they last. */
  #facts(): Facts {
    const { clock, services } = this.#ctx
    const now_ms = clock.monotonic()
    const procedure = services.find(procedureStatus)
    const source = services.find(receiver)
    const received = services.find(reception)
    const base = this.#state.look()
    const { isSending } = this.#state
    // A start begins with few, and an antenna that is off with none at once.
    if (!isSending) this.#satellites = steadySatellites()
    const satellitesUsed = received?.satellitesUsed
    return {
      base,
      isSending,
      errors: services.use(device).errors(),
      status: procedure?.status ?? source?.link,
      asked: procedure?.asked,
      isListening: source?.mode === 'listening',
      antenna: received?.antenna ?? 'unknown',
      interfered: received?.interfered,
      spoofed: received?.spoofed,
      slips_percent: received?.slips === undefined ? undefined : 100 * received.slips,
      satellitesUsed: isSending ? this.#satellites.see(satellitesUsed, now_ms) : satellitesUsed,
      // Not the service: while its plugin is reloaded it is there all the same.
      isJudged: services
        .use(station)
        .plugins()
        .some(({ provides }) => provides.includes(procedureStatus.id)),
      reference: procedure?.chosen,
      neighbours: services.find(neighbourCheck),
      outputs: services.find(rtcmStream)?.outputs ?? 0,
      failed: failedOutputs(services.find(links)?.list ?? [], now_ms),
      linkFailure: this.#linkFailure(now_ms),
    }
  }

  #linkFailure(now_ms: number): MqttFailureCause {
    const link = this.#ctx.services.find(mqttLink)
    const cause = link?.state === 'down' ? (link.failure?.cause ?? '') : ''
    if (cause === '') this.#linkDown_ms = undefined
    else this.#linkDown_ms ??= now_ms
    return now_ms - (this.#linkDown_ms ?? 0) < brief_ms ? '' : cause
  }
}

/** The outputs that have been down for long. The broker has a rule of its own. */
export const failedOutputs = (all: readonly Link[], now_ms: number): readonly Link[] =>
  all.filter(
    ({ carries = 'out', since_ms, state }) =>
      carries === 'out' && (state === 'down' || state === 'refused') && now_ms - since_ms >= brief_ms,
  )
