import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { messageOf } from '../errors.js'
import type { Dispose } from '../plugin.js'
import type { Clock } from '../ports/clock.js'

const settle_ms = 100

/**
 * Watches the folders of a plugin's sources (development only) and calls `changed` once things have settled. Folders, not
 * files: editors replace files.
 */
export class SourceWatcher {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #changed: (plugin: string) => void
  readonly #watchers = new Map<string, FSWatcher[]>()
  readonly #settling = new Map<string, Dispose>()

  constructor(clock: Clock, log: Logger, changed: (plugin: string) => void) {
    this.#clock = clock
    this.#log = log
    this.#changed = changed
  }

  /** Replaces what is watched for one plugin. */
  set(plugin: string, inputs: readonly string[]): void {
    this.drop(plugin)
    const own = inputs.filter((input) => !input.includes('/node_modules/'))
    const folders = new Set(own.map((input) => dirname(input)))
    const watchers: FSWatcher[] = []
    for (const folder of folders) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#settle(plugin))
        watcher.on('error', (error) => this.#log.warn({ plugin, folder }, `no longer watched: ${messageOf(error)}`))
        watchers.push(watcher)
      } catch (error) {
        this.#log.warn({ plugin, folder }, `cannot be watched: ${messageOf(error)}; reload by hand`)
      }
    }
    this.#watchers.set(plugin, watchers)
  }

  drop(plugin: string): void {
    for (const watcher of this.#watchers.get(plugin) ?? []) watcher.close()
    this.#watchers.delete(plugin)
    void this.#settling.get(plugin)?.()
    this.#settling.delete(plugin)
  }

  close(): void {
    for (const plugin of [...this.#watchers.keys()]) this.drop(plugin)
  }

  #settle(plugin: string): void {
    void this.#settling.get(plugin)?.()
    this.#settling.set(
      plugin,
      this.#clock.timer(settle_ms, () => {
        this.#settling.delete(plugin)
        this.#changed(plugin)
      }),
    )
  }
}
