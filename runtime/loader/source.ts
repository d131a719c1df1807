/** Where the source of a plugin is. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'

const entryFiles = ['index.ts', 'index.mts', 'index.js', 'index.mjs', 'index.cjs']

/** Whether a variant's plugin key is a path rather than a name. */
export function isPath(source: string): boolean {
  return source.startsWith('.') || isAbsolute(source)
}

export function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

/** The source file of a plugin's folder. */
export function sourceIn(folder: string): string | undefined {
  return entryFiles.map((name) => join(folder, name)).find(isFile)
}

const foldersIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))

const isPlugin = (folder: string) => sourceIn(folder) !== undefined

/**
 * The source file of a shipped plugin: a plugin's name says nothing of its place, so that plugins may be grouped.
 * @param folder has the plugins (`NAME/index.ts`), or folders of them (`network/NAME/index.ts`)
 */
export function shippedSource(folder: string, name: string): string | undefined {
  const direct = sourceIn(join(folder, name))
  if (direct !== undefined || !existsSync(folder)) return direct
  // A folder inside of a plugin is none: a package of its name must be found.
  const group = foldersIn(folder).find((path) => isPlugin(join(path, name)) && !isPlugin(path))
  return group && sourceIn(join(group, name))
}

/** Name → folder of every plugin in it, sorted by name. */
export function shippedFolders(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const places = foldersIn(folder).flatMap((path) => (isPlugin(path) ? [path] : foldersIn(path).filter(isPlugin)))
  const named = places.map((path) => [basename(path), path] as const)
  return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}
