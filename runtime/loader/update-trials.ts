/** Versions of plugins that have to prove themselves: new ones for a while, confirmed ones at each start. */
import type { PluginReport } from '../../schemas/services.js'
import { messageOf } from '../errors.js'
import type { Logger } from '../platform/log/log.js'
import type { Clock } from '../platform/ports/clock.js'
import { type Evidence, Trial } from '../platform/trial.js'
import type { Update, UpdateIndex } from './update-index.js'

/** A version is kept after running for this long. */
export const hold_ms = 60_000
const look_ms = 1_000

export interface UpdateTrialsDeps {
  index: UpdateIndex
  clock: Clock
  log: Logger
  plugins(): { report(): PluginReport[]; reload(name: string): Promise<PluginReport> }
  /** The new version is being started: the state of the plugin is not its state. */
  isInstalling(source: string): boolean
  /** Puts the version before back into the list. */
  giveUp(source: string, reason: string): void
}

export class UpdateTrials {
  readonly #deps: UpdateTrialsDeps
  /** The versions that are on trial, by their keys. */
  readonly #trials = new Map<string, Trial<Update>>()
  /** Keys of confirmed versions that have not run in this process yet. */
  readonly #unseen = new Set<string>()
  #cancel: () => unknown = () => {}
  #looking = false
  #closed = false

  constructor(deps: UpdateTrialsDeps) {
    this.#deps = deps
  }

  /** A confirmed version that this process has not seen running. */
  expect(source: string): void {
    this.#unseen.add(source)
  }

  /** The version is replaced by another one. */
  forget(source: string): void {
    this.#trials.delete(source)
    this.#unseen.delete(source)
  }

  close(): void {
    this.#closed = true
    void this.#cancel()
  }

  /** Looks again and again until all have proved themselves. To be called whenever the list has changed. */
  watch(): void {
    void this.#cancel()
    const isSettled = Object.values(this.#deps.index.updates).every(({ confirmed }) => confirmed)
    if (this.#closed || (isSettled && this.#unseen.size === 0)) return
    this.#cancel = this.#deps.clock.timer(look_ms, () => {
      void this.#look().finally(() => this.watch())
    })
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      for (const [source, update] of Object.entries(this.#deps.index.updates)) {
        // Its successor may have been installed while others were looked at, or may be starting: that is not its state.
        if (this.#deps.index.updates[source] !== update || this.#deps.isInstalling(source)) continue
        if (update.confirmed && !this.#unseen.has(source)) continue
        // A plugin that cannot be loaded is identified by its key.
        const report = this.#deps
          .plugins()
          .report()
          .find(({ name }) => name === update.name || name === source)
        if (update.confirmed) await this.#checkConfirmed(source, report)
        else await this.#checkTrial(source, update, report)
      }
    } catch (error) {
      this.#deps.log.error(
        { err: error },
        `an update of a plugin could not be checked: ${messageOf(error)}; it is tried again`,
      )
    } finally {
      this.#looking = false
    }
  }

  async #checkTrial(source: string, update: Update, report: PluginReport | undefined): Promise<void> {
    const outcome = this.#trialOf(source, update).look(evidenceOf(report))
    if (report && outcome === 'over') {
      this.#deps.giveUp(source, report.reason)
      await this.#deps.index.save()
      await this.#deps.plugins().reload(report.name)
    }
    if (outcome !== 'kept') return
    const { name, version, folder } = update
    this.#deps.index.updates[source] = { name, version, folder, tries: update.tries, confirmed: true }
    await this.#deps.index.save()
    this.#deps.log.info({ plugin: name, version }, 'the update is confirmed')
    await this.#deps.index.sweep()
  }

  #trialOf(source: string, update: Update): Trial<Update> {
    const known = this.#trials.get(source)
    if (known) return known
    const trial = new Trial<Update>({ clock: this.#deps.clock, hold_ms })
    trial.begin(update)
    trial.start()
    this.#trials.set(source, trial)
    return trial
  }

  /** The version ran before, so it gets the usual retries; if it still does not start, it is given up. */
  async #checkConfirmed(source: string, report: PluginReport | undefined): Promise<void> {
    if (report?.state === 'running') this.#unseen.delete(source)
    if (report?.state !== 'quarantined') return
    this.#deps.giveUp(source, report.reason)
    await this.#deps.index.saveOrTell()
    await this.#deps.plugins().reload(report.name)
  }
}

/** How the state of the plugin speaks for its version. */
function evidenceOf(report: PluginReport | undefined): Evidence {
  if (report?.state === 'running') return 'good'
  return report?.state === 'failed' || report?.state === 'quarantined' ? 'bad' : 'unknown'
}
