/** The receiver as the procedure uses it: what is asked of it, and what it tells, as events of the table. */
import { pause } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import {
  type HeldTarget,
  type Receiver,
  type ReceiverOutput,
  type ReceiverTarget,
  type RtcmFrame,
  receiverSettings,
  rtcmStream,
} from 'rtk-base/services'
import type { Reference } from '../reference/reference.js'
import { BaseWatch } from './base-watch.js'
import type { Event, State } from './table.js'

const attempts = 3
const retry_ms = 2000
/** A receiver that is away for longer than this has not only restarted. */
const restart_ms = 120_000

/** What a person chose for the output, as far as this receiver takes it. */
interface Chosen {
  readonly stationId: number
  readonly output: ReceiverOutput
}

export class ReceiverAdapter {
  /** The base that the receiver was configured to be, or is about to be. */
  readonly base: BaseWatch
  readonly #ctx: PluginContext
  readonly #receiver: Receiver
  /** The settings of its output that it takes. */
  readonly #can: ReadonlySet<string>
  readonly #tell: (event: Event) => void
  /** The newest question or configuration: results of an older one are dropped. */
  #job = 0
  /** The job whose configuration is on its way to the receiver, and since when. */
  #pending: { job: number; since_ms: number } | undefined
  #wasConfigured: boolean = false
  #chosen: Chosen

  /** @param tell results of `configure` */
  constructor(ctx: PluginContext, receiver: Receiver, tell: (event: Event) => void) {
    this.#ctx = ctx
    this.#receiver = receiver
    this.#can = receiver.can?.output ?? new Set()
    this.#tell = tell
    this.base = new BaseWatch(ctx.services.use(rtcmStream).input)
    this.#chosen = { stationId: receiver.stationId, output: this.#output({}) }
    this.#expect()
  }

  // ── what it tells ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** The receiver holds the configuration of the previous instance. */
  resume(): void {
    this.#wasConfigured = true
  }

  /** Compares the link and the configuration with those of the last call. */
  linkEvent(state: State): Event | undefined {
    const { configured, link } = this.#receiver
    const was = this.#wasConfigured
    this.#wasConfigured = configured
    // What becomes of a configuration comes as an event of its own.
    if (link !== 'up' && this.#mayRestart) return undefined
    if (link === 'offline') return state === 'offline' ? undefined : 'port gone'
    if (link === 'stalled') return state === 'stalled' ? undefined : 'receiver silent'
    if (state === 'offline' || state === 'stalled') return 'receiver heard'
    const isBusy = state === 'configure' || state === 'base'
    return was && !configured && !isBusy ? 'receiver restarted' : undefined
  }

  /** Compares what a person chose with what was chosen at the last call. */
  outputEvent(): Event | undefined {
    const before = this.#chosen
    this.#chosen = { stationId: this.#receiver.stationId, output: this.#output(before.output) }
    this.#expect()
    return changeOf(before, this.#chosen)
  }

  /** @param state of the procedure @returns the event caused by the frame */
  heard(frame: RtcmFrame, state: State): Event | undefined {
    if (state === 'fixed') return this.base.heard(frame, 'fixed')
    return state === 'accept' || state === 'verify' ? this.base.heard(frame, 'accept') : undefined
  }

  #expect(): void {
    const { intervals_s = this.base.expected.intervals_s } = this.#receiver
    this.base.expected = { stationId: this.#chosen.stationId, intervals_s }
  }

  /** @param before kept while the plugin that has the settings is reloaded */
  #output(before: ReceiverOutput): ReceiverOutput {
    const settings = this.#ctx.services.find(receiverSettings)
    if (!settings) return before
    return Object.fromEntries(Object.entries(settings.output ?? {}).filter(([name]) => this.#can.has(name)))
  }

  // ── what is asked of it ───────────────────────────────────────────────────────────────────────────────────────────

  /** The receiver may be away now: it restarts to take its configuration. */
  get #mayRestart(): boolean {
    if (this.#pending?.job !== this.#job || this.#receiver.can?.restarts !== true) return false
    return this.#ctx.clock.monotonic() - this.#pending.since_ms < restart_ms
  }

  /** The step is over: pending results are dropped. */
  cancel(): void {
    this.#job++
  }

  setRover(): void {
    void this.#configure({ mode: 'rover' })
  }

  /** Nothing happens without a target. */
  setBase(): void {
    if (this.base.target) void this.#configure(targetOf(this.base.target))
  }

  /** Retries a few times, then tells `configured` or `not accepted`. */
  async #configure(target: ReceiverTarget): Promise<void> {
    const job = ++this.#job
    for (let attempt = 1; attempt <= attempts; attempt++) {
      this.#pending = { job, since_ms: this.#ctx.clock.monotonic() }
      const trouble = await this.#attempt(target)
      if (job !== this.#job) return
      this.#pending = undefined
      if (trouble === undefined) {
        this.#tell('configured')
        return
      }
      this.base.rejected(trouble)
      const next = attempt < attempts ? 'it is tried again' : 'the procedure decides what follows'
      this.#ctx.log.warn({ attempt, mode: target.mode }, `the receiver could not be configured: ${trouble}; ${next}`)
      await pause(this.#ctx.timers, retry_ms)
      if (job !== this.#job) return
    }
    this.#tell('not accepted')
  }

  /**
   * Verifies the base while the procedure continues, and rewrites it if other software changed it.
   * @param isInUse asked when the receiver rejected it, which counts even after the step is over
   */
  async confirmBase(isInUse: () => boolean): Promise<void> {
    const { target } = this.base
    const trouble = target && (await this.#attempt(targetOf(target)))
    if (trouble === undefined || target !== this.base.target || !isInUse()) return
    this.base.rejected(trouble)
    this.#tell('not accepted')
  }

  /** Reads the mode that it holds. @param then not called after the step is over */
  async readMode(then: (held: HeldTarget) => void): Promise<void> {
    const job = ++this.#job
    const held = await this.#receiver.readTarget().catch(() => undefined)
    if (job === this.#job) then(held)
  }

  /** @returns why it was rejected, for people */
  async #attempt(target: ReceiverTarget): Promise<string | undefined> {
    try {
      const { output } = this.#chosen
      await this.#receiver.configure(Object.keys(output).length > 0 ? { ...target, output } : target)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

const targetOf = ({ arp, acc_m }: Reference): ReceiverTarget => ({ mode: 'fixed', arp, acc_m })

/** A change of constellations makes the receiver start its signals afresh, which breaks the evidence that the antenna stayed in place. */
export function changeOf(before: Chosen, now: Chosen): Event | undefined {
  const differs = (name: keyof ReceiverOutput) =>
    JSON.stringify(before.output[name]) !== JSON.stringify(now.output[name])
  if (differs('constellations')) return 'constellations changed'
  const names = Object.keys({ ...before.output, ...now.output }) as (keyof ReceiverOutput)[]
  return before.stationId !== now.stationId || names.some(differs) ? 'output changed' : undefined
}
