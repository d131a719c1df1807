import { pause } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { device, type RunEnd } from 'rtk-base/services'
import { Health } from './health.js'
import type { Installer } from './installer.js'
import type { GivenUp, Pending, UpdateMemory } from './memory.js'
import type { StationSigns } from './signs.js'

export const look_ms = 5_000
/** The supervisor's own limit may be shorter than that of the trial: as long as this plugin looks, it waits. */
const patience_ms = 120_000

export interface TrialDeps {
  /** The current one: its plugin may be loaded again. @throws RTK_ERR_UNAVAILABLE while it is not running */
  installer(): Installer
  memory: UpdateMemory
  signs: StationSigns
  hold_ms: number
  limit_ms: number
  /** Percent of the time that it has to be healthy; 100: confirmed. */
  progress(percent: number): void
}

/** The version that runs is on trial: it confirms itself when the station does its work again, or gives itself up. */
export class ImageTrial {
  readonly #ctx: PluginContext
  readonly #deps: TrialDeps
  #begun_ms: number
  #over = false

  /** @param begun_ms by the monotonic clock: a reload of this plugin does not begin it again */
  constructor(ctx: PluginContext, deps: TrialDeps, begun_ms = ctx.clock.monotonic()) {
    this.#ctx = ctx
    this.#deps = deps
    this.#begun_ms = begun_ms
  }

  get begun_ms(): number {
    return this.#begun_ms
  }

  get over(): boolean {
    return this.#over
  }

  async start(): Promise<void> {
    const { memory, hold_ms, limit_ms } = this.#deps
    const before = (await memory.pending())?.before ?? { rtcm: false, broker: false }
    const health = new Health(before, { clock: this.#ctx.clock, hold_ms, limit_ms, begun_ms: this.#begun_ms })
    const asked = [before.rtcm && 'RTCM flows', before.broker && 'the broker is connected'].filter(Boolean)
    this.#ctx.log.warn(`this version is on trial: it is kept when ${[...asked, 'its HTTP server answers'].join(', ')}`)
    this.#ctx.timers.every(look_ms, () => this.#look(health))
  }

  async #look(health: Health): Promise<void> {
    if (this.#over) return
    const { signs, hold_ms, progress } = this.#deps
    this.#ctx.services.use(device).extendStart(patience_ms)
    const found = await signs.now()
    // An operator gave it up meanwhile.
    if (this.#over) return
    const verdict = health.look(found)
    this.#ctx.log.debug({ ...found, verdict: verdict.kind }, 'looked at the version on trial')
    if (verdict.kind === 'wait') progress(Math.floor((100 * verdict.held_ms) / hold_ms))
    else if (verdict.kind === 'good') await this.#confirm()
    else await this.giveUp(verdict.text)
  }

  /** In this order: once the slot is good, a floor and keys that could not be stored are made up for at the next start. */
  async #confirm(): Promise<void> {
    const { installer, memory, progress } = this.#deps
    const { log, services } = this.#ctx
    const { version } = services.use(device)
    try {
      await installer().confirm()
    } catch (error) {
      log.error({ err: error }, `${version} cannot be confirmed yet: ${(error as Error).message}; it is tried again`)
      return
    }
    this.#over = true
    services.use(device).confirmed()
    progress(100)
    log.info(`${version} is confirmed: it runs from now on`)
    await this.settle()
    if (await memory.pending()) this.#ctx.timers.after(60_000, () => this.settle())
  }

  /** Applies a confirmed update. */
  async settle(): Promise<void> {
    const { memory } = this.#deps
    try {
      const pending = await memory.pending()
      if (pending) await memory.confirm(pending)
    } catch (error) {
      this.#ctx.log.error(
        { err: error },
        `the oldest version that is taken could not be stored: ${(error as Error).message}`,
      )
    }
  }

  /** The version before is started, after `wait_ms`. It is decided at once, and once. */
  async giveUp(text: string, wait_ms = 0): Promise<void> {
    if (this.#over) return
    this.#over = true
    if (wait_ms > 0) await pause(this.#ctx.timers, wait_ms)
    const { installer, memory } = this.#deps
    const { log } = this.#ctx
    log.error(`this version is given up: ${text}; the one before it is started`)
    // A failed write costs the reason, or two more starts counted by the launcher.
    for (const step of [() => memory.note(text), async () => installer().giveUp(), async () => installer().restart()]) {
      await step().catch((error) => log.error({ err: error }, (error as Error).message))
    }
  }
}

/**
 * Why an update that was installed does not run, for the operator.
 * @param tried the launcher has started it, or found it damaged
 */
export function endOf(pending: Pending | undefined, lastEnd: RunEnd | undefined, tried: boolean): GivenUp {
  const cause = causeOf(pending, lastEnd, tried)
  return { cause, ...(pending && { versions: { tried: pending.version, runs: pending.from } }) }
}

function causeOf(pending: Pending | undefined, lastEnd: RunEnd | undefined, tried: boolean): string {
  if (pending?.verdict) return pending.verdict
  if (!tried) return 'the service was ended before all of it was installed: send it again'
  // The previous version was stopped gracefully, so any other end belongs to the trial.
  if (lastEnd === undefined || lastEnd.how === 'stopped' || lastEnd.how === 'first') {
    return 'it did not come up: it ended, or hung, before it could record why'
  }
  const at = lastEnd.stack[0] ? ` (${lastEnd.stack[0].trim()})` : ''
  return `it did not stay up: ${lastEnd.text}${at}`
}
