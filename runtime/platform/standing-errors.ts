/** Standing errors: the entries of `base.state.errors` of one owner, a plugin or the runtime. */
import type { ErrorValues, Severity, StationError } from '../../schemas/services.js'
import { english } from './texts/index.js'
import { codesWithText, type Texts, textOf } from './texts/text-of.js'

/** A failure from before the service started. */
export interface Notice {
  readonly code: string
  readonly values: ErrorValues
}

export interface Standing {
  /** Default: `degrades`. */
  readonly severity?: Severity
  /** Since when, UTC seconds. Default: now. */
  readonly t?: number | undefined
}

/** Characters of an error's text: the document holds 32 of them. */
const longest = 480

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** Bounds of `ErrorValues`. */
const mostValues = 8
const longestName = 24
const longestValue = 64
const longestValues = 240
/** Length of the values beside a text of full length: the document has a largest size. */
const sparedValues = 70

/** Values that fit; a plugin may give anything. Undefined: none. */
function bounded(given: ErrorValues, length: number): ErrorValues | undefined {
  const room = Math.min(longestValues, sparedValues + longest - length)
  const values: Record<string, string | number | boolean> = {}
  const sent = Object.entries(given).filter(([name]) => !name.startsWith('_'))
  for (const [name, value] of sent.slice(0, mostValues)) {
    const isValue = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
    if (!isValue || !/^[a-z]\w*$/.test(name) || name.length > longestName) continue
    values[name] = typeof value === 'string' ? value.slice(0, longestValue) : value
    if (JSON.stringify(values).length > room) delete values[name]
  }
  return Object.keys(values).length > 0 ? values : undefined
}

/** Of a code or a key that has none. */
export const withoutText = (code: string, values: ErrorValues): string =>
  [code, ...Object.entries(values).map(([name, value]) => `${name} ${value}`)].join(', ')

/** English failure and remedy of an error; undefined without a text for it. */
function partsOf(own: Texts, code: string, values: ErrorValues): { why: string; advice: string } | undefined {
  for (const texts of [own, english])
    for (const one of codesWithText(code, values)) {
      const why = textOf(texts, `error.${one}`, values, String)
      if (why !== undefined) return { why, advice: textOf(texts, `error.${one}.advice`, values, String) ?? '' }
    }
  return undefined
}

/**
 * An entry of `base.state.errors` in English.
 * @param own texts of the plugin; an error without a text there has that of the runtime
 * @param textMissing is told if there is no text: the entry shows the code and the values
 */
export function stationError(
  code: string,
  values: ErrorValues,
  { severity = 'degrades', t = 0 }: Standing = {},
  own: Texts = {},
  textMissing = (_code: string): void => {},
): StationError {
  const found = partsOf(own, code, values)
  if (!found) textMissing(code)
  const { why, advice } = found ?? { why: withoutText(code, values), advice: '' }
  // The only place that joins failure and remedy into one text.
  const text = cut(advice ? `${why}; ${advice}` : why)
  const sent = bounded(values, text.length)
  return { code, text, why: cut(why), advice: cut(advice), severity, ...(sent && { values: sent }), t }
}

export interface StandingErrorsDeps {
  /** English texts of the owner. */
  texts?(): Texts
  utc_s(): number
  /** Start of an error that is not new, UTC seconds. */
  since?(code: string, text: string): number | undefined
  /** Called for each new text. */
  raised(code: string, text: string): void
  /** Called once for each code without a text. */
  textMissing(code: string): void
  changed(): void
}

/** Codes of one owner: far more than a plugin has. One that makes codes of what strangers send costs no memory. */
const mostCodes = 64

export class StandingErrors {
  readonly #all = new Map<string, StationError>()
  readonly #withoutText = new Set<string>()
  readonly #deps: StandingErrorsDeps

  constructor(deps: StandingErrorsDeps) {
    this.#deps = deps
  }

  /** @returns the entry; undefined if the error does not stand */
  while(code: string, condition: ErrorValues | boolean | undefined, standing: Standing = {}): StationError | undefined {
    if (!condition) {
      if (this.#all.delete(code)) this.#deps.changed()
      return undefined
    }
    if (!this.#all.has(code) && this.#all.size >= mostCodes) return undefined
    const values = condition === true ? {} : condition
    const error = stationError(code, values, standing, this.#deps.texts?.(), (code) => this.#textMissing(code))
    const { severity, text } = error
    const before = this.#all.get(code)
    if (before?.text === text && before.severity === severity) return before
    const entry = { ...error, t: standing.t || (this.#deps.since?.(code, text) ?? this.#deps.utc_s()) }
    this.#all.delete(code)
    this.#all.set(code, entry)
    this.#deps.raised(code, text)
    this.#deps.changed()
    return entry
  }

  list(): StationError[] {
    return [...this.#all.values()]
  }

  #textMissing(code: string): void {
    if (this.#withoutText.has(code) || this.#withoutText.size >= mostCodes) return
    this.#withoutText.add(code)
    this.#deps.textMissing(code)
  }
}
