/** Makes a rover or a base of the receiver, and reads it back: the one place that changes its configuration. */
import { sameReference } from 'rtk-base/gnss'
import { type Edges, pause } from 'rtk-base/link'
import { unavailable } from 'rtk-base/plugin'
import type { Receiver, ReceiverIdentity, ReceiverTarget } from 'rtk-base/services'
import type { Commands } from './commands.js'
import { type BaseSettings, modeCommand, outputCommands, signalGroupOf } from './plan.js'

/** A change of the signal group restarts the receiver; in recordings it answers again after 5 s. */
const restart_ms = 5_000
/** How long after `MODE BASE` its CONFIG says that it refuses the position. */
const judged_ms = 1_000
/** Without these it is no base. */
const needed = /^(BESTNAVB|RTCM1005|RTCM107)/

export interface Wanted {
  readonly target: ReceiverTarget
  readonly settings: BaseSettings
  readonly stationId: number
}

export class Setup {
  readonly #commands: Commands
  readonly #timers: Edges['timers']
  /** The signal group that was asked for, with the serial number: written once, whatever is read back. */
  #groupAsked = ''

  constructor(commands: Commands, timers: Edges['timers']) {
    this.#commands = commands
    this.#timers = timers
  }

  /**
   * Ends a base at another position, and sets the tracked signals, for which the receiver restarts.
   * @returns refused commands that a base does not need
   * @throws RTK_ERR_UNAVAILABLE
   */
  async prepare(target: ReceiverTarget, { module, serial }: ReceiverIdentity): Promise<string[]> {
    const held = await this.#commands.mode()
    if (!held || !isSame(held, target)) await this.#commands.need('MODE ROVER SURVEY')
    const group = signalGroupOf(module)
    const asked = `CONFIG SIGNALGROUP ${group}`
    const before = await this.#commands.signalGroup()
    if (before === group) return []
    // Each time costs the flash a write and the base a restart.
    const isAsked = this.#groupAsked === serial + asked
    this.#groupAsked = serial + asked
    if (before === undefined || isAsked || (await this.#commands.ask(asked)) !== '') return [asked]
    await pause(this.#timers, restart_ms)
    await this.#commands.need('MODE ROVER SURVEY')
    return []
  }

  /**
   * Sets outputs and mode.
   * @param check throws if the receiver or the target changed meanwhile; called before each command
   * @returns number of accepted commands, and the refused ones that a base does not need
   * @throws RTK_ERR_UNAVAILABLE
   */
  async write({ target, settings, stationId }: Wanted, check: () => void): ReturnType<Receiver['configure']> {
    const refused: string[] = []
    const outputs = outputCommands(settings)
    let silent = 0
    for (const asked of outputs) {
      check()
      const answer = await this.#commands.ask(asked)
      silent = answer === undefined ? silent + 1 : 0
      if (answer === '') continue
      if (answer === undefined && (needed.test(asked) || silent > 1)) throw unavailable('the receiver does not answer')
      if (needed.test(asked)) throw unavailable(`the receiver refuses ${asked}: ${answer}`)
      refused.push(asked)
    }
    check()
    if (target.mode === 'fixed') {
      await this.#commands.need(modeCommand(target, stationId))
      await pause(this.#timers, judged_ms)
      const refuses = await this.#commands.refusesPosition()
      if (refuses === undefined) throw unavailable('the receiver does not answer')
      if (refuses)
        throw unavailable('the receiver refuses the position: it is more than 300 m from where it finds itself')
    }
    const held = await this.#commands.mode()
    if (!held) throw unavailable('the receiver does not answer')
    if (!isSame(held, target)) throw unavailable('the receiver does not hold the mode that was set')
    check()
    return { written: outputs.length - refused.length + 1, refused }
  }
}

export function isSame(held: ReceiverTarget | { mode: 'survey-in' }, target: ReceiverTarget): boolean {
  if (held.mode !== 'fixed' || target.mode !== 'fixed') return held.mode === target.mode
  return sameReference(held.arp, target.arp)
}
