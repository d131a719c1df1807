/** A value that JSON does not have, and that is written as null. */
export interface JsonGap {
  /** Names with dots between them, `[]` for any element of a list; '' is the value itself. */
  readonly path: string
  /** E.g. `NaN`. */
  readonly found: string
}

/** A field that is undefined is left out, which is how a block leaves out a field. In a list it leaves a hole. */
const isGap = (value: unknown, inList: boolean): boolean =>
  typeof value === 'number' ? !Number.isFinite(value) : inList && /^(undefined|function|symbol)$/.test(typeof value)

/** Non-null values that `JSON.stringify` wrote as null in this text: numbers that are not finite, holes of lists. */
export function jsonGaps(value: unknown, text: string | undefined): JsonGap[] {
  // Nearly every text ends here: the look at each field costs more than the text did.
  if (!text?.includes('null')) return []
  const paths = new Map<unknown, string>()
  const gaps = new Map<string, JsonGap>()
  JSON.stringify(value, function (this: unknown, key: string, field: unknown) {
    const parent = paths.get(this)
    const inList = Array.isArray(this)
    const name = inList ? '[]' : parent ? `.${key}` : key
    const path = parent === undefined ? '' : `${parent}${name}`
    if (typeof field === 'object') paths.set(field, path)
    else if (isGap(field, inList)) gaps.set(path, { path, found: String(field) })
    return field
  })
  return [...gaps.values()]
}
