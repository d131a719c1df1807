/** Entries of a person in one text: values of parameters, labels. Pure. */
import type { Json } from '../../../../../runtime/lib/page/ui/station/document.js'

/** A number, `true`, `false`, `null` and JSON as such; anything else is a text. */
export function enteredValue(text: string): unknown {
  const trimmed = text.trim()
  if (!/^(-?\d|true$|false$|null$|[[{"])/.test(trimmed)) return text
  try {
    return JSON.parse(trimmed) as unknown
  } catch {
    return text
  }
}

/** Lines `name=value`. Undefined: a line is none. */
export function linesOf(text: string): Record<string, string> | undefined {
  const found: Record<string, string> = {}
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const at = line.indexOf('=')
    if (at < 1) return undefined
    found[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return found
}

export function valuesOf(text: string): Json | undefined {
  const lines = linesOf(text)
  return lines && Object.fromEntries(Object.entries(lines).map(([name, value]) => [name, enteredValue(value)]))
}

export const textOfLines = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
