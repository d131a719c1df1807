import { type MqttMessage, type PluginContext, RtkError } from 'rtk-base/plugin'
import { CommandObject, UpdateBase } from 'rtk-base/schemas'
import { type CommandResult, type Station, station } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { type Refusals, respond } from './responses.js'

const commandLimit = 4_096
/** Commands over MQTT that run at the same time: some take half a minute. */
const mostCommands = 8
/** Queued commands; the answers to more would come too late for their senders. */
export const mostWaiting = 64

/** `base/{SN}/cmd`: the answer goes to the response topic of MQTT 5 where there is one; without one a refusal is an error of the station. */
export class CommandRequests {
  readonly #ctx: PluginContext
  readonly #refusals: Refusals
  #malformed = 0
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(ctx: PluginContext, refusals: Refusals) {
    this.#ctx = ctx
    this.#refusals = refusals
  }

  /** Messages that were not a command since the plugin was loaded. */
  get malformed(): number {
    return this.#malformed
  }

  readonly handle = async (message: MqttMessage): Promise<void> => {
    const { log, services } = this.#ctx
    const asked = requestOf(message.payload)
    // An object that names no action is told so here, like any other payload that is no command.
    if (asked === undefined || (typeof asked !== 'string' && !this.#hasAction(asked.cmd_type))) {
      this.#malformed++
      log.warn(
        { bytes: message.payload.length },
        'a message on cmd was dropped: neither a command nor an updateBase object',
      )
      const reason = 'neither a command nor an updateBase object'
      this.#refusals.note(message, 'a message on cmd', reason)
      respond(this.#ctx, message, `${reason}\n`, { status: '400' })
      return
    }
    const name = typeof asked === 'string' ? asked.split('=', 1)[0] : asked.cmd_type
    if (this.#running >= mostCommands && this.#waiting.length >= mostWaiting) {
      log.warn(
        { command: name },
        `commands over MQTT are refused: ${mostCommands} run and ${mostWaiting} wait; send them again later`,
      )
      const reason = `too many commands: ${mostCommands} running and ${mostWaiting} waiting; try again later`
      this.#refusals.note(message, `the command ${name?.slice(0, 60)}`, reason)
      respond(this.#ctx, message, `${reason}\n`, { status: '503' })
      return
    }
    if (this.#running >= mostCommands) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      const { status, text: answer, shown } = await this.#run(services.use(station), asked)
      // An answer may contain passwords, as that of get-router-qr does. A refusal does not.
      log.info(
        { command: name, status },
        status >= 400 ? answer.slice(0, 200).trimEnd() : 'a command over MQTT was answered',
      )
      this.#refusals.note(message, `the command ${name?.slice(0, 60)}`, status >= 400 ? answer : undefined)
      respond(this.#ctx, message, answer, { status: String(status), command: shown })
    } finally {
      // The next one takes its place.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }

  #hasAction(name: string): boolean {
    return this.#ctx.services
      .use(station)
      .actions()
      .some((action) => action.name === name)
  }

  async #run(known: Station, asked: string | CommandObject): Promise<CommandResult> {
    if (typeof asked === 'string') return known.command(asked, { source: 'mqtt' })
    const shown = asked.cmd_type
    try {
      const { text } = await known.act(asked.cmd_type, asked.cmd_param, { source: 'mqtt' })
      return { status: 200, text, shown }
    } catch (error) {
      if (!(error instanceof RtkError)) this.#ctx.log.error({ err: error, command: shown }, 'command failed')
      const status = error instanceof RtkError ? error.statusCode : 500
      return { status, text: `${(error as Error).message}\n`, shown }
    }
  }
}

/** Request of a payload: the text of a command, or an action with its input; undefined: neither. */
export function requestOf(payload: Buffer): string | CommandObject | undefined {
  const text = payload.toString('utf8').trim()
  if (text === '' || payload.length > commandLimit) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  if (!text.startsWith('{')) return /[\u0000-\u001f]/.test(text) ? undefined : text
  try {
    const value: unknown = JSON.parse(text)
    if (Value.Check(UpdateBase, value)) return `firmware=${value.cmd_param.url}`
    return Value.Check(CommandObject, value) ? value : undefined
  } catch {
    return undefined
  }
}
