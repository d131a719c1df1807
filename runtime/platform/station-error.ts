import type { ErrorValues, StationError, Trouble } from '../../schemas/services.js'

/** A failure from before the service started. */
export type Notice = Trouble & { readonly code: string }

/** Characters of an error's text: the document holds 32 of them. */
const longest = 480

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** Bounds of `ErrorValues`. */
const mostValues = 8
const longestName = 24
const longestValue = 64
const longestValues = 240
/** What a text of full length leaves: the document has a largest size. */
const sparedValues = 70

/** What fits; a plugin may give anything. Undefined: nothing. */
function bounded(given: ErrorValues | undefined, length: number): ErrorValues | undefined {
  const room = Math.min(longestValues, sparedValues + longest - length)
  const values: Record<string, string | number | boolean> = {}
  for (const [name, value] of Object.entries(given ?? {}).slice(0, mostValues)) {
    const isValue = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    if (!isValue || !/^[a-z]\w*$/.test(name) || name.length > longestName) continue
    values[name] = typeof value === 'string' ? value.slice(0, longestValue) : value
    if (JSON.stringify(values).length > room) delete values[name]
  }
  return Object.keys(values).length > 0 ? values : undefined
}

/** An entry of `base.state.errors`. The only place that joins failure and remedy into one text. */
export function stationError(code: string, given: string | Trouble, t: number): StationError {
  const trouble: Trouble = typeof given === 'string' ? { text: given } : given
  const { text, advice = '', severity = 'degrades' } = trouble
  const whole = cut(advice ? `${text}; ${advice}` : text)
  const values = bounded(trouble.values, whole.length)
  return { code, text: whole, why: cut(text), advice: cut(advice), severity, ...(values && { values }), t }
}
