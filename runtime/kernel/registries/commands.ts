import type { Logger } from 'pino'
import type { CommandEntry, CommandResult } from '../../../schemas/services.js'
import { messageOf, RtkError } from '../../errors.js'
import { attempt } from '../../platform/guard/guard.js'
import { didYouMean } from '../../platform/nearest.js'
import { anySignal } from '../../platform/time/waits.js'
import { badValue, type CommandCall, type Source } from '../../plugin.js'
import type { BailHookPoint } from '../hook-point.js'
import type { Tables } from '../tables.js'

const runLimit_ms = 30_000
const longestCommand = 4_096

export interface CommandDeps {
  log: Logger
  tables(): Tables
  onSystemCommand: BailHookPoint<[CommandCall], string>
  /** Which plugin has a command of the specification: for the answer when that plugin is not in this variant. */
  homes: Readonly<Record<string, string>>
  /** The state of a plugin of this station; undefined when it has none of that name. */
  stateOf(plugin: string): string | undefined
}

/** The `/system` commands. Every surface comes here with `name` or `name=value`. */
export class CommandRegistry {
  readonly #deps: CommandDeps

  constructor(deps: CommandDeps) {
    this.#deps = deps
  }

  list(): CommandEntry[] {
    return [...this.#deps.tables().commands.values()]
      .filter(({ owner }) => owner.live)
      .map(({ name, help, owner, value, caution, words }) => ({
        name,
        help,
        plugin: owner.name,
        value,
        ...(caution && { caution }),
        ...(words.length > 0 && { words: [...words] }),
      }))
      .sort((a, b) => a.name.localeCompare(b.name))
  }

  /** Runs one command. Never rejects: a failure is part of the answer. */
  async run(text: string, source: Source, signal?: AbortSignal): Promise<CommandResult> {
    try {
      return { status: 200, text: await this.#run(text, source, signal) }
    } catch (error) {
      const known = error instanceof RtkError ? error : undefined
      if (!known) this.#deps.log.error({ err: error, command: text.split('=')[0] }, 'command failed')
      return { status: known?.statusCode ?? 500, text: `${messageOf(error)}\n` }
    }
  }

  async #run(written: string, source: Source, signal?: AbortSignal): Promise<string> {
    // The longer form of the specification, on every surface.
    const text = written.startsWith('cmd=') ? written.slice('cmd='.length) : written
    if (text.length > longestCommand) {
      throw new RtkError('RTK_ERR_COMMAND_VALUE', `a command has at most ${longestCommand} characters`)
    }
    const equals = text.indexOf('=')
    const name = (equals < 0 ? text : text.slice(0, equals)).trim()
    const arg = equals < 0 ? undefined : text.slice(equals + 1)
    const record = this.#deps.tables().commands.get(name)
    if (!record) throw this.#unknown(name)
    const { owner } = record
    if (!owner.live) throw new RtkError('RTK_ERR_UNAVAILABLE', `${name}: plugin ${owner.name} is not running`)
    // A form-like client writes a bare name as `name=`.
    if (!record.value && arg) throw badValue(`${name} takes no value`)

    const end = anySignal([owner.signal, signal])
    const call: CommandCall = { name, arg, source, signal: end.signal }
    this.#deps.log.info({ command: name, source }, 'command')
    try {
      const intercepted = await this.#deps.onSystemCommand.call(call)
      if (typeof intercepted === 'string') return intercepted
      const answer: unknown = await attempt(owner, `command ${name}`, () => record.run(call), runLimit_ms)
      // Plugins are not type-checked when they are loaded.
      if (typeof answer !== 'string') throw new Error(`${owner.name}: command ${name} returned no text`)
      return answer
    } catch (error) {
      // A command that exceeded its limit must not run on unseen.
      end.abort(error)
      throw error
    } finally {
      end.release()
    }
  }

  #unknown(name: string): RtkError {
    const { homes, stateOf } = this.#deps
    if (Object.hasOwn(homes, name)) {
      const home = homes[name] as string
      const state = stateOf(home)
      if (state !== undefined && state !== 'running')
        return new RtkError('RTK_ERR_UNAVAILABLE', `${name} belongs to plugin ${home}, which is ${state}`)
      const why =
        state === undefined
          ? 'which this station does not run'
          : 'which runs here, but its version does not have this command'
      return new RtkError('RTK_ERR_COMMAND_UNKNOWN', `${name} belongs to plugin ${home}, ${why}`)
    }
    const hint = didYouMean(name, this.#deps.tables().commands.keys())
    const list = 'every command: GET /commands, or help in the console'
    return new RtkError('RTK_ERR_COMMAND_UNKNOWN', `unknown command "${name.slice(0, 60)}"${hint}; ${list}`)
  }
}
