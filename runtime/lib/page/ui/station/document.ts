/** The parts of the document that the page reads. Every part may be missing: a plugin that is not running has no block. */
export type Json = Record<string, unknown>

/** Numbers and names of a text. */
export type Values = Readonly<Record<string, string | number | boolean>>

export interface Verdict {
  fitness: 'fit' | 'degraded' | 'unfit'
  code: string
  why: string
  advice: string
  since: number
  for_s: number
  /** The code of `why` and `advice`; of an error where they are its text. */
  why_code?: string
  values?: Values
}

export interface StationError {
  code: string
  text: string
  t: number
  values?: Values
}

/** The value at a path such as `gnss.state.status`; undefined where there is none. */
export function at(document: Json | undefined, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (part, name) => (typeof part === 'object' && part !== null ? (part as Json)[name] : undefined),
      document,
    )
}

export const numberAt = (document: Json | undefined, path: string): number | undefined => {
  const value = at(document, path)
  return typeof value === 'number' ? value : undefined
}
export const textAt = (document: Json | undefined, path: string): string => {
  const value = at(document, path)
  return typeof value === 'string' ? value : ''
}
export const listAt = <T = Json>(document: Json | undefined, path: string): readonly T[] => {
  const value = at(document, path)
  return Array.isArray(value) ? (value as T[]) : []
}
export const verdictOf = (document: Json | undefined) => at(document, 'base.state.verdict') as Verdict | undefined
/** Newest last. */
export const errorsOf = (document: Json | undefined) => listAt<StationError>(document, 'base.state.errors')
