import type { PluginContext } from 'rtk-base/plugin'
import { fitnesses, type Verdict } from 'rtk-base/schemas'
import { device, procedureStatus, receiver, reception, rtcmStream, station } from 'rtk-base/services'
import { Steady } from './steady.js'
import { type Facts, factsOf, isFew, isHeldAsSpoofed, isJammed, isSpoofed, type Judgement, judge } from './verdict.js'

/** Figures that raise no event, such as the number of satellites, are looked at so often. */
const look_ms = 2_000
/** A link that is down for less is no fault. */
const brief_ms = 60_000

const steadySatellites = () => new Steady(isFew, 30_000, 60_000)

/** The verdict as it stands, and since when. */
export class VerdictWatch {
  readonly #ctx: PluginContext
  readonly #changed: () => void
  readonly #isSending: () => boolean
  readonly #jamming = new Steady(isJammed, 5_000, 30_000)
  readonly #spoofing = new Steady(isSpoofed, 5_000, 60_000)
  #satellites = steadySatellites()
  #now: Judgement = { fitness: 'unfit', code: 'starting', why: 'the station starts', advice: 'wait up to 2 minutes' }
  #since_ms: number
  #since_utc_ms = 0
  #linkDown_ms: number | undefined

  /**
   * @param isSending whether RTCM goes out
   * @param changed the document has to be built again
   */
  constructor(ctx: PluginContext, isSending: () => boolean, changed: () => void) {
    this.#ctx = ctx
    this.#isSending = isSending
    this.#changed = changed
    this.#since_ms = ctx.clock.monotonic()
    ctx.metrics.gauge({
      name: 'fitness',
      help: 'Whether the base is fit to serve: 1 at the one that holds.',
      labels: ['fitness'],
      collect: (gauge) => {
        for (const fitness of fitnesses) gauge.set(fitness === this.#now.fitness ? 1 : 0, { fitness })
      },
    })
  }

  get verdict(): Verdict {
    const { clock } = this.#ctx
    const for_s = Math.max(0, Math.floor((clock.monotonic() - this.#since_ms) / 1000))
    return { ...this.#now, since: Math.floor(this.#since_utc_ms / 1000), for_s }
  }

  watch(): void {
    const { on, services, timers } = this.#ctx
    on(services.use(station).onDocument, () => this.look())
    timers.every(look_ms, () => this.look())
  }

  look(): void {
    const { clock, services } = this.#ctx
    const facts = this.#facts()
    if (facts.linkFailure === '') this.#linkDown_ms = undefined
    else this.#linkDown_ms ??= clock.monotonic()
    // Brokers restart, and mobile connections move: the link comes back within seconds.
    const isBrief = clock.monotonic() - (this.#linkDown_ms ?? 0) < brief_ms
    const next = judge(isBrief ? { ...facts, linkFailure: '' } : facts)
    const before = this.#now
    if (next.fitness !== before.fitness || next.code !== before.code) {
      this.#since_ms = clock.monotonic()
      this.#since_utc_ms = services.use(device).utc_ms()
    }
    // A station without a clock learns the time after its start.
    else if (this.#since_utc_ms === 0) this.#since_utc_ms = this.#sinceByNow_ms()
    this.#now = next
    if (next.why !== before.why || next.fitness !== before.fitness) this.#changed()
  }

  /** When the verdict began by the clock of now; 0 while there is none. */
  #sinceByNow_ms(): number {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    return utc_ms > 0 ? utc_ms - (this.#ctx.clock.monotonic() - this.#since_ms) : 0
  }

  /** Of now; what flickers counts when it lasts. */
  #facts(): Facts {
    const { clock, services } = this.#ctx
    const source = services.find(receiver)
    const received = services.find(reception)
    const facts = factsOf(services.use(station).document(), {
      status: services.find(procedureStatus)?.status ?? source?.link,
      isListening: source?.mode === 'listening',
      isHeldAsSpoofed: isHeldAsSpoofed(received),
      antenna: received?.antenna ?? 'unknown',
      jamming: received?.jamming ?? 'unknown',
      spoofing: received?.spoofing ?? 'unknown',
      slips_percent: 100 * (received?.slips ?? 0),
      satellitesUsed: received?.satellitesUsed ?? 0,
      // Not the service: while its plugin is reloaded it is there all the same.
      isJudged: services
        .use(station)
        .plugins()
        .some(({ provides }) => provides.includes(procedureStatus.id)),
      isSending: this.#isSending(),
      takers: services.find(rtcmStream)?.outputs ?? 0,
    })
    const now_ms = clock.monotonic()
    // A start begins with few, and an antenna that is off with none at once.
    if (!facts.isSending) this.#satellites = steadySatellites()
    return {
      ...facts,
      jamming: this.#jamming.see(facts.jamming, now_ms),
      spoofing: this.#spoofing.see(facts.spoofing, now_ms),
      satellitesUsed: facts.isSending ? this.#satellites.see(facts.satellitesUsed, now_ms) : facts.satellitesUsed,
    }
  }
}
