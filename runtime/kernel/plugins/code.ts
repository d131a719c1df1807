import type { Logger } from 'pino'
import type { TSchema } from 'typebox'
import type { Loaded, Loader } from '../../loader/load.js'
import type { UpdatedPlugins } from '../../loader/plugin-updates.js'
import { SourceWatcher } from '../../loader/watch.js'
import type { Clock } from '../../platform/ports/clock.js'
import { resolveOptions, type SetOption } from '../options.js'
import type { Entry, Version, Wanted } from './entry.js'

export interface CodeDeps {
  log: Logger
  clock: Clock
  loader: Loader
  updates: UpdatedPlugins
  /** Tell of changes in the sources (development). */
  watch: boolean
  /** Command-line options of a plugin with this option schema. */
  sets(plugin: string, schema: TSchema | undefined): readonly SetOption[]
  /** The files by which a plugin's code is known. */
  files(plugin: string, files: ReadonlySet<string>): void
}

/** Where the code and the options of plugins come from: given definitions, the shipped plugins, sources, updates of one plugin. */
export class PluginCode {
  readonly #deps: CodeDeps
  readonly #watcher: SourceWatcher | undefined

  /** @param changed a plugin's sources are not what was loaded */
  constructor(deps: CodeDeps, changed: (plugin: string) => void) {
    this.#deps = deps
    this.#watcher = deps.watch ? new SourceWatcher(deps.clock, deps.log, changed) : undefined
  }

  async fetch(wanted: Wanted): Promise<Loaded> {
    const { definition, source } = wanted
    return definition
      ? { definition: definition(), digest: '', inputs: [], code: '', file: '' }
      : this.#deps.updates.load(source, (loaded) => void this.#options(wanted, loaded))
  }

  /** As `fetch`, for a plugin that stays when its code is bad. */
  async fetchFor(entry: Entry): Promise<Loaded> {
    return this.#read(entry, () => this.fetch(entry.wanted))
  }

  /** @throws RTK_ERR_PLUGIN_OPTIONS */
  versionOf({ wanted }: Entry, loaded: Loaded): Version {
    const { definition, digest } = loaded
    return { definition, digest, options: this.#options(wanted, loaded) }
  }

  /**
   * From now on errors in these files are those of `entry`, and changes of them too.
   * @param before its name until now
   */
  own(entry: Entry, { inputs, file }: Loaded, before = entry.name): void {
    if (before !== entry.name) this.#watcher?.drop(before)
    entry.files = new Set([...inputs, file])
    this.#deps.files(entry.name, entry.files)
    if (inputs.length > 0) this.#watcher?.set(entry.name, inputs)
    else this.#watcher?.drop(entry.name)
  }

  disown({ name, wanted }: Entry): void {
    this.#watcher?.drop(name)
    if (!wanted.definition) void this.#deps.loader.forget(wanted.source)
  }

  async isChanged(entry: Entry): Promise<boolean> {
    const { wanted, version } = entry
    if (wanted.definition) return false
    return (await this.#read(entry, () => this.#deps.loader.digest(wanted.source))) !== (version?.digest ?? '')
  }

  /** Ends the watch of the sources. */
  close(): void {
    this.#watcher?.close()
  }

  #options({ source, options: given }: Wanted, { definition }: Loaded): Record<string, unknown> {
    const { name, options } = definition
    return resolveOptions(name, options, given, this.#deps.sets(name, options), ['plugins', source])
  }

  /** Code that cannot be read now is watched all the same: of a plugin that stays, it will be corrected. */
  async #read<T>(entry: Entry, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      this.#watcher?.add(entry.name, this.#deps.loader.looked(entry.wanted.source))
      throw error
    }
  }
}
