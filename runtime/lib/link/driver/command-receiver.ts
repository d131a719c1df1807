import type { BytePort } from '../../../../schemas/byte-port.js'
import type {
  ReceiverLink as LinkState,
  Receiver,
  ReceiverCapabilities,
  ReceiverFix,
  ReceiverIdentity,
} from '../../../../schemas/services/receiver.js'
import { type PluginContext, unavailable } from '../../../plugin.js'
import {
  type DriverOptions,
  isSame,
  modeOf,
  ReceiverDriver,
  type ReceiverFamily,
  type WantedSetup,
} from './receiver-driver.js'

/** The receiver's answer to a command: the values of an accepted one, or the reason of a refusal, for people. */
export type Answer = readonly string[] | string

/** Properties of a family of receivers with text commands. */
export interface CommandFamily extends Omit<ReceiverFamily, 'can' | 'tick_ms'> {
  /** A request that changes nothing and that every receiver of the family answers. Sent after 3 s of silence. */
  readonly question: Uint8Array
  readonly can: Omit<ReceiverCapabilities, 'output' | 'stationId' | 'fixedPosition' | 'ownSurvey'>
}

/** Which commands of a list a base cannot do without, and a check before each command. */
export interface SendOptions {
  readonly needed: RegExp
  /** Throws if the list must not be continued. */
  check(): void
}

const tries = 3
/** The receiver sends its position every second: without it its outputs are gone. */
const lost_ms = 10_000

/**
 * The driver of a receiver that is configured by text commands, each of which it answers. Its verification reads the
 * mode. A subclass adds the form of the commands and of the answers, and the commands that make the receiver a base.
 * @typeParam M - the type of messages that can be answers to commands
 */
export abstract class CommandReceiver<M = string> extends ReceiverDriver<M> {
  readonly #question: Uint8Array
  #position_ms = 0

  constructor(ctx: PluginContext, port: BytePort, options: DriverOptions, { question, ...family }: CommandFamily) {
    super(ctx, port, options, { ...family, tick_ms: 1_000, can: { ...family.can, ownSurvey: false } })
    this.#question = question
  }

  protected abstract encode(command: string): Uint8Array
  /** @returns undefined: the message is no answer to this command */
  protected abstract answerTo(command: string, message: M): Answer | undefined
  /** Requests the identity. Undefined: no answer. */
  protected abstract whoIsIt(): Promise<Partial<ReceiverIdentity> | undefined>
  /**
   * Writes settings that may restart the receiver, before `setUp`. @returns refused settings that a base does not
   * need
   */
  protected abstract prepare(wanted: WantedSetup, identity: ReceiverIdentity): Promise<string[]>
  /**
   * Writes outputs and mode. The mode is read back afterwards.
   * @param check throws if the receiver or the target changed meanwhile; call it before each command
   * @throws RTK_ERR_UNAVAILABLE
   */
  protected abstract setUp(wanted: WantedSetup, check: () => void): ReturnType<Receiver['configure']>

  // ── commands and answers ──────────────────────────────────────────────────────────────────────────────────────────

  /** The text of the error for a refused command, for people. */
  protected refusal(command: string, reason: string): string {
    return `the receiver refuses ${command}: ${reason}`
  }

  /** @returns undefined: no answer */
  protected ask(command: string, most = tries): Promise<Answer | undefined> {
    return this.dialog.ask(this.encode(command), (message) => this.answerTo(command, message), most)
  }

  /** @throws RTK_ERR_UNAVAILABLE unless the receiver accepts the command */
  protected async need(command: string): Promise<readonly string[]> {
    const answer = await this.ask(command)
    if (answer === undefined) throw unavailable('the receiver does not answer')
    if (typeof answer === 'string') throw unavailable(this.refusal(command, answer))
    return answer
  }

  /**
   * Sends commands in their order.
   * @returns the commands that were refused, or not answered, and that a base does not need
   * @throws RTK_ERR_UNAVAILABLE for a needed command, and if two in a row are not answered
   */
  protected async send(commands: readonly string[], { needed, check }: SendOptions): Promise<string[]> {
    const refused: string[] = []
    let silent = 0
    for (const command of commands) {
      check()
      if (needed.test(command)) {
        await this.need(command)
        silent = 0
        continue
      }
      const answer = await this.ask(command)
      silent = answer === undefined ? silent + 1 : 0
      if (silent > 1) throw unavailable('the receiver does not answer')
      if (typeof answer !== 'object') refused.push(command)
    }
    return refused
  }

  // ── identity, mode and configuration ──────────────────────────────────────────────────────────────────────────────

  protected async identify(): Promise<void> {
    const identity = await this.whoIsIt()
    if (!identity) throw unavailable('the receiver does not identify itself')
    this.identified(identity)
  }

  protected async bring(wanted: WantedSetup, stillWanted: () => void): ReturnType<Receiver['configure']> {
    const before = await this.prepare(wanted, this.identity)
    const { life } = this
    const check = () => {
      stillWanted()
      if (life !== this.life) throw unavailable('the receiver restarted meanwhile')
    }
    this.msm = wanted.settings.msm
    const { written, refused } = await this.setUp(wanted, check)
    const held = await this.readMode()
    if (!held) throw unavailable('the receiver does not answer')
    if (!isSame(held, wanted.target)) throw unavailable('the receiver does not hold the mode that was set')
    check()
    this.#position_ms = this.ctx.clock.monotonic()
    return { written, refused: [...before, ...refused] }
  }

  protected async verify(wanted: WantedSetup | undefined): Promise<string | undefined> {
    const held = await this.readMode()
    if (!held) return undefined
    this.setMode(modeOf(held))
    return !wanted || isSame(held, wanted.target) ? '' : 'its mode was changed'
  }

  protected override get isDue(): boolean {
    return super.isDue || this.mode === 'unknown'
  }

  protected override tick(): void {
    const isLost = this.ctx.clock.monotonic() - this.#position_ms > lost_ms
    if (this.link === 'up' && this.configured && isLost) this.restarted('its position is missing')
    super.tick()
  }

  protected silence(): void {
    this.write(this.#question)
  }

  protected override linkChanged(state: LinkState): void {
    if (state === 'offline') this.identified({})
    // A silence may have been a restart whose greeting was lost.
    if (state === 'stalled') this.restarted()
  }

  protected override restarted(reason?: string): void {
    this.setMode('unknown')
    super.restarted(reason)
  }

  /** @param fix undefined: the receiver sent its position, but it has none */
  protected override report(fix: ReceiverFix | undefined): void {
    this.#position_ms = this.ctx.clock.monotonic()
    if (fix) super.report(fix)
  }
}
