/** Single plugins in another version than the bundle has them: on trial first, dropped by another bundle. */
import { basename, join } from 'node:path'
import type { PluginReport, PluginUpdates } from '../../schemas/services.js'
import { messageOf, RtkError } from '../errors.js'
import { syncFolder } from '../platform/files/durable-file.js'
import { readRecord } from '../platform/files/plain-file.js'
import type { Logger } from '../platform/log/log.js'
import type { Clock } from '../platform/ports/clock.js'
import type { StandingErrors } from '../platform/standing-errors.js'
import { mostTries } from '../platform/trial.js'
import type { Loaded } from './load.js'
import { type Update, UpdateIndex } from './update-index.js'
import { hold_ms, UpdateTrials } from './update-trials.js'

export interface PluginUpdatesDeps {
  /** Made at the first update. */
  folder: string
  /** Digest of the bundle that runs. */
  bundle: string
  /** The bundle is only on trial: it drops no updates, as the one before it may come back. */
  onTrial: boolean
  /** Loads the code of a place: a folder of an update, or a key of the variant. */
  load(place: string): Promise<Loaded>
  clock: Clock
  log: Logger
  errors: Pick<StandingErrors, 'while'>
  plugins(): {
    report(): PluginReport[]
    sourceOf(name: string): string | undefined
    reload(name: string): Promise<PluginReport>
  }
}

const codeOf = (name: string) => `plugin-update-${name}`
const lostCode = 'plugin-updates-lost'

/** Throws when the options of the variant do not fit the code. */
export type OptionsCheck = (loaded: Loaded) => void

export class UpdatedPlugins implements PluginUpdates {
  readonly #deps: PluginUpdatesDeps
  readonly #index: UpdateIndex
  readonly #trials: UpdateTrials
  /** The key of the plugin being replaced: its old version runs, so a new version that cannot be loaded is refused. */
  #installing: string | undefined

  constructor(deps: PluginUpdatesDeps) {
    this.#deps = deps
    this.#index = new UpdateIndex(deps.folder, deps.bundle, deps.log)
    this.#trials = new UpdateTrials({
      ...{ index: this.#index, clock: deps.clock, log: deps.log, plugins: () => deps.plugins() },
      isInstalling: (source) => this.#installing === source,
      giveUp: (source, reason) => this.#giveUp(source, reason),
    })
  }

  /**
   * Reads the stored updates, and counts the versions on trial. If the count cannot be stored, the version is not
   * loaded.
   */
  async begin(): Promise<void> {
    const { stored: found, lost } = await this.#index.read()
    // Where they cannot be known, the bundle's own versions run.
    if (lost !== undefined) this.#deps.errors.while(lostCode, { file: this.#index.path, reason: lost })
    if (!found) return
    const { bundle, onTrial, log } = this.#deps
    if (found.bundle !== bundle) {
      if (onTrial) return
      log.info(
        { plugins: Object.values(found.updates).map(({ name }) => name) },
        'another bundle: updates of single plugins are dropped',
      )
      await this.#index.save().then(
        () => this.#index.sweep(),
        (error) => log.error({ err: error }, messageOf(error)),
      )
      return
    }
    this.#index.use(found)
    const before = structuredClone(found)
    for (const [source, update] of Object.entries(found.updates)) {
      if (update.confirmed) this.#trials.expect(source)
      else if (update.tries < mostTries) update.tries++
      else this.#giveUp(source, `it was started ${mostTries} times and never ran for ${hold_ms / 1000} s`)
    }
    try {
      if (JSON.stringify(before) !== JSON.stringify(found)) await this.#index.save()
    } catch (error) {
      log.error(
        { err: error },
        `updates of plugins that are on trial are not loaded: they could not be counted (${messageOf(error)})`,
      )
      for (const [source, { confirmed }] of Object.entries(found.updates)) if (!confirmed) delete found.updates[source]
    }
    for (const [name, text] of Object.entries(found.failed)) this.#tellGivenUp(name, text)
    this.#trials.watch()
  }

  /**
   * Loads a plugin: its update, if one exists, can be loaded and accepts the variant's options. Otherwise the update is
   * given up, confirmed or not; then the version before it is loaded, in the end that of the bundle.
   * @param source its key in the variant
   * @throws what loading the bundle's own version throws
   */
  async load(source: string, check: OptionsCheck): Promise<Loaded> {
    for (;;) {
      const update = this.#index.updates[source]
      if (!update) return this.#deps.load(source)
      try {
        return await this.#loadUpdate(source, update, check)
      } catch (error) {
        if (this.#installing === source) throw error
        this.#giveUp(source, messageOf(error))
        await this.#index.saveOrTell()
      }
    }
  }

  async #loadUpdate(source: string, { name, folder, former }: Update, check: OptionsCheck): Promise<Loaded> {
    const { load } = this.#deps
    const at = (place: string) => join(this.#deps.folder, place)
    const loaded = await load(at(folder))
    if (loaded.definition.name !== name) {
      throw new RtkError('RTK_ERR_PLUGIN_INVALID', `its code is the plugin ${loaded.definition.name}`)
    }
    try {
      check(loaded)
    } catch (error) {
      // Options that the version before does not take either are a mistake in the variant, not of the update.
      const before = await load(former ? at(former.folder) : source).catch(() => undefined)
      if (before && fits(before, check)) throw error
    }
    return loaded
  }

  close(): void {
    this.#trials.close()
  }

  version(name: string): string {
    return (
      this.#deps
        .plugins()
        .report()
        .find((one) => one.name === name)?.version ?? ''
    )
  }

  async prepare(name: string): Promise<string> {
    this.#sourceOfName(name)
    return this.#index.prepare(name)
  }

  async abandon(folder: string): Promise<void> {
    await this.#index.abandon(folder)
  }

  async install(name: string, folder: string): Promise<{ version: string }> {
    const source = this.#sourceOfName(name)
    const version = await versionIn(folder, name)
    await syncFolder(folder)
    await syncFolder(this.#deps.folder)
    const old = this.#index.updates[source]
    const reason = this.#index.failed[name]
    // Only a confirmed version is worth returning to.
    const former = old?.confirmed ? { version: old.version, folder: old.folder } : old?.former
    // From here on the state of the plugin is not that of the new version.
    this.#installing = source
    try {
      this.#index.updates[source] = {
        name,
        version,
        folder: basename(folder),
        tries: 1,
        confirmed: false,
        ...(former && { former }),
      }
      delete this.#index.failed[name]
      try {
        await this.#index.save()
      } catch (error) {
        // Only this entry: others may have changed meanwhile.
        this.#index.put(source, old)
        if (reason !== undefined) this.#index.failed[name] = reason
        throw error
      }
      this.#index.prepared(folder)
      this.#trials.forget(source)
      try {
        await this.#deps.plugins().reload(name)
      } catch (error) {
        // The version before keeps running, and stays on trial if it was.
        this.#giveUp(source, messageOf(error), old)
        await this.#index.save()
        throw error
      }
    } finally {
      this.#installing = undefined
      this.#trials.watch()
    }
    this.#deps.errors.while(codeOf(name), false)
    this.#deps.errors.while(lostCode, false)
    return { version }
  }

  #sourceOfName(name: string): string {
    const source = this.#deps.plugins().sourceOf(name)
    if (source !== undefined) return source
    throw new RtkError('RTK_ERR_NOT_LOADED', `this station has no plugin ${name}, so it cannot be updated`)
  }

  /** Puts the version before back into the index. @param before default: the last one that was confirmed */
  #giveUp(source: string, reason: string, before?: Update): void {
    const { name, version, former: confirmed } = this.#index.updates[source] as Update
    const former = before ?? (confirmed && { name, ...confirmed, tries: 0, confirmed: true })
    this.#index.put(source, former)
    this.#trials.forget(source)
    const text = `${name} ${version} was given up: ${reason}; ${former ? `${former.version} runs again` : 'the one of the bundle runs again'}`
    this.#index.failed[name] = text
    this.#tellGivenUp(name, text)
  }

  #tellGivenUp(name: string, text: string): void {
    this.#deps.errors.while(codeOf(name), { plugin: name, reason: text })
  }
}

function fits(loaded: Loaded, check: OptionsCheck): boolean {
  try {
    check(loaded)
    return true
  } catch {
    return false
  }
}

/** The version in a prebuilt form. @throws RTK_ERR_PLUGIN_INVALID when it is not this plugin's alone */
async function versionIn(folder: string, name: string): Promise<string> {
  const text = await readRecord(join(folder, 'manifest.json')).catch(() => '{}')
  const { plugins = [] } = JSON.parse(text) as { plugins?: { name: string; version: string }[] }
  const [first, ...more] = plugins
  if (first?.name === name && more.length === 0) return first.version
  throw new RtkError(
    'RTK_ERR_PLUGIN_INVALID',
    `the image claims to be plugin ${name}, but lacks the prebuilt form of that plugin`,
  )
}
