import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hostTable } from '../../runtime/host-table.js'
import { Loader } from '../../runtime/loader/load.js'
import { shippedFolders } from '../../runtime/loader/source.js'
import { textFiles } from '../../runtime/loader/texts.js'
import { packageRoot, readyFolder, shippedPlugins } from '../../runtime/platform/release.js'
import type { AnyPlugin } from '../../runtime/plugin.js'

/** Shipped plugins that take the place of another one: a station has one of the two. */
const alternatives: Readonly<Record<string, string>> = {
  'gnss-auto': 'gnss-zed',
  'gnss-quectel': 'gnss-zed',
  'gnss-septentrio': 'gnss-zed',
  'gnss-unicore': 'gnss-zed',
  'simulated-lg290p': 'simulated-receiver',
  'simulated-mosaic': 'simulated-receiver',
  'simulated-um980': 'simulated-receiver',
}

let found: ReadonlyMap<string, string> | undefined
/** Name → folder of every shipped plugin; empty in the published package, which has no sources. */
export function pluginFolders(): ReadonlyMap<string, string> {
  found ??= shippedFolders(join(packageRoot(), 'plugins'))
  return found
}

/** The names of all shipped plugins, by station: the first has every plugin that runs beside the others, the last is a fleet. */
export function shippedTogether(): [together: string[], ...alternatives: string[][]] {
  const names = [...pluginFolders().keys()]
  const isFleet = (name: string) => /^(simulated-)?fleet(-|$)/.test(name)
  return [
    names.filter((name) => !(name in alternatives) && !isFleet(name)),
    ...Object.keys(alternatives).map((name) => [name]),
    names.filter(isFleet),
  ]
}

/** A definition that did not come out of a bundle, with the texts that the bundle of this shipped plugin has. */
export function withTexts(definition: AnyPlugin): AnyPlugin {
  const folder = pluginFolders().get(definition.name)
  const files = definition.texts || !folder ? [] : textFiles(folder)
  if (files.length === 0) return definition
  return { ...definition, texts: Object.fromEntries(files.map(({ language, content }) => [language, content])) }
}

/** A shipped plugin by its name. One with a page for browsers exists as a bundle alone, and in the published package every one. */
export async function shippedPlugin(name: string): Promise<AnyPlugin> {
  const root = packageRoot()
  const folder = pluginFolders().get(name)
  const plain = folder && join(root, 'build', relative(root, folder), 'index.js')
  if (plain && existsSync(plain) && !existsSync(join(folder, 'ui'))) {
    const module: unknown = await import(pathToFileURL(plain).href)
    return (module as { default: AnyPlugin }).default
  }
  const cache = mkdtempSync(join(tmpdir(), 'rtk-base-shipped-'))
  try {
    // The bundle that the build made, as `npm start` takes it: to make another costs a second.
    const places = { host: hostTable, builtIn: shippedPlugins(), ready: readyFolder(), base: root, cache }
    const { definition } = await new Loader(places).load(name)
    return definition as unknown as AnyPlugin
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}
