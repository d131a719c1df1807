import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { VariantFile } from '../cli/variant-file.js'
import { RtkError } from '../errors.js'
import { withEsbuild } from '../loader/builder.js'
import type { ManifestEntry } from '../loader/load.js'
import { bundleRuntime, native } from './bundle-runtime.js'
import { digestImage, imageManifest } from './image.js'
import { prebuild, writeJson } from './prebuild.js'
import { packageRoot, readRelease } from './release.js'

/** By this name a folder is known as one that build made. */
const packageName = 'rtk-base-device'

export interface DeviceBuild {
  readonly out: string
  readonly plugins: readonly ManifestEntry[]
  readonly sha256: string
  /** Every source file that went in, absolute. */
  readonly inputs: readonly string[]
}

/**
 * Makes the folder that a device runs: one bundle of the runtime, one per plugin, the native packages, nothing that is not
 * used, and a manifest with the digest of every file. `DIR/rtk-base.mjs run` starts it; no npm, no compiler and no esbuild are needed there.
 */
export async function buildDevice(
  { variant, base }: VariantFile,
  out: string,
  tell: (line: string) => void,
): Promise<DeviceBuild> {
  const root = packageRoot()
  const target = resolve(out)
  clearTarget(target)
  mkdirSync(target, { recursive: true })
  const { version } = readRelease(root)
  const variantName = variant.name.replace(/[\\/]/g, '-')
  // First of all: it marks the folder as made here, also when this build does not get to its end.
  writeJson(join(target, 'package.json'), {
    name: packageName,
    version,
    type: 'module',
    rtkBase: { variant: variantName },
  })

  const sources = Object.keys(variant.plugins)
  const { entries, keys, inputs } = await prebuild(sources, { base, folder: join(target, 'plugins') }, tell)
  tell('runtime')
  inputs.push(...(await withEsbuild('the runtime', (esbuild) => bundleRuntime(esbuild, root, target))))
  for (const name of native) copyPackage(name, root, target, new Set())

  // The device finds every plugin by its name: relative paths and packages of the workbench mean nothing there.
  const plugins = Object.fromEntries(
    Object.entries(variant.plugins).map(([key, options]) => [keys.get(key) ?? key, options]),
  )
  mkdirSync(join(target, 'runtime', 'variants'), { recursive: true })
  writeJson(join(target, 'runtime', 'variants', `${variantName}.json`), { ...variant, plugins })
  const hash = createHash('sha256').update(readFileSync(join(target, 'rtk-base.mjs')))
  for (const { sha256 } of entries) hash.update(sha256)
  const sha256 = hash.digest('hex')
  writeJson(join(target, imageManifest), {
    version,
    sha256,
    built: new Date().toISOString(),
    files: digestImage(target),
  })
  return { out: target, plugins: entries, sha256, inputs }
}

/** Empties the folder, when nothing but an earlier build is in it. @throws RTK_ERR_USAGE */
function clearTarget(target: string): void {
  if (!existsSync(target)) return
  const isFolder = statSync(target).isDirectory()
  if (!isFolder || (readdirSync(target).length > 0 && !isBuild(target))) {
    throw new RtkError('RTK_ERR_USAGE', `${target} holds something else: name an empty folder, or one that build made`)
  }
  rmSync(target, { recursive: true, force: true })
}

function isBuild(folder: string): boolean {
  const file = join(folder, 'package.json')
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === packageName
  } catch {
    return false
  }
}

/** Copies a package and what it depends on, flat, as npm lays it out. */
function copyPackage(name: string, from: string, target: string, done: Set<string>): void {
  if (done.has(name)) return
  done.add(name)
  const require = createRequire(join(from, 'package.json'))
  const folder = packageFolder(require, name)
  if (!folder) return
  // Where prebuilt binaries are shipped, the C++ beside them is of no use.
  const unused = existsSync(join(folder, 'prebuilds'))
    ? /^\/(src|deps|test|node_modules)(\/|$)/
    : /^\/(test|docs|node_modules)(\/|$)/
  cpSync(folder, join(target, 'node_modules', name), {
    recursive: true,
    filter: (path) => !unused.test(path.slice(folder.length)) && !/\.(md|map|d\.ts)$/.test(path),
  })
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const dependency of Object.keys(dependencies)) copyPackage(dependency, folder, target, done)
}

function packageFolder(require: NodeJS.Require, name: string): string | undefined {
  for (const place of require.resolve.paths(name) ?? []) {
    const folder = join(place, name)
    // Where packages are links (pnpm, a workspace), what they depend on lies beside what they point to.
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
  }
  return undefined
}
