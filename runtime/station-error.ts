import type { StationError, Trouble } from '../schemas/services.js'

/** A failure from before the service started. */
export type Notice = Trouble & { readonly code: string }

/** Characters of an error's text: the document holds 32 of them. */
const longest = 480

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** An entry of `base.state.errors`. The only place that joins failure and remedy into one text. */
export function stationError(code: string, given: string | Trouble, t: number): StationError {
  const { text, advice = '', severity = 'degrades' }: Trouble = typeof given === 'string' ? { text: given } : given
  return { code, text: cut(advice ? `${text}; ${advice}` : text), why: cut(text), advice: cut(advice), severity, t }
}
