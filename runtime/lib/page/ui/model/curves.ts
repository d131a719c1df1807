/** The values of curves: what their table and their summary say. Pure. */

/** Null: not known at that time. */
export type Values = readonly (number | null)[]

/** Thins to a maximum number of rows, evenly, including the newest: for a readable table. */
export function thinned(length: number, most: number): readonly number[] {
  if (length <= most) return Array.from({ length }, (_, at) => at)
  const step = (length - 1) / (most - 1)
  return Array.from({ length: most }, (_, at) => Math.round(at * step))
}

export interface Extent {
  readonly least: number
  readonly most: number
  /** Undefined: nothing is known now. */
  readonly last: number | undefined
}

/** Undefined for a curve without a value. */
export function extentOf(values: Values): Extent | undefined {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return undefined
  return { least: Math.min(...known), most: Math.max(...known), last: values.at(-1) ?? undefined }
}
