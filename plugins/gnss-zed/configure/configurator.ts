/** Makes a base of the receiver, and reads what it is: the one place that writes to its configuration. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Receiver, ReceiverTarget } from 'rtk-base/services'
import type { UbxDialog } from '../link/ubx-dialog.js'
import type { PortName } from '../ubx/index.js'
import { type Applied, apply, NotConfigured } from './apply.js'
import { type RateLine, raiseRate } from './baud.js'
import type { Firmware } from './firmware.js'
import { bytesPerSecond, neededRate } from './load.js'
import { type BaseSettings, planOf, type Step, shownSteps } from './plan.js'
import { targetOf, tmodeKeys } from './tmode.js'

export interface ConfiguratorOptions extends BaseSettings {
  raiseBaud: boolean
}

/** What must be known of the receiver before it can be configured. */
export interface Known {
  port: PortName
  firmware: Firmware
}

const errorCode = 'receiver-config'

export class Configurator {
  readonly #ctx: PluginContext
  readonly #dialog: UbxDialog
  readonly #line: RateLine
  readonly #options: ConfiguratorOptions
  /** Rates that this line did not carry. */
  readonly #badRates = new Set<number>()

  constructor(ctx: PluginContext, dialog: UbxDialog, line: RateLine, options: ConfiguratorOptions) {
    this.#ctx = ctx
    this.#dialog = dialog
    this.#line = line
    this.#options = options
  }

  /**
   * @param stillThere false once the link went or the receiver restarted: what was written is gone
   * @throws RTK_ERR_UNAVAILABLE with the reason, which then stands in `base.state.errors` too
   */
  async configure(
    target: ReceiverTarget,
    known: Known | undefined,
    stillThere: () => boolean,
  ): ReturnType<Receiver['configure']> {
    try {
      if (!known) throw new NotConfigured('the receiver does not answer, or not which of its ports this is')
      const steps = planOf({ ...known, target, settings: this.#options })
      if (this.#options.raiseBaud) await this.#raise(steps, known.port)
      const applied = await apply(this.#dialog, this.#ctx.timers, steps)
      if (!stillThere()) throw new NotConfigured('the receiver restarted meanwhile')
      if (applied.written > 0)
        this.#ctx.log.info({ mode: target.mode, written: applied.written }, 'the receiver is configured')
      this.#report(applied)
      return { written: applied.written, refused: applied.refused }
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      this.#ctx.errors.raise(errorCode, `${error.message}; nothing goes out until it is configured`)
      throw unavailable(error.message)
    }
  }

  /** Switches on what is needed to show anything of it. @returns false when it does not answer */
  async show(port: PortName): Promise<boolean> {
    try {
      this.#report(await apply(this.#dialog, this.#ctx.timers, shownSteps(port)))
      return true
    } catch (error) {
      if (!(error instanceof NotConfigured)) throw error
      return false
    }
  }

  /** The mode that it holds; undefined when it does not answer. */
  async read(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined> {
    const values = await this.#dialog.values(tmodeKeys, 'ram')
    return values === undefined || values === 'refused' ? undefined : targetOf(values)
  }

  #report({ refused, unexpected }: Applied): void {
    const { log, errors } = this.#ctx
    if (refused.length > 0) log.warn({ refused }, 'the receiver rejects these keys; it works without them')
    if (unexpected.length === 0) errors.clear(errorCode)
    else
      errors.raise(
        errorCode,
        `the receiver rejects ${unexpected.join(', ')}; it works without them, check its firmware`,
      )
  }

  async #raise(steps: readonly Step[], port: PortName): Promise<void> {
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
    this.#ctx.log.warn({ baud, wanted }, 'the line does not carry the rate that it needs; it stays as it is')
  }
}
