import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'
import type { VariantFile } from '../cli/variant-file.js'
import { RtkError } from '../errors.js'
import { withEsbuild } from '../loader/builder.js'
import { hostPackages, ownPackages } from '../loader/host-packages.js'
import type { ManifestEntry } from '../loader/load.js'
import { digestImage, imageManifest } from './image.js'
import { prebuild, writeJson } from './prebuild.js'
import { packageRoot, readRelease } from './release.js'

/** By this name a folder is known as one that build made. */
const packageName = 'rtk-base-device'

/** Packages with native code: not bundled, their folders are shipped beside the bundle. */
const native = ['@serialport/bindings-cpp']

export interface DeviceBuild {
  readonly out: string
  readonly plugins: readonly ManifestEntry[]
  readonly sha256: string
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
  const { entries, keys } = await prebuild(sources, { base, folder: join(target, 'plugins') }, tell)
  tell('runtime')
  await withEsbuild('the runtime', (esbuild) => buildRuntime(esbuild, root, target))
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
  return { out: target, plugins: entries, sha256 }
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

/** A table of packages in a form whose `require` the bundler sees. */
function tableOf(packages: Readonly<Record<string, unknown>>): string {
  const rows = Object.keys(packages).map((id) => `${JSON.stringify(id)}: () => require(${JSON.stringify(id)})`)
  return `{ ${rows.join(', ')} }`
}

/** As bootstrap.mjs has it. */
const nodeCheck =
  "if(!process.features.require_module){console.error('rtk-base needs Node 20.19, 22.12 or later: this is '+process.version);process.exit(1)}"

/** As bootstrap.mjs has it. */
const earlySignals =
  "const __end=()=>process.exit(0),__signals=['SIGINT','SIGTERM','SIGHUP','SIGQUIT'];" +
  "if(process.argv[2]==='run')for(const s of __signals)process.on(s,__end);"
const handOverSignals = '() => { for (const signal of __signals) process.off(signal, __end) }'

/** One file with the command line, the kernel and every pure JavaScript package in it. */
async function buildRuntime({ build }: typeof import('esbuild'), root: string, target: string): Promise<void> {
  const isSource = existsSync(join(root, 'runtime', 'cli', 'main.ts'))
  const hostTable: Plugin = {
    name: 'host-packages',
    setup({ onLoad }) {
      onLoad({ filter: /loader[\\/]host-packages\.[jt]s$/ }, () => ({
        contents: `export const hostPackages = ${tableOf(hostPackages)}; export const ownPackages = ${tableOf(ownPackages)}`,
        loader: 'js',
        resolveDir: root,
      }))
    },
  }
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    banner: {
      js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
    },
  } as const
  // The watchdog's thread is a program of its own.
  await build({
    ...common,
    entryPoints: [join(root, isSource ? 'runtime/watchdog/thread.ts' : 'build/runtime/watchdog/thread.js')],
    outfile: join(target, 'thread.js'),
  })
  await build({
    ...common,
    stdin: {
      contents: `import { main } from './${isSource ? 'runtime/cli/main.ts' : 'build/runtime/cli/main.js'}'\nawait main(process.argv.slice(2), ${handOverSignals})`,
      resolveDir: root,
      loader: 'js',
    },
    outfile: join(target, 'rtk-base.mjs'),
    external: [...native, 'esbuild', 'pino-pretty'],
    // Its main file is UMD, whose requires no bundler sees.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    banner: { js: `#!/usr/bin/env node\n${nodeCheck}\n${earlySignals}\n${common.banner.js}` },
    plugins: [hostTable],
  })
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
