import { resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { valueAt } from '../../../schemas/document.js'
import type { ActionEntry, ChangeResult, CommandResult } from '../../../schemas/services.js'
import { textField } from '../../../schemas/text-field.js'
import { messageOf, RtkError } from '../../errors.js'
import { didYouMean } from '../../platform/nearest.js'
import { ControlClient } from '../control/client.js'
import { parseArgs } from './parse-args.js'

export const consoleHelp = `rtk-base console [--data DIR]

A line console of the running station. Enter a command of the station (help lists them), followed by a space or =
and its value if it takes one, or:
  info [PART]          prints the status document, or one part of it (info gnss.state)
  set KEY=VALUE ...    sets parameters, e.g. set udp-port=2200 mqtt-host="broker.example.org"
  quit                 ends the console, not the station
--data names the data folder of the running service (default: ./data).
`

export async function consoleCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { data: { type: 'string', default: 'data' } } })
  const client = await ControlClient.open(resolve(values.data))
  const commands = await client.call<ActionEntry[]>('actions')
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: 'rtk-base> ',
    terminal: process.stdin.isTTY === true,
    completer: (line: string) => [completions(line, commands), line],
  })
  let failed = false
  try {
    prompt(lines)
    for await (const line of lines) {
      if (line.trim() === 'quit' || line.trim() === 'exit') break
      if (line.trim() !== '') failed = !(await answer(client, line.trim())) || failed
      prompt(lines)
    }
  } finally {
    lines.close()
    client.close()
  }
  return failed && !process.stdin.isTTY ? 1 : 0
}

const ownWords = ['help', 'info', 'set', 'quit']

const wordsOf = (input: object): readonly string[] => textField(input)?.words ?? []

/** The lines that `line` can become: names of commands, and behind a blank the words that a value begins with. */
export function completions(line: string, commands: readonly ActionEntry[]): string[] {
  const lines = commands.flatMap(({ name, input }) => [
    name,
    `help ${name}`,
    ...wordsOf(input).map((word) => `${name} ${word}`),
  ])
  const isBehindBlank = line.includes(' ')
  return [...ownWords, ...lines].filter((one) => one.startsWith(line) && one.includes(' ') === isBehindBlank)
}

function prompt(lines: Interface): void {
  if (process.stdin.isTTY) lines.prompt()
}

function show(text: string): void {
  process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)
}

/** Answers one line. False on failure; the console keeps running. */
async function answer(client: ControlClient, line: string): Promise<boolean> {
  const [word, ...rest] = line.split(/\s+/)
  try {
    if (word === 'help' || word === '?') {
      const [name] = rest
      const commands = await client.call<ActionEntry[]>('actions')
      const text = helpText(commands, name)
      const names = commands.map(({ name }) => name)
      show(text ?? `no command ${name}${didYouMean(name ?? '', names)}: help lists them`)
      if (name === undefined) show(consoleHelp.split('\n').slice(4, 7).join('\n'))
      return text !== undefined
    }
    if (word === 'info') {
      const document = await client.call('document')
      const [path] = rest
      const part = path ? valueAt(document, path) : document
      show(JSON.stringify(part, null, 2) ?? noPart(document, path ?? ''))
      return part !== undefined
    }
    if (word === 'set') {
      const { result, errors } = await client.call<ChangeResult>('change', { values: readAssignments(line) })
      const problems = errors?.map(({ name, message }) => `${name}: ${message}`) ?? []
      show([result, ...problems].join('\n'))
      return result === 'ok'
    }
    const { status, text } = await client.call<CommandResult>('command', { text: commandOf(line) })
    show(text)
    return status === 200
  } catch (error) {
    show(messageOf(error))
    return false
  }
}

/** Message for a missing part: what the document has instead, at the first step of the path that it does not have. */
export function noPart(document: unknown, path: string): string {
  const steps = path.split('.')
  const at = steps.findIndex((_, index) => valueAt(document, steps.slice(0, index + 1).join('.')) === undefined)
  const begin = steps.slice(0, at).join('.')
  const parent = begin ? valueAt(document, begin) : document
  const names = parent && typeof parent === 'object' ? Object.keys(parent) : []
  const near = didYouMean(steps[at] ?? '', names)
  return `no part ${path}${near || `; ${begin || 'the document'} has ${names.join(', ') || 'no parts'}`}`
}

/** The commands, or only the named command; undefined if it does not exist. */
export function helpText(commands: readonly ActionEntry[], only?: string): string | undefined {
  const listed = commands.filter(({ name }) => only === undefined || name === only)
  if (listed.length === 0 && only !== undefined) return undefined
  const width = Math.max(...listed.map(({ name }) => name.length), 4)
  const shown = ({ name, summary, plugin, input }: ActionEntry) => {
    const words = wordsOf(input).join(' | ')
    return `${name.padEnd(width)}  ${summary} (${plugin})${words && `\n${' '.repeat(width)}  ${words}`}`
  }
  return listed.map(shown).join('\n')
}

/** `sim move 30 0 0` is `sim=move 30 0 0`. */
function commandOf(line: string): string {
  return line.replace(/^([\w-]+)\s+/, '$1=')
}

/**
 * `set a=1 b="two words"`: a value is JSON if it parses as JSON, otherwise text.
 * @throws RTK_ERR_USAGE if the line has anything else
 */
function readAssignments(line: string): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [, name, quoted, bare, other] of line.slice(3).matchAll(/([\w-]+)=(?:"([^"]*)"|(\S*))|(\S+)/g)) {
    if (other !== undefined) throw new RtkError('RTK_ERR_USAGE', `set takes KEY=VALUE, not "${other}"`)
    values[name] = quoted ?? readJson(bare)
  }
  if (Object.keys(values).length === 0) throw new RtkError('RTK_ERR_USAGE', 'set takes KEY=VALUE, not ""')
  return values
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
