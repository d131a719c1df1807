import { unavailable } from '../../../plugin.js'
import { ReceiverDriver } from './receiver-driver.js'

/** The receiver's answer to a command: the values of an accepted one, or the reason of a refusal, for people. */
export type Answer = readonly string[] | string

/** Which commands of a list a base cannot do without, and a check before each command. */
export interface SendOptions {
  readonly needed: RegExp
  /** Throws if the list must not be continued. */
  check(): void
}

const tries = 3

/**
 * The driver of a receiver that is configured by text commands, each of which it answers. A subclass adds the form of
 * the commands and of the answers.
 * @typeParam M - the type of messages that can be answers to commands
 */
export abstract class CommandReceiver<M = string> extends ReceiverDriver<M> {
  protected abstract encode(command: string): Uint8Array
  /** @returns undefined: the message is no answer to this command */
  protected abstract answerTo(command: string, message: M): Answer | undefined

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
}
