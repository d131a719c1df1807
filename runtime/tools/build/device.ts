import type { KeyObject } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Variant } from '../../../schemas/index.js'
import { RtkError } from '../../errors.js'
import { withEsbuild } from '../../loader/builder.js'
import { catalogueName, catalogueOf, readCatalogue, withCommandsOf } from '../../loader/catalogue.js'
import type { ManifestEntry } from '../../loader/load.js'
import { keepNote, readNote } from '../../loader/ready.js'
import { deviceBundles, packageRoot, readRelease } from '../../platform/release.js'
import type { PluginDefinition } from '../../plugin.js'
import type { VariantFile } from '../cli/variant-file.js'
import { bundleRuntime, native } from './bundle-runtime.js'
import { bundledPackages } from './deb/bundled.js'
import { licencesFile, licenceText } from './deb/copyright.js'
import { writeManifest } from './image.js'
import { prebuild, writeJson } from './prebuild.js'
import { withTrustedKeys } from './trusted-keys.js'

/** This package name marks a folder made by build. */
const packageName = 'rtk-base-device'

/** The machines that native code is shipped for. */
export const deviceTargets = ['linux-arm64', 'linux-x64', 'linux-arm'] as const
export type DeviceTarget = (typeof deviceTargets)[number]

export interface DeviceOptions {
  /** Native code for this machine only; undefined: for every one. */
  target?: DeviceTarget | undefined
  /** Version of the build; undefined: that of rtk-base. */
  release?: string | undefined
  /** Signs the images: the bundle trusts it. */
  signer?: KeyObject | undefined
}

export interface DeviceBuild {
  readonly out: string
  /** The variant's, as a file name. */
  readonly name: string
  readonly version: string
  readonly plugins: readonly ManifestEntry[]
  readonly definitions: readonly PluginDefinition[]
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
  { target: machine, release, signer }: DeviceOptions,
  tell: (line: string) => void,
): Promise<DeviceBuild> {
  const root = packageRoot()
  const target = resolve(out)
  clearTarget(target)
  mkdirSync(target, { recursive: true })
  const version = release ?? readRelease(root).version
  const variantName = variant.name.replace(/[\\/]/g, '-')
  // First of all: it marks the folder as made here, also when this build does not get to its end.
  writeJson(join(target, 'package.json'), {
    name: packageName,
    version,
    type: 'module',
    rtkBase: { variant: variantName },
  })

  const { standby } = variant
  const sources = [...new Set([...Object.keys(variant.plugins), ...Object.keys(standby ?? {})])]
  const { entries, definitions, inputs } = await prebuild(sources, { base, folder: join(target, 'plugins') }, tell)
  const known = withCommandsOf(readCatalogue(root), catalogueOf(definitions.values()))
  writeJson(join(target, 'plugins', catalogueName), known)
  inputs.push(...(await runtimeInto(target, root, tell)))
  for (const name of native) copyPackage(name, root, target, { machine, done: new Set() })

  // The device finds every plugin by its name: relative paths and packages of the workbench mean nothing there.
  const named = (given: Variant['plugins']) =>
    Object.fromEntries(
      [...definitions].flatMap(([source, definition]) => {
        const options = given[source]
        return options ? [[definition.name, withTrustedKeys(definition, options, { base, signer })]] : []
      }),
    )
  mkdirSync(join(target, 'runtime', 'variants'), { recursive: true })
  writeJson(join(target, 'runtime', 'variants', `${variantName}.json`), {
    ...{ ...variant, plugins: named(variant.plugins) },
    ...(standby && { standby: named(standby) }),
  })
  writeFileSync(join(target, licencesFile), licenceText(bundledPackages(inputs, { slot: target, root }), { root }))
  const sha256 = writeManifest(target, version, new Date())
  const definitionsOf = [...definitions.values()]
  return { out: target, name: variantName, version, plugins: entries, definitions: definitionsOf, sha256, inputs }
}

/** Bundles the runtime, or takes what an earlier build made of the same sources. Returns every source file that went in. */
async function runtimeInto(target: string, root: string, tell: (line: string) => void): Promise<readonly string[]> {
  const bundleInto = (folder: string) => withEsbuild('the runtime', (esbuild) => bundleRuntime(esbuild, root, folder))
  const kept = deviceBundles(root)
  tell('runtime')
  if (kept === undefined) return bundleInto(target)
  const copy = (folder: string) =>
    cpSync(folder, target, { recursive: true, filter: (path) => path !== noteOf(folder) })
  const found = keptRuntimes(kept).find(({ inputs }) => inputs)
  if (found?.inputs) {
    tell('  as an earlier build made it')
    copy(found.folder)
    return found.inputs
  }
  const began_ms = Date.now()
  // A folder of its own: other builds may make one, or copy theirs, in the same moment.
  const name = `runtime-${began_ms}-${process.pid}`
  const aside = join(kept, `new-${name}`)
  try {
    const inputs = await bundleInto(aside)
    keepNote(noteOf(aside), began_ms, inputs)
    renameSync(aside, join(kept, name))
    copy(join(kept, name))
    return inputs
  } finally {
    rmSync(aside, { recursive: true, force: true })
    // Whoever copies one of the old began before the sources changed, and is done since: a copy takes less than this build did.
    for (const old of keptRuntimes(kept)) if (!old.inputs) rmSync(old.folder, { recursive: true, force: true })
  }
}

const noteOf = (folder: string) => join(folder, 'inputs.json')

/** Runtimes that builds have kept, with the sources that went in: undefined where one of them has changed since. */
function keptRuntimes(kept: string): { folder: string; inputs: readonly string[] | undefined }[] {
  const names = existsSync(kept) ? readdirSync(kept).filter((name) => name.startsWith('runtime-')) : []
  return names.map((name) => {
    const folder = join(kept, name)
    try {
      return { folder, inputs: readNote(noteOf(folder)) }
    } catch {
      // A source is gone, or another build removes this one.
      return { folder, inputs: undefined }
    }
  })
}

/** Empties the folder, when nothing but an earlier build is in it. @throws RTK_ERR_USAGE */
function clearTarget(target: string): void {
  if (!existsSync(target)) return
  const isFolder = statSync(target).isDirectory()
  if (!isFolder || (readdirSync(target).length > 0 && !isBuild(target))) {
    throw new RtkError('RTK_ERR_USAGE', `${target} holds other files: name an empty folder, or one made by build`)
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

/** Copies a package and its dependencies, flat, as npm lays them out. */
function copyPackage(
  name: string,
  from: string,
  target: string,
  { machine, done }: { machine: DeviceTarget | undefined; done: Set<string> },
): void {
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
    filter: (path) =>
      !unused.test(path.slice(folder.length)) && !/\.(md|map|d\.ts)$/.test(path) && runsOn(machine, path),
  })
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const dependency of Object.keys(dependencies)) {
    copyPackage(dependency, folder, target, { machine, done })
  }
}

/** Whether a file below `prebuilds` is for this machine: its folder names system and processor. The systems that count have glibc. */
export function runsOn(machine: DeviceTarget | undefined, path: string): boolean {
  const [, folder] = /[\\/]prebuilds[\\/]([^\\/]+)/.exec(path) ?? []
  return machine === undefined || folder === undefined || (folder === machine && !path.endsWith('.musl.node'))
}

function packageFolder(require: NodeJS.Require, name: string): string | undefined {
  for (const place of require.resolve.paths(name) ?? []) {
    const folder = join(place, name)
    // If packages are links (pnpm, a workspace), their dependencies are beside the link target.
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
  }
  return undefined
}
