/** Makes a base of the receiver, and reads its configuration: the only writer of the configuration. */
import { sameEcef } from 'rtk-base/gnss'
import { pause, type WantedSetup } from 'rtk-base/link'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Receiver, ReceiverTarget } from 'rtk-base/services'
import type { UbxDialog } from '../link/ubx-dialog.js'
import * as ubx from '../ubx/index.js'
import { type Applied, apply, NoAnswer, NotConfigured } from './apply.js'
import { type RateLine, raiseRate } from './baud.js'
import type { Firmware } from './firmware.js'
import { bytesPerSecond, lineLoad, maxLoad, neededRate } from './load.js'
import { type ConfigOptions, type Extras, planOf, type Step, shownSteps } from './plan.js'
import { targetOf, tmodeKeys } from './tmode.js'

const noExtras: Extras = { signals: false, orbits: false }

/** Required knowledge of the receiver before configuring it. */
export interface Known {
  port: ubx.PortName
  firmware: Firmware
}

const errorCode = 'receiver-config'
/** CFG-NAVHPG-DGNSSMODE: no whole ambiguities, or whole ones where possible. */
const dgnssMode = { key: ubx.keyId('CFG-NAVHPG-DGNSSMODE'), float: 2, fixed: 3 } as const
/** Time without whole ambiguities after which the receiver has forgotten the old ones. */
const float_ms = 10_000
const changedCode = 'receiver-changed'
/** The error of a change from outside ends this long after the last change. */
const changedShown_ms = 600_000

export class Configurator {
  readonly #ctx: PluginContext
  readonly #dialog: UbxDialog
  readonly #line: RateLine
  readonly #options: ConfigOptions
  readonly #correctionMaxAge_s: () => number
  /** Rates that the line did not carry. */
  readonly #badRates = new Set<number>()
  /** Names of keys that this receiver rejected: they are not asked for again until the next configuration. */
  #lacks: ReadonlySet<string> = new Set()
  /** The rejected keys that every known firmware has. */
  #unexpected: readonly string[] = []
  #endOfChanged: () => void = () => {}

  /** @param correctionMaxAge_s `gnss-recvrtcm-max-age`, which may change at any time */
  constructor(
    ctx: PluginContext,
    dialog: UbxDialog,
    line: RateLine,
    options: ConfigOptions,
    correctionMaxAge_s: () => number,
  ) {
    this.#ctx = ctx
    this.#dialog = dialog
    this.#line = line
    this.#options = options
    this.#correctionMaxAge_s = correctionMaxAge_s
  }

  /**
   * @param stillThere false once the link dropped or the receiver restarted: the written values are lost
   * @throws RTK_ERR_UNAVAILABLE with the reason, which is also in `base.state.errors`
   */
  async configure(
    wanted: WantedSetup,
    known: Known | undefined,
    stillThere: () => boolean,
  ): ReturnType<Receiver['configure']> {
    try {
      if (!known) throw new NotConfigured('the receiver does not answer, or does not report which of its ports this is')
      if (this.#options.raiseBaud) await this.#raise(this.#plan(wanted, known, noExtras), known.port)
      const steps = this.#fittingPlan(wanted, known)
      const applied = await apply(this.#dialog, this.#ctx.timers, steps)
      if (!stillThere()) throw new NotConfigured('the receiver restarted meanwhile')
      if (applied.written > 0)
        this.#ctx.log.info({ mode: wanted.target.mode, written: applied.written }, 'the receiver is configured')
      this.#lacks = new Set(applied.refused)
      this.#report(applied, this.#overload(steps, known))
      return { written: applied.written, refused: applied.refused }
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      this.#ctx.errors.while(errorCode, { reason: error.message }, { severity: 'silences' })
      throw unavailable(error.message)
    }
  }

  /**
   * Reads all configured keys again and sets back the ones that differ.
   * @param expected a difference is our own: a setting of the station changed
   * @returns why the receiver has to be configured again from the start; '': it need not
   */
  async verify(wanted: WantedSetup, known: Known, expected: boolean): Promise<string> {
    const steps = this.#fittingPlan(wanted, known)
      .map((step) => ({ ...step, pairs: step.pairs.filter(([key]) => !this.#lacks.has(ubx.keyName(key))) }))
      .filter(({ pairs }) => pairs.length > 0)
    try {
      const held = await this.read()
      if (held && !holds(held, wanted.target)) return 'its time mode was changed from outside'
      const { differences } = await apply(this.#dialog, this.#ctx.timers, steps)
      if (differences.length > 0 && !expected) this.#reportChange(differences)
      return ''
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      return error instanceof NoAnswer ? '' : error.message
    }
  }

  /** Names of optional keys that this receiver rejected, and that receivers of its kind have: it works without them. */
  get rejected(): readonly string[] {
    return this.#unexpected
  }

  /** The signals that the receiver is configured to track; undefined: it does not report them. */
  async expectedSignals(): Promise<ubx.ExpectedSignals | undefined> {
    const values = await this.#dialog.values([ubx.everySignalKey], 'ram')
    return values === undefined || values === 'refused' ? undefined : ubx.expectedSignals(values)
  }

  /** Enables the minimum for a status. @returns false without an answer */
  async show(port: ubx.PortName): Promise<boolean> {
    try {
      this.#report(await apply(this.#dialog, this.#ctx.timers, shownSteps(port)))
      return true
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      return false
    }
  }

  /** Makes the receiver give up whole ambiguities for some seconds. @throws RTK_ERR_UNAVAILABLE if the receiver does not accept that */
  async resetAmbiguities(): Promise<void> {
    await this.#searchMode(dgnssMode.float)
    await pause(this.#ctx.timers, float_ms)
    // A lost message is found when the configuration is read again.
    await this.#searchMode(dgnssMode.fixed)
  }

  async #searchMode(value: number): Promise<void> {
    const accepted = await this.#dialog.set([[dgnssMode.key, value]], ubx.layerBit.ram)
    if (!accepted) throw unavailable(`the receiver does not accept CFG-NAVHPG-DGNSSMODE ${value}`)
  }

  /** The mode and position that the receiver holds; undefined: no answer. */
  async read(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined> {
    const values = await this.#dialog.values(tmodeKeys, 'ram')
    return values === undefined || values === 'refused' ? undefined : targetOf(values)
  }

  /** The receiver rejects a station ID, as firmware before HPG 1.13 may, and always sends 0. */
  get lacksStationId(): boolean {
    return this.#lacks.has('CFG-RTCM-DF003_OUT')
  }

  #plan(wanted: WantedSetup, known: Known, extras: Extras): Step[] {
    return planOf({ ...known, wanted, options: this.#options, extras, correctionMaxAge_s: this.#correctionMaxAge_s() })
  }

  /** With RXM-SFRBX and NAV-SIG, unless that is too much for the line. */
  #fittingPlan(wanted: WantedSetup, known: Known): Step[] {
    for (const orbits of [true, false]) {
      const steps = this.#plan(wanted, known, { signals: true, orbits })
      if (this.#load(steps, known) < maxLoad) return steps
    }
    return this.#plan(wanted, known, noExtras)
  }

  /** Load of the line by a plan, 0 to 1 and beyond; 0 if it is not a UART. */
  #load(steps: readonly Step[], { port }: Known): number {
    const { baud } = this.#line
    const isSerial = baud > 0 && (port === 'UART1' || port === 'UART2')
    return isSerial ? lineLoad(bytesPerSecond(steps, port), baud) : 0
  }

  /** The text of the error if the receiver has to send more than the line carries; '': the line is fast enough. */
  #overload(steps: readonly Step[], known: Known): string {
    const load = this.#load(steps, known)
    if (load <= 1) return ''
    const { baud } = this.#line
    const needed = neededRate(bytesPerSecond(steps, known.port), baud)
    return `the line carries ${baud} baud, but the output of the receiver is ${Math.round(load * 100)} % of that, so messages are lost, observations too: ${needed} baud are needed, see the options baud and raiseBaud`
  }

  #reportChange(differences: readonly string[]): void {
    const { errors, timers } = this.#ctx
    const shown =
      differences.slice(0, 3).join('; ') + (differences.length > 3 ? `; ${differences.length - 3} more` : '')
    errors.while(changedCode, { changes: shown }, { severity: 'silences' })
    this.#endOfChanged()
    const end = timers.after(changedShown_ms, () => void errors.while(changedCode, false))
    this.#endOfChanged = () => void end()
  }

  #report({ refused, unexpected }: Applied, overload = ''): void {
    const { log, errors } = this.#ctx
    this.#unexpected = unexpected
    if (refused.length > 0) log.warn({ refused }, 'the receiver rejects these keys; it works without them')
    const tooMuch = overload !== '' && { reason: overload, _configured: true }
    errors.while(errorCode, tooMuch, { severity: 'silences' })
  }

  async #raise(steps: readonly Step[], port: ubx.PortName): Promise<void> {
    const { baud } = this.#line
    if (baud === 0 || (port !== 'UART1' && port !== 'UART2')) return
    const wanted = neededRate(bytesPerSecond(steps, port), baud)
    if (wanted === baud || this.#badRates.has(wanted)) return
    const change = await raiseRate(this.#dialog, this.#line, this.#ctx.timers, port, wanted)
    if (change === 'raised') {
      this.#ctx.log.info({ baud: wanted }, 'the line is faster now')
      return
    }
    this.#badRates.add(wanted)
    if (change === 'lost') throw new NotConfigured(`the receiver is silent since its rate was changed to ${wanted}`)
    this.#ctx.log.warn({ baud, wanted }, 'the line does not support the required rate; the rate is unchanged')
  }
}

function holds(held: ReceiverTarget | { mode: 'survey-in' }, target: ReceiverTarget): boolean {
  if (held.mode !== 'fixed' || target.mode !== 'fixed') return held.mode === target.mode
  return sameEcef(held.arp, target.arp)
}
