/** What was heard, as lines `name = value` in sections: one value a line, so that `diff` shows what has changed. */
import { createHash } from 'node:crypto'

export interface Section {
  readonly title: string
  readonly lines: readonly Line[]
}
export type Line = readonly [name: string, value: string]

/** Longer texts are their beginning, their length and their digest. */
const longest = 400

export const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

const short = (text: string) =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length}, ${digest(text)})`

/** Every leaf of a value with its path. A text of several lines is a line each. */
export function linesOf(value: unknown, path = ''): Line[] {
  if (typeof value === 'string' && value.includes('\n'))
    return value.split('\n').map((line, n) => [`${path}[${n + 1}]`, short(JSON.stringify(line))])
  if (typeof value !== 'object' || value === null) return [[path, short(JSON.stringify(value) ?? 'undefined')]]
  const entries = Object.entries(value)
  if (entries.length === 0) return [[path, Array.isArray(value) ? '[]' : '{}']]
  return entries.flatMap(([name, below]) => linesOf(below, path === '' ? name : `${path}.${name}`))
}

/** Bytes of an answer by their type: JSON leaf by leaf, text line by line, all else by its digest. */
export function bodyLines(type: string, bytes: Buffer): Line[] {
  if (bytes.length === 0) return []
  const text = bytes.toString('utf8')
  if (/json/.test(type) && !/ndjson|jsonl|seq/.test(type)) {
    try {
      return linesOf(JSON.parse(text), 'body')
    } catch {
      return [['body', short(text)]]
    }
  }
  if (/^text\/(plain|event-stream)|ndjson|openmetrics/.test(type)) return linesOf(text, 'body')
  return [['body', `${bytes.length} bytes, ${digest(bytes)}`]]
}

/**
 * What two runs agree on. A value that differs between them (ports, keys, memory in use) is `~`; a name that only one of them has is
 * `~` too, with a question mark: nobody should rely on either.
 */
export function agreed(first: readonly Section[], second: readonly Section[]): Section[] {
  const others = new Map(second.map((section) => [section.title, section]))
  const missing = second.filter(({ title }) => !first.some((section) => section.title === title))
  return [
    ...first.map((section) => both(section, others.get(section.title) ?? { title: section.title, lines: [] })),
    ...missing.map((section) => both({ title: section.title, lines: [] }, section)),
  ]
}

function both({ title, lines }: Section, other: Section): Section {
  const theirs = numbered(other.lines)
  const ours = numbered(lines)
  const kept: Line[] = [...ours].map(([key, [name, value]]) => {
    const found = theirs.get(key)
    if (!found) return [name, '~?']
    return [name, found[1] === value ? value : '~']
  })
  for (const [key, [name]] of theirs) if (!ours.has(key)) kept.push([name, '~?'])
  return { title, lines: kept }
}

/** Names may come again, as topics do. */
function numbered(lines: readonly Line[]): Map<string, Line> {
  const seen = new Map<string, number>()
  return new Map(
    lines.map((line) => {
      const nth = (seen.get(line[0]) ?? 0) + 1
      seen.set(line[0], nth)
      return [`${nth} ${line[0]}`, line]
    }),
  )
}

export const printed = (sections: readonly Section[]) =>
  sections
    .map(({ title, lines }) => `# ${title}\n${lines.map(([name, value]) => `${name} = ${value}\n`).join('')}`)
    .join('\n')
