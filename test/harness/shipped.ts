import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hostTable } from '../../runtime/host-table.js'
import { Loader } from '../../runtime/loader/load.js'
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

/** The names of all shipped plugins, by station: the first has every plugin that runs beside the others, the last is a fleet. */
export function shippedTogether(): [together: string[], ...alternatives: string[][]] {
  const folder = join(packageRoot(), 'plugins')
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.ts')))
  const isFleet = (name: string) => /^(simulated-)?fleet(-|$)/.test(name)
  return [
    names.filter((name) => !(name in alternatives) && !isFleet(name)),
    ...Object.keys(alternatives).map((name) => [name]),
    names.filter(isFleet),
  ]
}

/** A definition that did not come out of a bundle, with the texts that the bundle of this shipped plugin has. */
export function withTexts(definition: AnyPlugin): AnyPlugin {
  const files = definition.texts ? [] : textFiles(join(packageRoot(), 'plugins', definition.name))
  if (files.length === 0) return definition
  return { ...definition, texts: Object.fromEntries(files.map(({ language, content }) => [language, content])) }
}

/** A shipped plugin by its name. One with a page for browsers exists as a bundle alone, and in the published package every one. */
export async function shippedPlugin(name: string): Promise<AnyPlugin> {
  const root = packageRoot()
  const plain = join(root, 'build', 'plugins', name, 'index.js')
  if (existsSync(plain) && !existsSync(join(root, 'plugins', name, 'ui'))) {
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
