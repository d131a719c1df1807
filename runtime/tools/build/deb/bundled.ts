import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../../../platform/release.js'
import { native } from '../bundle-runtime.js'

/** A package of npm that is in the bundle, or lies beside it. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** SPDX expression, as the package states it. */
  readonly licence: string
  readonly homepage: string
  /** Licence files of the package. */
  readonly texts: readonly string[]
}

const folderOf = (input: string) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]

/**
 * Every package that something of is shipped, each version once, by name.
 * @param inputs the source files of the bundles
 * @param native the folder with native packages in its node_modules, and their source folder
 */
export function bundledPackages(inputs: readonly string[], native?: { slot: string; root: string }): BundledPackage[] {
  const beside = native ? besideOf(native) : []
  const folders = new Set([...inputs, ...beside].flatMap((input) => folderOf(input) ?? []))
  const packages = [...folders].filter((folder) => existsSync(join(folder, 'package.json'))).map(readPackage)
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]))
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one)
}

function besideOf({ slot, root }: { slot: string; root: string }): string[] {
  const modules = join(slot, 'node_modules')
  return [...filesBelow(modules)].map((file) => join(root, 'node_modules', file.slice(modules.length)))
}

export const isNative = (name: string): boolean => native.includes(name)

function readPackage(folder: string): BundledPackage {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: string | { type: string }
    homepage?: string
  }
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim())
  const licence = (typeof license === 'string' ? license : license?.type) ?? 'see its package'
  return { name, version, licence, homepage: homepage ?? `https://www.npmjs.com/package/${name}`, texts }
}
