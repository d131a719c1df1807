import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostTable } from '../../host-table.js'
import { catalogueName, catalogueOf } from '../../loader/catalogue.js'
import { Loader, type ManifestEntry } from '../../loader/load.js'
import { isPath, shippedFolders } from '../../loader/source.js'
import {
  deviceBundles,
  packageRoot,
  packedFolder,
  readRelease,
  releaseFile,
  shippedPlugins,
} from '../../platform/release.js'
import type { PluginDefinition } from '../../plugin.js'

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

export interface Prebuilt {
  readonly entries: ManifestEntry[]
  /** Source, as the variant names it → the plugin's definition. */
  readonly definitions: ReadonlyMap<string, PluginDefinition>
  /** Every source file that went in, absolute. */
  readonly inputs: string[]
}

/**
 * Bundles plugins into `folder`, with a `manifest.json` that has their digests.
 * @param sources as a variant names them; relative ones from `base`
 */
export async function prebuild(
  sources: readonly string[],
  { base, folder }: { base: string; folder: string },
  tell: (line: string) => void,
): Promise<Prebuilt> {
  const cache = join(folder, '.cache')
  mkdirSync(cache, { recursive: true })
  const ready = deviceBundles()
  const kept = ready === undefined ? {} : { ready: join(ready, 'plugins'), keep: true }
  const loader = new Loader({ host: hostTable, builtIn: shippedPlugins(), base, cache, small: true, ...kept })
  const entries: ManifestEntry[] = []
  const definitions = new Map<string, PluginDefinition>()
  const inputs: string[] = []
  for (const source of sources) {
    const { definition, code, inputs: own } = await loader.load(source)
    const { name, version, api } = definition
    tell(`plugin ${name} ${version}${isPath(source) ? ` from ${source}` : ''}`)
    writeFileSync(join(folder, `${name}.cjs`), code)
    const sha256 = createHash('sha256').update(code).digest('hex')
    entries.push({ name, version, api, file: `${name}.cjs`, sha256 })
    definitions.set(source, definition)
    inputs.push(...own)
  }
  rmSync(cache, { recursive: true, force: true })
  writeJson(join(folder, 'manifest.json'), { plugins: entries })
  writeJson(join(folder, catalogueName), catalogueOf(definitions.values()))
  return { entries, definitions, inputs }
}

/**
 * Makes the files that `npm pack` needs besides the transpiled code and its types: the shipped plugins, prebuilt, and
 * the release.
 */
export async function pack(): Promise<void> {
  const root = packageRoot()
  const folder = packedFolder(root)
  rmSync(folder, { recursive: true, force: true })
  await prebuild([...shippedFolders(join(root, 'plugins')).keys()], { base: root, folder }, () => {})
  writeJson(join(folder, releaseFile), readRelease(root))
}
