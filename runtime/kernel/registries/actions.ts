import type { Logger } from 'pino'
import type { ActionEntry, ActionResult, CommandResult } from '../../../schemas/services.js'
import { textField } from '../../../schemas/text-field.js'
import { messageOf, RtkError, together } from '../../errors.js'
import { attempt } from '../../platform/guard/guard.js'
import { withoutUrlSecrets } from '../../platform/log/redact.js'
import { didYouMean } from '../../platform/nearest.js'
import { anySignal } from '../../platform/time/waits.js'
import { explain, parseBySchema, pointerNames, problemOf, problemsOf } from '../../platform/validate.js'
import { type ActionCall, badValue, type Source } from '../../plugin.js'
import type { BailHookPoint } from '../hook-point.js'
import type { ActionRecord } from '../instance/registrations.js'
import type { Tables } from '../tables.js'

const runLimit_ms = 30_000
const longestCommand = 4_096
/** Length of a call that a log or a record keeps. */
const longestShown = 200

type Input = Readonly<Record<string, unknown>>

export interface ActionDeps {
  log: Logger
  tables(): Tables
  onSystemCommand: BailHookPoint<[ActionCall], string>
  /** Which plugin has a command of the specification: for the answer when that plugin is not in this variant. */
  homes: Readonly<Record<string, string>>
  /** The state of a plugin of this station; undefined when it has none of that name. */
  stateOf(plugin: string): string | undefined
}

/** Whatever a person or a program can ask for: with an input (`act`), as the text of a command, or by a change parameter. */
export class ActionRegistry {
  readonly #deps: ActionDeps
  readonly #running = new Set<ActionCall>()

  constructor(deps: ActionDeps) {
    this.#deps = deps
  }

  list(): ActionEntry[] {
    return [...this.#deps.tables().actions.values()]
      .filter(({ owner }) => owner.live)
      .map(({ name, owner, summary, caution, reads, input }) => ({
        ...{ name, plugin: owner.name, summary, ...(caution && { caution }), reads, input: { ...input } },
      }))
      .sort((a, b) => a.name.localeCompare(b.name))
  }

  /**
   * Runs an action with an input that its schema checks; nothing is coerced.
   * @throws RTK_ERR_COMMAND_VALUE with an error for each wrong field, RTK_ERR_COMMAND_UNKNOWN, RTK_ERR_ACTION_RUNNING,
   *   RTK_ERR_UNAVAILABLE, and what the action throws
   */
  async act(name: string, input: unknown, source: Source): Promise<ActionResult> {
    const record = this.#find(name)
    const mistakes = problemsOf(record.input, input).map((problem) => mistakeOf(record, problem, input))
    if (mistakes.length > 0) throw together(mistakes)
    if (!record.reads && [...this.#running].some((call) => call.name === name))
      throw new RtkError('RTK_ERR_ACTION_RUNNING', `${name} is running: wait for its end`)
    return this.run(record, input as Input, source)
  }

  /**
   * Runs the text of a command: `name` or `name=value`. Never rejects: a failure is part of the answer.
   * @param secret reads the value of a command with a secret one, where a text is no place for it
   */
  async command(text: string, source: Source, secret?: () => string): Promise<CommandResult> {
    // The longer form of the specification, on every surface.
    const written = text.startsWith('cmd=') ? text.slice('cmd='.length) : text
    const equals = written.indexOf('=')
    const name = (equals < 0 ? written : written.slice(0, equals)).trim()
    let shown = name.slice(0, 60)
    let plugin: string | undefined
    try {
      if (written.length > longestCommand)
        throw new RtkError('RTK_ERR_COMMAND_VALUE', `a command has at most ${longestCommand} characters`)
      const record = this.#find(name)
      plugin = record.owner.name
      const input = inputOf(record, equals < 0 ? '' : written.slice(equals + 1), secret)
      shown = shownCall(record, input)
      return { status: 200, text: (await this.run(record, input, source)).text, shown }
    } catch (error) {
      const known = error instanceof RtkError ? error : undefined
      if (!known) this.#deps.log.error({ err: error, plugin, command: name }, 'command failed')
      // The specification has no 409 here: it cannot be done now.
      const status = known?.statusCode === 409 ? 503 : (known?.statusCode ?? 500)
      return { status, text: `${messageOf(error)}\n`, shown }
    }
  }

  /** @param input fits the schema */
  async run(record: ActionRecord, input: Input, source: Source): Promise<ActionResult> {
    const { owner, name } = record
    const end = anySignal([owner.signal])
    const value = input[textField(record.input)?.name ?? '']
    const arg = value === undefined ? undefined : String(value)
    const call: ActionCall = { name, arg, input, source, signal: end.signal, shown: shownCall(record, input) }
    this.#deps.log.info({ command: call.shown, source }, 'command')
    this.#running.add(call)
    try {
      const intercepted = await this.#deps.onSystemCommand.call(call)
      if (typeof intercepted === 'string') return { text: intercepted }
      const answer: unknown = await attempt(owner, `command ${name}`, () => record.run(call), runLimit_ms)
      const result = typeof answer === 'string' ? { text: answer } : (answer as ActionResult | undefined)
      // Plugins are not type-checked when they are loaded.
      if (typeof result?.text !== 'string') throw new Error(`${owner.name}: command ${name} returned no text`)
      return result
    } catch (error) {
      // A command that exceeded its limit must not run on unseen.
      end.abort(error)
      throw error
    } finally {
      this.#running.delete(call)
      end.release()
    }
  }

  #find(name: string): ActionRecord {
    const record = this.#deps.tables().actions.get(name)
    if (!record) throw this.#unknown(name)
    if (!record.owner.live)
      throw new RtkError('RTK_ERR_UNAVAILABLE', `${name}: plugin ${record.owner.name} is not running`)
    return record
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
    const hint = didYouMean(name, this.#deps.tables().actions.keys())
    const list = 'every command: GET /actions, or help in the console'
    return new RtkError('RTK_ERR_COMMAND_UNKNOWN', `unknown command "${name.slice(0, 60)}"${hint}; ${list}`)
  }
}

const isSecret = (record: ActionRecord, field: string) =>
  (record.input.properties[field] as { writeOnly?: unknown } | undefined)?.writeOnly === true

function mistakeOf(record: ActionRecord, problem: Parameters<typeof explain>[0], input: unknown): RtkError {
  const place = pointerNames(problem.field)
  const message = isSecret(record, place[0] ?? '') ? problem.message : explain(problem, record.input, input)
  return new RtkError('RTK_ERR_COMMAND_VALUE', message, { place })
}

/**
 * The input that the text of a command stands for.
 * @param text `''`: none. A form-like client writes a bare name as `name=`
 * @throws RTK_ERR_COMMAND_VALUE
 */
function inputOf({ name, input, usage }: ActionRecord, text: string, secret: (() => string) | undefined): Input {
  if (Object.keys(input.properties).length === 0) {
    if (text !== '') throw badValue(`${name} takes no value`)
    return {}
  }
  const field = textField(input)
  if (!field) throw badValue(`${name} takes several fields: send them as JSON to POST /actions/${name}`)
  if (field.isSecret && secret && text !== '')
    throw badValue(`the value of ${name} is secret: send it as the text/plain body of POST /system?${name}`)
  const given = field.isSecret && secret ? secret() : text
  if (given === '' && !field.isRequired) return {}
  const value = given === '' ? undefined : parseBySchema(field.schema, given)
  if (value === undefined || problemOf(field.schema, value))
    throw badValue(
      usage ??
        (field.words.length > 0 ? `${name} is ${listed(field.words)}, not '${given}'` : `${name}=<${field.name}>`),
    )
  return { [field.name]: value }
}

const listed = (words: readonly string[]) => [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')

/** A call as a log or a record keeps it: with its public fields only. */
function shownCall(record: ActionRecord, input: Input): string {
  const shown = Object.entries(input).filter(([field]) => !isSecret(record, field))
  const [first] = shown
  if (first === undefined) return record.name
  const text = textField(record.input) ? `=${String(first[1])}` : ` ${JSON.stringify(Object.fromEntries(shown))}`
  return withoutUrlSecrets(`${record.name}${text}`).slice(0, longestShown)
}
