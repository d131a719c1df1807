/** Reads what routers write: any field may be missing, and any number may come as text. */

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value inside objects and lists; undefined where the path ends early. */
export function fieldOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  let field = value
  for (const name of path) {
    if (typeof field !== 'object' || field === null || !Object.hasOwn(field, name)) return undefined
    field = (field as Record<string | number, unknown>)[name]
  }
  return field
}

const longestText = 200
const longestRaw = 2_000

/** RUTOS text for unknown values. */
const notKnown = 'N/A'

/**
 * A text or number as trimmed text, without control characters; `''` for anything else and for `N/A`. The first non-empty value
 * counts.
 */
export function textOf(...values: readonly unknown[]): string {
  for (const value of values) {
    const isText = typeof value === 'string' || typeof value === 'number'
    const text = isText
      ? String(value)
          .slice(0, longestRaw)
          .replace(/\p{Cc}+/gu, ' ')
          .trim()
          .slice(0, longestText)
      : ''
    if (text !== '' && text !== notKnown) return text
  }
  return ''
}

/** The first number in a value; undefined when there is none (`N/A`, `unknown`, empty). */
export function numberOf(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    const number = typeof value === 'number' ? value : Number(/-?\d+(?:\.\d+)?/.exec(textOf(value))?.[0] ?? Number.NaN)
    if (Number.isFinite(number)) return number
  }
  return undefined
}

/** A number between two bounds: modem values for "unknown" are out of bounds. */
export function boundedOf(value: unknown, least: number, most: number): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= least && number <= most ? number : undefined
}

/** `'1'`, `'on'`, `'true'` and their like. */
export const isOn = (value: unknown) =>
  value === true || ['1', 'true', 'on', 'yes'].includes(textOf(value).toLowerCase())

/** Upper case with colons; `''` if not a MAC address. */
export function macOf(...values: readonly unknown[]): string {
  for (const value of values) {
    const hex = textOf(value).replace(/[:.-]/g, '').toUpperCase()
    if (/^[0-9A-F]{12}$/.test(hex)) return hex.replace(/..(?=.)/g, '$&:')
  }
  return ''
}

/** The first element of a list, or the value itself: some routers answer one thing where others answer a list of one. */
export const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The standard output of a command that went well; undefined otherwise. */
export function outputOf(answer: unknown): string | undefined {
  if (!isObject(answer) || numberOf(answer.code ?? 0) !== 0) return undefined
  return typeof answer.stdout === 'string' ? answer.stdout.trim() : ''
}

/** The sections of `uci.get {config}`, in the order of the file. */
export function sectionsOf(answer: unknown, type?: string): { name: string; values: Fields }[] {
  const values = fieldOf(answer, 'values')
  if (!isObject(values)) return []
  return Object.entries(values)
    .flatMap(([name, section]) => (isObject(section) ? [{ name, values: section }] : []))
    .filter((section) => type === undefined || section.values['.type'] === type)
    .sort((a, b) => (numberOf(a.values['.index']) ?? 0) - (numberOf(b.values['.index']) ?? 0))
}
