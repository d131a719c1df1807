import type { TSchema } from 'typebox'
import type { Loaded } from '../../loader/load.js'
import { resolveOptions, type SetOption } from '../options.js'
import type { Entry, Step, Wanted } from './entry.js'

export interface SourcesDeps {
  /** @param check throws when the options of the variant do not fit the code */
  load(source: string, check: (loaded: Loaded) => void): Promise<Loaded>
  digest(source: string): Promise<string>
  /** Code that cannot be loaded now, of a plugin that stays. */
  unreadable(plugin: string, source: string): void
  /** Command-line options of a plugin with this option schema. */
  sets(plugin: string, schema: TSchema | undefined): readonly SetOption[]
  /** The sources of a plugin, for a watcher; empty when it was unloaded. */
  loaded(plugin: string, inputs: readonly string[]): void
  /** The files by which a plugin's code is known. */
  files(plugin: string, files: ReadonlySet<string>): void
  /** This source is no longer in use. */
  forgotten(source: string): void
}

/** Where the definitions and the options of plugins come from. */
export class Sources {
  readonly #deps: SourcesDeps

  constructor(deps: SourcesDeps) {
    this.#deps = deps
  }

  async fetch(wanted: Wanted): Promise<Loaded> {
    const { definition, source } = wanted
    return definition
      ? { definition: definition(), digest: '', inputs: [], code: '', file: '' }
      : this.#deps.load(source, (loaded) => void this.#options(wanted, loaded))
  }

  /** As `fetch`, for a plugin that stays when its code is bad. */
  async fetchFor(entry: Entry): Promise<Loaded> {
    return this.#read(entry, () => this.fetch(entry.wanted))
  }

  /** @throws RTK_ERR_PLUGIN_OPTIONS */
  step(entry: Entry, loaded: Loaded): Step {
    const { definition, digest } = loaded
    return { entry, definition, digest, options: this.#options(entry.wanted, loaded) }
  }

  #options({ source, options: given }: Wanted, { definition }: Loaded): Record<string, unknown> {
    const { name, options } = definition
    return resolveOptions(name, options, given, this.#deps.sets(name, options), ['plugins', source])
  }

  /**
   * From now on errors in these files are those of `entry`, and changes of them too.
   * @param before its name until now
   */
  own(entry: Entry, { inputs, file }: Loaded, before = entry.name): void {
    if (before !== entry.name) this.#deps.loaded(before, [])
    entry.files = new Set([...inputs, file])
    this.#deps.files(entry.name, entry.files)
    this.#deps.loaded(entry.name, inputs)
  }

  disown(entry: Entry): void {
    this.#deps.loaded(entry.name, [])
    if (!entry.wanted.definition) this.#deps.forgotten(entry.wanted.source)
  }

  async isChanged(entry: Entry): Promise<boolean> {
    const { wanted, digest } = entry
    return !wanted.definition && (await this.#read(entry, () => this.#deps.digest(wanted.source))) !== digest
  }

  async #read<T>(entry: Entry, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      this.#deps.unreadable(entry.name, entry.wanted.source)
      throw error
    }
  }
}
