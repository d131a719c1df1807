/** Plugins that were split from other plugins. A variant written before the split gets them automatically. */

/** The options that moved from an old plugin to a new one: their names, or an object with more detail. */
export type Moved = readonly string[] | MovedWhen

/** The options that moved, in detail. */
export interface MovedWhen {
  /** Options that moved, under the same names. */
  readonly options?: readonly string[]
  /** Name of an option of the old plugin that is an object. Its members are now options of the new plugin. */
  readonly inside?: string
  /** The new plugin is added only if these options of the old plugin have these values. */
  readonly when?: Readonly<Record<string, unknown>>
}

/** New plugin → the plugins that it was a part of → what it has of them now. */
export type Splits = Readonly<Record<string, Readonly<Record<string, Moved>>>>

type Options = Readonly<Record<string, unknown>>

export const splitsOf = (catalogue: Readonly<Record<string, { splitFrom: Splits[string] }>>): Splits =>
  Object.fromEntries(
    Object.entries(catalogue).flatMap(([name, { splitFrom }]) =>
      Object.keys(splitFrom).length > 0 ? [[name, splitFrom]] : [],
    ),
  )

const isList = (moved: Moved): moved is readonly string[] => Array.isArray(moved)
const detailsOf = (moved: Moved | undefined): MovedWhen => (moved && isList(moved) ? { options: moved } : (moved ?? {}))
const namesOf = (moved: Moved | undefined): readonly string[] => {
  const { options = [], inside } = detailsOf(moved)
  return inside === undefined ? options : [...options, inside]
}
const isObject = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The current owner and path of an option; both unchanged if the option did not move. */
export function optionNow(owner: string, path: string, splits: Splits): { owner: string; path: string } {
  const [option = '', ...rest] = path.split('.')
  for (const [name, from] of Object.entries(splits)) {
    const { options = [], inside } = detailsOf(from[owner])
    if (options.includes(option)) return { owner: name, path }
    if (option === inside && rest.length > 0) return { owner: name, path: rest.join('.') }
  }
  return { owner, path }
}

/** The options of an old plugin that moved to the new one. */
function taken(options: Options, moved: Moved): Options {
  const { options: names = [], inside = '' } = detailsOf(moved)
  const members = options[inside]
  return {
    ...Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))),
    ...(isObject(members) && members),
  }
}

const holds = (options: Options, moved: Moved): boolean =>
  Object.entries(detailsOf(moved).when ?? {}).every(([name, value]) => options[name] === value)

/**
 * Adds the plugins split out of a listed plugin, before it, and gives them the options that moved. If the variant lists
 * both, the moved options go to the new plugin, but its own values win.
 * @param plugins source → options, as a variant has them
 * @returns the plugins, and the names of those that were added
 */
export function withSplits(
  plugins: Readonly<Record<string, Options>>,
  splits: Splits,
): { plugins: Record<string, Options>; added: string[] } {
  const added: string[] = []
  const complete: Record<string, Options> = {}
  const moved = (name: string): Options =>
    Object.assign({}, ...Object.entries(splits[name] ?? {}).map(([old, what]) => taken(plugins[old] ?? {}, what)))
  for (const [source, options] of Object.entries(plugins)) {
    const parts = Object.entries(splits).flatMap(([name, { [source]: what }]) => (what ? [{ name, what }] : []))
    for (const { name, what } of parts) {
      if (plugins[name] !== undefined || complete[name] !== undefined || !holds(options, what)) continue
      complete[name] = moved(name)
      added.push(name)
    }
    const gone = parts.flatMap(({ what }) => namesOf(what))
    const kept = Object.fromEntries(Object.entries(options).filter(([name]) => !gone.includes(name)))
    complete[source] = { ...(splits[source] && moved(source)), ...kept }
  }
  return { plugins: complete, added }
}
