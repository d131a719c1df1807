/** Plugins that were a part of others once: a variant that is older than that gets them too. */

/** New plugin → the plugins that it was a part of → their options that it has now. */
export type Splits = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

export const splitsOf = (catalogue: Readonly<Record<string, { splitFrom: Splits[string] }>>): Splits =>
  Object.fromEntries(
    Object.entries(catalogue).flatMap(([name, { splitFrom }]) =>
      Object.keys(splitFrom).length > 0 ? [[name, splitFrom]] : [],
    ),
  )

/** The plugin that has an option of this path now; `owner` where it did not move. */
export function ownerNow(owner: string, path: string, splits: Splits): string {
  const [option = ''] = path.split('.')
  return Object.keys(splits).find((name) => splits[name]?.[owner]?.includes(option)) ?? owner
}

type Options = Readonly<Record<string, unknown>>

/**
 * Adds what was split out of a listed plugin, before it, and gives it the options that moved with it. What a variant says of both is
 * said to the new one.
 * @param plugins source → options, as a variant has them
 * @returns the plugins, and the names of those that were added
 */
export function withSplits(
  plugins: Readonly<Record<string, Options>>,
  splits: Splits,
): { plugins: Record<string, Options>; added: string[] } {
  const added: string[] = []
  const complete: Record<string, Options> = {}
  const without = (options: Options, names: readonly string[]) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)))
  const moved = (name: string): Options =>
    Object.fromEntries(
      Object.entries(splits[name] ?? {}).flatMap(([old, names]) =>
        Object.entries(plugins[old] ?? {}).filter(([option]) => names.includes(option)),
      ),
    )
  for (const [source, options] of Object.entries(plugins)) {
    const parts = Object.keys(splits).filter((name) => splits[name]?.[source] !== undefined)
    for (const name of parts) {
      if (plugins[name] !== undefined || complete[name] !== undefined) continue
      complete[name] = moved(name)
      added.push(name)
    }
    const gone = parts.flatMap((name) => splits[name]?.[source] ?? [])
    complete[source] = { ...(splits[source] && moved(source)), ...without(options, gone) }
  }
  return { plugins: complete, added }
}
