/** Meaning of an error code, wherever it is thrown. */
export interface ErrorKind {
  readonly code: string
  /** The HTTP status of the answer. */
  readonly status: number
  /** How a person reacts: one or more sentences. */
  readonly help: string
}

/** Error codes with their meaning, e.g. of a plugin: `new RtkError(lampErrors.LAMP_BROKEN, 'no light at pin 7')`. */
export type ErrorTable<C extends string = string> = Readonly<Record<C, ErrorKind>>

/**
 * Makes a table of error codes. A plugin names its table in `definePlugin({ errors })`; several plugins may share one, e.g. those that
 * provide or use the same service.
 */
export function defineErrors<const C extends string>(
  kinds: Readonly<Record<C, { readonly status: number; readonly help: string }>>,
): ErrorTable<C> {
  const entries = Object.entries<{ status: number; help: string }>(kinds)
  return Object.fromEntries(entries.map(([code, kind]) => [code, { code, ...kind }])) as ErrorTable<C>
}
