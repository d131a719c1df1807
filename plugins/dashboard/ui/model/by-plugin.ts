/** What belongs to plugins, by plugin in the order of their names. */
export function byPlugin<T extends { plugin: string }>(all: readonly T[]): [plugin: string, own: T[]][] {
  const found = new Map<string, T[]>()
  for (const one of all) found.set(one.plugin, [...(found.get(one.plugin) ?? []), one])
  return [...found].sort(([a], [b]) => a.localeCompare(b))
}
