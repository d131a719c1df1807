import type { StationError, Trouble } from '../schemas/services.js'

/** What went wrong before the service was there. */
export type Notice = Trouble & { readonly code: string }

/** Characters of an error's text: 32 of them stand in the document. */
const longest = 480

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** An entry of `base.state.errors`. The one place where what happened and what a person can do become one text. */
export function stationError(code: string, given: string | Trouble, t: number): StationError {
  const { text, advice = '', severity = 'degrades' }: Trouble = typeof given === 'string' ? { text: given } : given
  return { code, text: cut(advice ? `${text}; ${advice}` : text), why: cut(text), advice: cut(advice), severity, t }
}
