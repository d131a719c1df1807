import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from 'pino'
import { messageOf } from '../errors.js'
import type { Clock } from '../platform/ports/clock.js'
import type { Dispose } from '../plugin.js'

const settle_ms = 100

interface Watched {
  readonly folders: Set<string>
  watchers: FSWatcher[]
  settling?: Dispose
}

/**
 * Watches the folders of a plugin's sources (development only) and calls `changed` once things have settled. Folders, not
 * files: editors replace files. A folder that is missing is waited for.
 */
export class SourceWatcher {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #changed: (plugin: string) => void
  readonly #plugins = new Map<string, Watched>()

  constructor(clock: Clock, log: Logger, changed: (plugin: string) => void) {
    this.#clock = clock
    this.#log = log
    this.#changed = changed
  }

  /** Replaces the watched files of one plugin. A file saved while it was being read is still reported. */
  set(plugin: string, inputs: readonly string[]): void {
    this.#plugins.get(plugin)?.folders.clear()
    this.add(plugin, inputs)
  }

  add(plugin: string, inputs: readonly string[]): void {
    const watched = this.#plugins.get(plugin) ?? { folders: new Set(), watchers: [] }
    this.#plugins.set(plugin, watched)
    for (const input of inputs) if (!input.includes('/node_modules/')) watched.folders.add(dirname(input))
    this.#arm(plugin, watched)
  }

  drop(plugin: string): void {
    const watched = this.#plugins.get(plugin)
    for (const watcher of watched?.watchers ?? []) watcher.close()
    void watched?.settling?.()
    this.#plugins.delete(plugin)
  }

  close(): void {
    for (const plugin of [...this.#plugins.keys()]) this.drop(plugin)
  }

  /** Anew each time: a watcher sticks to the folder that it was opened on, also when that was moved away or deleted. */
  #arm(plugin: string, watched: Watched): void {
    const before = watched.watchers
    watched.watchers = [...watched.folders].flatMap((folder) => this.#open(plugin, watched, folder) ?? [])
    // Closed last: events on their way to an old watcher reach the new one, as the system treats both as one.
    for (const watcher of before) watcher.close()
  }

  #open(plugin: string, watched: Watched, wanted: string): FSWatcher | undefined {
    let folder = wanted
    let next: string | undefined
    while (!existsSync(folder) && folder !== dirname(folder)) {
      next = basename(folder)
      folder = dirname(folder)
    }
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (next === undefined || name === next) this.#settle(plugin, watched)
      })
      watcher.on('error', (error) => this.#log.warn({ plugin, folder }, `no longer watched: ${messageOf(error)}`))
      return watcher
    } catch (error) {
      this.#log.warn({ plugin, folder }, `cannot be watched: ${messageOf(error)}; reload by hand`)
    }
  }

  #settle(plugin: string, watched: Watched): void {
    void watched.settling?.()
    watched.settling = this.#clock.timer(settle_ms, () => {
      watched.settling = undefined
      this.#arm(plugin, watched)
      this.#changed(plugin)
    })
  }
}
