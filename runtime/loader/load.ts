import { createHash } from 'node:crypto'
import { createRequire, Module } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import { messageOf, RtkError } from '../errors.js'
import { disk } from '../platform/files/disk.js'
import { replaceFile } from '../platform/files/durable-file.js'
import { readPlain, readRecordSync } from '../platform/files/plain-file.js'
import { didYouMean } from '../platform/nearest.js'
import { during } from '../platform/supervision/activity.js'
import { apiVersion, brand, type PluginDefinition } from '../plugin.js'
import { endBuilderSoon } from './builder.js'
import { type Bundle, bundle, checkSize } from './bundle.js'
import { type HostTable, installHost } from './host.js'
import { keepReady, readReady } from './ready.js'
import { isFile, isPath, shippedFolders, shippedSource, sourceIn } from './source.js'

/** One plugin of a prebuilt folder, as its `manifest.json` lists it. */
export interface ManifestEntry {
  name: string
  version: string
  api: string
  /** Beside the manifest. */
  file: string
  /** SHA-256 of the file, hex. */
  sha256: string
}

export interface Loaded {
  readonly definition: PluginDefinition
  readonly digest: string
  /** Source files, absolute; empty for the prebuilt form. */
  readonly inputs: readonly string[]
  /** The evaluated code. */
  readonly code: string
  /** The file name it was evaluated under. It appears, with the inputs, in the stack traces of the plugin. */
  readonly file: string
}

/** Where plugins are looked for. */
export interface LoaderOptions {
  /** Modules that plugins get from the runtime. */
  host: HostTable
  /** Folder of the shipped plugins: sources (see `shippedSource`) or prebuilt (`manifest.json`). */
  builtIn: string
  /** Relative paths and npm packages of the variant are resolved from here. */
  base: string
  /** Bundles are written here, for debuggers and for readers of a stack trace; they are never read. */
  cache: string
  /** Folder with bundles of shipped plugins that were made with the runtime. They are used until a source changes. */
  ready?: string
  /** Bundles that this loader makes of shipped plugins are added to `ready`. */
  keep?: boolean
  /** Sources will change soon: esbuild's process stays. */
  watch?: boolean
  /** Builds for a device: minified, without a source map. */
  small?: boolean
}

const nameRule = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** Finds, builds and evaluates plugins: from TypeScript or JavaScript source, or prebuilt with a digest. */
export class Loader {
  readonly #options: LoaderOptions
  readonly #looked = new Map<string, ReadonlySet<string>>()

  constructor(options: LoaderOptions) {
    this.#options = options
    installHost(options.host)
  }

  /** @param source a shipped plugin's name, a path, or an npm package. */
  async load(source: string): Promise<Loaded> {
    const manifest = await this.#prebuilt(source)
    if (manifest) return manifest
    const ready = this.#ready(source)
    if (ready) return { ...ready, definition: evaluate(ready.code, ready.file, source) }
    const began_ms = Date.now()
    const made = await this.#bundle(source)
    const { ready: folder, keep } = this.#options
    if (folder && keep && this.#isShipped(source)) keepReady(folder, source, began_ms, made)
    return this.#fromBundle(source, made)
  }

  /** The digest that loading would give now: unchanged code is not reloaded. */
  async digest(source: string): Promise<string> {
    return (this.#ready(source) ?? (await this.#bundle(source))).digest
  }

  /**
   * The files that the last build asked for, existing or not: a fix of code that cannot be loaded will change one of
   * them.
   */
  looked(source: string): string[] {
    return [...(this.#looked.get(source) ?? [])]
  }

  #ready(source: string) {
    const { ready, watch } = this.#options
    const found = ready && !watch && this.#isShipped(source) ? readReady(ready, source) : undefined
    if (found) this.#looked.set(source, new Set(found.inputs))
    return found
  }

  #isShipped(source: string): boolean {
    return !isPath(source) && shippedSource(this.#options.builtIn, source) !== undefined
  }

  async #bundle(source: string): Promise<Bundle> {
    const { base, cache, host, small } = this.#options
    const looked = new Set<string>(isPath(source) ? [join(resolve(base, source), 'index.ts')] : [])
    this.#looked.set(source, looked)
    try {
      return await bundle(this.#entryOf(source), host, cache, { looked, small })
    } finally {
      if (!this.#options.watch) endBuilderSoon()
    }
  }

  async #fromBundle(source: string, { code, digest, inputs }: Bundle): Promise<Loaded> {
    const file = join(this.#options.cache, `${stemOf(source)}-${digest}.cjs`)
    const definition = evaluate(code, file, source)
    // A read-only disk does not prevent loading.
    await this.#keep(file, code, source).catch(() => {})
    return { definition, digest, inputs, code, file }
  }

  async #keep(file: string, code: string, source: string): Promise<void> {
    await disk.mkdir(this.#options.cache, { recursive: true, mode: 0o700 })
    const there = await codeIn(file).catch(() => undefined)
    if (there !== code) await replaceFile(file, code)
    await this.#removeCopies(source, basename(file))
  }

  /** Removes what was kept of a plugin that is not loaded any more. */
  async forget(source: string): Promise<void> {
    this.#looked.delete(source)
    await this.#removeCopies(source).catch(() => {})
  }

  async #removeCopies(source: string, current = ''): Promise<void> {
    const { cache } = this.#options
    const isCopy = new RegExp(`^${stemOf(source)}-[0-9a-f]{12,64}\\.cjs$`)
    const old = (await disk.readdir(cache)).filter((name) => isCopy.test(name) && name !== current)
    for (const name of old) await disk.rm(join(cache, name), { force: true })
  }

  /**
   * The prebuilt form: of a shipped plugin (by name), of a folder or file with a manifest beside it, or of a package
   * with a manifest beside its main file. A folder with sources in it is taken as source: an author edits these.
   */
  async #prebuilt(source: string): Promise<Loaded | undefined> {
    const listed = this.#listed(source)
    if (!listed) return undefined
    const { folder, entry } = listed
    const file = join(folder, basename(entry.file))
    const code = await codeIn(file).catch((error) => {
      throw new RtkError('RTK_ERR_PLUGIN_DIGEST', `${file}: ${messageOf(error)}`)
    })
    checkSize(code, source)
    const digest = createHash('sha256').update(code).digest('hex')
    if (digest !== entry.sha256) {
      throw new RtkError(
        'RTK_ERR_PLUGIN_DIGEST',
        `${file} has sha256 ${digest}, but its manifest lists ${entry.sha256}`,
      )
    }
    return { definition: evaluate(code, file, source), digest, inputs: [], code, file }
  }

  /** A plugin's manifest entry, and the folder of both. */
  #listed(source: string): { folder: string; entry: ManifestEntry } | undefined {
    const { base, builtIn } = this.#options
    const has = (folder: string) => isFile(join(folder, 'manifest.json'))
    const inFolder = (folder: string, wanted: (entry: ManifestEntry) => boolean) => {
      const entry = has(folder) ? readManifest(join(folder, 'manifest.json')).find(wanted) : undefined
      return entry && { folder, entry }
    }
    const ofFile = (path: string | undefined) =>
      path?.endsWith('.cjs') ? inFolder(dirname(path), ({ file }) => file === basename(path)) : undefined
    if (isPath(source)) {
      const path = resolve(base, source)
      if (isFile(path)) return ofFile(path)
      if (has(path)) return inFolder(path, () => true)
      return sourceIn(path) ? undefined : ofFile(mainOf(path))
    }
    const shipped = inFolder(builtIn, ({ name }) => name === source)
    if (shipped) return shipped
    if (shippedSource(builtIn, source)) return undefined
    return ofFile(packageMain(base, source))
  }

  #entryOf(source: string): string {
    const { base, builtIn } = this.#options
    if (isPath(source)) {
      const path = resolve(base, source)
      const entry = isFile(path) ? path : (sourceIn(path) ?? mainOf(path))
      if (entry) return entry
      throw new RtkError(
        'RTK_ERR_PLUGIN_NOT_FOUND',
        `no plugin at ${path}: neither a file, nor a folder with index.ts, manifest.json or a package.json that names its main file`,
      )
    }
    const entry = shippedSource(builtIn, source) ?? packageMain(base, source)
    if (entry) return entry
    throw new RtkError(
      'RTK_ERR_PLUGIN_NOT_FOUND',
      `no plugin "${source}": not shipped with rtk-base, and no npm package of that name below ${base}${didYouMean(source, this.#shipped())}`,
    )
  }

  /** Names of the shipped plugins. */
  #shipped(): string[] {
    const { builtIn } = this.#options
    const names = manifestNames(builtIn)
    return names.length > 0 ? names : [...shippedFolders(builtIn).keys()]
  }
}

/** The main file of a folder with a package.json. */
function mainOf(folder: string): string | undefined {
  if (!isFile(join(folder, 'package.json'))) return undefined
  return resolved(join(folder, 'package.json'), folder)
}

function packageMain(base: string, name: string): string | undefined {
  return resolved(join(base, 'variant.json'), name)
}

function resolved(from: string, id: string): string | undefined {
  try {
    return createRequire(from).resolve(id)
  } catch {
    return undefined
  }
}

/** More than that is not even read; `checkSize` refuses less. */
const largestFile_bytes = 64 << 20
const codeIn = async (file: string) => (await readPlain(file, largestFile_bytes)).toString('utf8')

/** Names in a folder's manifest, for a suggestion. */
function manifestNames(folder: string): string[] {
  try {
    const { plugins } = JSON.parse(readRecordSync(join(folder, 'manifest.json'))) as { plugins: ManifestEntry[] }
    return plugins.map(({ name }) => name)
  } catch {
    return []
  }
}

/** The name of a plugin's bundle before the plugin's name is known. */
function stemOf(source: string): string {
  const name = basename(source).replace(/\.[cm]?[jt]s$/, '')
  const stem = name === 'index' ? basename(dirname(source)) : name
  return (
    stem
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'plugin'
  )
}

/** At once: it is small, and read for each plugin of a start. */
function readManifest(file: string): ManifestEntry[] {
  try {
    const { plugins } = JSON.parse(readRecordSync(file)) as { plugins: ManifestEntry[] }
    return plugins
  } catch (error) {
    throw new RtkError('RTK_ERR_PLUGIN_DIGEST', `${file}: ${messageOf(error)}`)
  }
}

interface Compiling extends Module {
  _compile(code: string, file: string): void
}

/**
 * Runs the built or verified code, not the current content of a file. The module is in no cache and in no list of
 * children, so that only its definition keeps it alive.
 */
function evaluate(code: string, file: string, source: string): PluginDefinition {
  const module = new Module(file) as Compiling
  module.filename = file
  module.paths = createRequire(file).resolve.paths('package') ?? []
  try {
    during(source, 'load', () => module._compile(code, file))
  } catch (error) {
    throw new RtkError('RTK_ERR_PLUGIN_BUILD', `${source}: ${messageOf(error)}`, { cause: error })
  }
  const loaded: unknown = module.exports
  const definition = checkDefinition((loaded as { default?: unknown }).default ?? loaded, source)
  modules.set(definition, module)
  return definition
}

/** Node keeps the source map of a module as long as the module: stacks name sources while the definition lives. */
const modules = new WeakMap<PluginDefinition, Module>()

const isPlugin = (value: unknown): value is PluginDefinition =>
  typeof value === 'object' && value !== null && brand in value

/** @throws RTK_ERR_PLUGIN_INVALID, RTK_ERR_PLUGIN_API_RANGE */
export function checkDefinition(definition: unknown, source: string): PluginDefinition {
  const invalid = (reason: string) => new RtkError('RTK_ERR_PLUGIN_INVALID', `${source}: ${reason}`)
  if (!isPlugin(definition)) throw invalid('the default export did not come out of definePlugin()')
  const { name, version, api, setup } = definition
  if (typeof name !== 'string' || !nameRule.test(name)) throw invalid(`name "${name}" is not kebab-case`)
  if (typeof version !== 'string' || version === '') throw invalid(`${name} has no version`)
  if (typeof setup !== 'function') throw invalid(`${name} has no setup()`)
  if (typeof api !== 'string' || validRange(api) === null)
    throw invalid(`api "${api}" of ${name} is not a semver range`)
  if (!satisfies(apiVersion, api)) {
    throw new RtkError('RTK_ERR_PLUGIN_API_RANGE', `${name} ${version} is made for API ${api}, this is ${apiVersion}`)
  }
  return definition
}
