/** Commands to the receiver, and its answers: one at a time, each sent up to three times. */
import { Dialog, type Edges } from 'rtk-base/link'
import { unavailable } from 'rtk-base/plugin'
import type { Receiver } from 'rtk-base/services'
import { command } from './framing.js'
import * as said from './messages.js'

const answer_ms = 1_500
const tries = 3

export class Commands {
  readonly #dialog: Dialog<string>

  /** @param write hands bytes to the port; false: not accepted */
  constructor(edges: Edges, write: (bytes: Uint8Array) => boolean) {
    this.#dialog = new Dialog<string>(edges, write, answer_ms)
  }

  /** Call this with every line of the receiver. */
  hear(line: string): void {
    this.#dialog.hear(line)
  }

  /** The link was lost. */
  abort(): void {
    this.#dialog.abort()
  }

  /** @returns '' done, else the reason of the receiver; undefined: no answer */
  ask(text: string, most = tries): Promise<string | undefined> {
    return this.#dialog.ask(command(text), (line) => said.answerTo(text, line), most)
  }

  /** @throws RTK_ERR_UNAVAILABLE unless the receiver accepts it */
  async need(text: string): Promise<void> {
    const answer = await this.ask(text)
    if (answer === undefined) throw unavailable('the receiver does not answer')
    if (answer !== '') throw unavailable(`the receiver refuses ${text}: ${answer}`)
  }

  version(): Promise<said.Version | undefined> {
    return this.#dialog.ask(command('VERSIONA'), said.versionOf, tries)
  }

  mode(): ReturnType<Receiver['readTarget']> {
    return this.#dialog.ask(command('MODE'), said.modeOf, tries)
  }

  signalGroup(): Promise<string | undefined> {
    return this.#dialog.ask(command('CONFIG'), (line) => said.configOf('SIGNALGROUP', line), tries)
  }

  /** Whether its configuration says that the position is not correct; undefined: no answer. */
  refusesPosition(): Promise<boolean | undefined> {
    // The answer to MASK comes after that to CONFIG.
    return this.#dialog.ask(
      command('CONFIG\r\nMASK'),
      (line) => {
        if (line.startsWith('$CONFIG,') && /not correct/i.test(line)) return true
        return said.configOf('MASK', line) === undefined ? undefined : false
      },
      tries,
    )
  }
}
