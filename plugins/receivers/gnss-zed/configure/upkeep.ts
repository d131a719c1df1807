/**
 * Keeps the receiver configured. Identifies the receiver at each new link, configures it on request, and notices
 * when it lost its configuration. One question or configuration at a time.
 */
import { Mutex } from 'async-mutex'
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, ReceiverFix, ReceiverMode, ReceiverTarget } from 'rtk-base/services'
import type { UbxDialog } from '../link/ubx-dialog.js'
import type { ExpectedSignals } from '../ubx/signals.js'
import type { Configurator, Known } from './configurator.js'
import { isBootText, RestartWatch } from './restart-watch.js'
import { whoIsThere } from './who.js'

export interface UpkeepDeps {
  log: PluginContext['log']
  dialog: UbxDialog
  configurator: Configurator
  now_ms(): number
  /** Milliseconds so far in which the event loop was blocked. */
  lost_ms(): number
  /** Nothing is ever written. */
  listening: boolean
  /** Whether something answers right now. */
  isUp(): boolean
  /** @throws RTK_ERR_UNAVAILABLE where nothing may or can be written */
  mayWrite(): void
  /** Mode or `configured` changed. */
  changed(): void
  /** The signals the receiver is configured to track. */
  expectSignals(signals: ExpectedSignals): void
}

/** How often what it holds is read again: any key may have been changed from outside. */
const verify_ms = 20_000
/** After a sign of a change at most this often. */
const suspect_ms = 2000

export class Upkeep {
  readonly #deps: UpkeepDeps
  readonly #watch = new RestartWatch()
  #mode: ReceiverMode
  #asking: boolean = false
  /** Undefined until it has answered on this link. */
  #known: Known | undefined
  /** Another one after whatever makes a receiver forget: a link that went, a restart. */
  #life: object = {}
  readonly #tasks = new Mutex()
  #lost_ms = 0
  #verifying: boolean = false
  #verifiedAt_ms = 0

  constructor(deps: UpkeepDeps) {
    this.#deps = deps
    this.#mode = deps.listening ? 'listening' : 'unknown'
  }

  get mode(): ReceiverMode {
    return this.#mode
  }

  /** It holds what it was configured to. */
  get configured(): boolean {
    return this.#watch.holds !== undefined
  }

  get sinceReset_ms(): number | undefined {
    return this.#watch.sinceReset_ms(this.#deps.now_ms())
  }

  // ── on request ────────────────────────────────────────────────────────────────────────────────────────────────────

  async configure(target: ReceiverTarget): ReturnType<Receiver['configure']> {
    this.#deps.mayWrite()
    return this.#tasks.runExclusive(async () => {
      this.#deps.mayWrite()
      if (!this.#known) await this.#ask()
      const life = this.#life
      try {
        const result = await this.#deps.configurator.configure(target, this.#known, () => life === this.#life)
        this.#configuredTo(target)
        // Missing signals are those of the new constellations, also before the configuration is read again.
        if (target.output?.constellations && life === this.#life) await this.#askSignals()
        return result
      } catch (error) {
        this.#configuredTo(undefined)
        throw error
      }
    })
  }

  async resetAmbiguities(): Promise<void> {
    this.#deps.mayWrite()
    await this.#tasks.runExclusive(() => this.#deps.configurator.resetAmbiguities())
  }

  read(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined> {
    return this.#tasks.runExclusive(() => this.#deps.configurator.read())
  }

  // ── what is seen of it ────────────────────────────────────────────────────────────────────────────────────────────

  linkUp(): void {
    this.#watch.expect(this.#deps.now_ms())
  }

  /** The port is closed: the receiver that answers next may be another one. */
  linkLost(): void {
    this.#known = undefined
    this.#life = {}
    this.#watch.configuredTo(undefined, this.#deps.now_ms())
    if (!this.#deps.listening) this.#setMode('unknown')
  }

  /** @param msss_ms its own clock */
  clock(msss_ms: number, now_ms: number): void {
    this.#forgot(this.#watch.status(msss_ms, now_ms))
  }

  epoch({ fix, arrival_ms }: ReceiverFix): void {
    if (this.#deps.listening || fix === 'none') return
    const mode = fix === 'time' ? 'fixed' : 'rover'
    const wrong = this.#watch.mode(mode, arrival_ms)
    this.#forgot(wrong)
    if (wrong !== '') this.#setMode(mode)
  }

  /** A restart was requested: its RAM is lost. */
  restarted(): void {
    this.#forgot('a restart was requested')
  }

  said(text: string): void {
    if (isBootText(text)) this.#forgot('it printed its boot banner')
  }

  /** Called a few times a second. @param epochAt_ms when the newest epoch came */
  tick(epochAt_ms: number): void {
    if (this.#deps.listening || !this.#deps.isUp()) return
    this.#excuse()
    const now_ms = this.#deps.now_ms()
    if (!this.#known) this.ask()
    else {
      this.#forgot(this.#watch.missing(epochAt_ms, now_ms))
      if (now_ms - this.#verifiedAt_ms >= verify_ms) this.#verify(false)
    }
  }

  /** It sent something it is not configured for: its configuration is read again at once. */
  suspect(): void {
    if (this.#deps.now_ms() - this.#verifiedAt_ms >= suspect_ms) this.#verify(false)
  }

  /** A setting changed: it is written. */
  settingsChanged(): void {
    this.#verify(true)
  }

  #verify(expected: boolean): void {
    const { listening, isUp, now_ms, log, configurator } = this.#deps
    if (listening || !isUp() || !this.configured || (this.#verifying && !expected)) return
    this.#verifying = true
    this.#verifiedAt_ms = now_ms()
    this.#tasks
      .runExclusive(async () => {
        const { holds } = this.#watch
        const life = this.#life
        if (!holds || !this.#known) return
        const wrong = await configurator.verify(holds, this.#known, expected)
        if (wrong === '') await this.#askSignals()
        if (life === this.#life) this.#forgot(wrong)
      })
      .catch((error: unknown) => log.error({ err: error }, 'reading the receiver again failed; it is read again later'))
      .finally(() => {
        this.#verifying = false
      })
  }

  /** Data received while the event loop was blocked is not read yet: its messages are expected from now on. */
  #excuse(): void {
    const lost_ms = this.#deps.lost_ms()
    if (lost_ms !== this.#lost_ms) this.#watch.expect(this.#deps.now_ms())
    this.#lost_ms = lost_ms
  }

  /** Identifies the receiver and enables the required messages, if writing is allowed. */
  ask(): void {
    if (this.#deps.listening || this.#asking) return
    this.#asking = true
    this.#tasks
      .runExclusive(() => this.#ask())
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'asking the receiver failed; it is asked again'))
      .finally(() => {
        this.#asking = false
      })
  }

  // ── how ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #ask(): Promise<void> {
    const life = this.#life
    const there = await whoIsThere(this.#deps.dialog)
    if (!there || life !== this.#life) return
    if (!there.port) this.#deps.log.warn('the receiver port in use could not be determined; asking again')
    else if (await this.#deps.configurator.show(there.port)) {
      if (life !== this.#life) return
      this.#known = { ...there, port: there.port }
      const { module, firmware } = there
      if (firmware.takenFor)
        this.#deps.log.warn({ module }, `this receiver is not known: it is configured like a ${firmware.takenFor}`)
      this.#watch.expect(this.#deps.now_ms())
      await this.#askSignals()
    }
  }

  async #askSignals(): Promise<void> {
    const signals = await this.#deps.configurator.expectedSignals()
    if (signals) this.#deps.expectSignals(signals)
  }

  #configuredTo(target: ReceiverTarget | undefined): void {
    const changed = this.configured || target !== undefined
    this.#watch.configuredTo(target, this.#deps.now_ms())
    this.#verifiedAt_ms = this.#deps.now_ms()
    if (target) this.#mode = target.mode
    if (changed) this.#deps.changed()
  }

  /** Its RAM is as its flash made it, or as someone else did. @param reason nothing happened without one */
  #forgot(reason: string | undefined): void {
    const { log, listening, changed, now_ms } = this.#deps
    if (!reason || listening) return
    const held = this.configured
    this.#life = {}
    this.#watch.configuredTo(undefined, now_ms())
    // A receiver that was not configured has lost nothing.
    log[held ? 'warn' : 'debug'](`the receiver restarted or was changed: ${reason}; it is set up again`)
    if (held) changed()
    this.ask()
  }

  #setMode(mode: ReceiverMode): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#deps.changed()
  }
}
