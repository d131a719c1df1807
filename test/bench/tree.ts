/** The tree that is measured: this one, or that of another commit (`--against`), which is used by its public contract alone. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../runtime/platform/release.js'

/** Its root folder. */
export const tree = process.env.RTK_BASE_BENCH_TREE ?? packageRoot()

/** The program of a tree: where its package says, as the folders of other commits differ. */
export function entryOf(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> }
  return join(folder, bin['rtk-base'] as string)
}

/** The tree has not what a part measures. */
export class NotComparable extends Error {}

/**
 * A module of its code.
 * @param name as the package exports it (`rtk-base/gnss`), or a file of its build (`plugins/network/modem/apn/lookup.js`)
 * @throws NotComparable when the tree has no such module
 */
export async function ofTree<T>(name: string): Promise<T> {
  const file = fileOf(name)
  if (file === undefined || !existsSync(file)) throw new NotComparable(`it has no ${name}`)
  return (await import(pathToFileURL(file).href)) as T
}

function fileOf(name: string): string | undefined {
  if (!name.startsWith('rtk-base/')) return join(tree, 'build', ...name.split('/'))
  try {
    return createRequire(join(tree, 'package.json')).resolve(name)
  } catch {
    return undefined
  }
}
