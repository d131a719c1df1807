import type { PluginReport, PluginStateName, StationError } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import { didYouMean } from '../../platform/nearest.js'
import { stationError } from '../../platform/standing-errors.js'
import type { PluginDefinition } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { Services } from '../services.js'
import { type Entry, edgesOf, nextOf, reportOf, type Version } from './entry.js'
import { dependents, startOrder } from './start-order.js'

/** Plugins in a possible order, and those without a place in it. */
export interface Sorted {
  readonly order: readonly Entry[]
  /** The missing services of each waiting plugin. */
  readonly waiting: ReadonlyMap<Entry, readonly string[]>
  readonly cycles: ReadonlyMap<Entry, RtkError>
}

/** The wanted plugins, their states, and who needs whom. Starts and stops nothing. */
export class PluginGraph {
  readonly #entries = new Map<string, Entry>()
  readonly #services: Pick<Services, 'find' | 'ownIds'>
  readonly #homes: Readonly<Record<string, string>>
  readonly #changed: () => void

  /**
   * @param homes service → shipped plugin that provides it
   * @param changed called after each change of a state
   */
  constructor(
    services: Pick<Services, 'find' | 'ownIds'>,
    homes: Readonly<Record<string, string>>,
    changed: () => void,
  ) {
    this.#homes = homes
    this.#services = services
    this.#changed = changed
  }

  // ── who is there ────────────────────────────────────────────────────────────────────────────────────────────────

  get entries(): Entry[] {
    return [...this.#entries.values()]
  }

  /** Instances that run or are about to, in load order. */
  get instances(): Instance[] {
    return this.entries.flatMap(({ instance }) => (instance ? [instance] : []))
  }

  find(name: string): Entry | undefined {
    return this.#entries.get(name)
  }

  /** Whether a plugin of this station provides this service, also while it does not run. */
  names(service: string): boolean {
    return this.entries.some((entry) => this.#providesOf(entry).includes(service))
  }

  /** Of code that could not be loaded or stays out of a start, the services of the shipped plugin of this name. */
  #providesOf({ name, version }: Entry): string[] {
    if (version) return edgesOf(version).provides
    return Object.keys(this.#homes).filter((id) => this.#homes[id] === name)
  }

  /** The running plugin to which the first of `files` belongs that belongs to one alone. */
  ownerOfFiles(files: readonly string[]): string | undefined {
    const running = this.entries.filter(({ instance }) => instance)
    for (const file of files) {
      const owners = running.filter((entry) => entry.files.has(file))
      if (owners.length === 1) return owners[0].name
    }
  }

  /** @throws RTK_ERR_NOT_LOADED */
  entry(name: string): Entry {
    const entry = this.#entries.get(name)
    if (!entry)
      throw new RtkError('RTK_ERR_NOT_LOADED', `no plugin ${name} is loaded${didYouMean(name, this.#entries.keys())}`)
    return entry
  }

  add(entry: Entry): void {
    this.#entries.set(entry.name, entry)
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry.name)
    this.#changed()
  }

  /** Code that could not be loaded before is known by its source until its own name is read. */
  rename(entry: Entry, { name }: PluginDefinition): void {
    if (entry.name === name) return
    if (entry.version) {
      throw new RtkError(
        'RTK_ERR_PLUGIN_INVALID',
        `${entry.name} now calls itself ${name}: unload it and load it again`,
      )
    }
    if (this.find(name)) {
      throw new RtkError('RTK_ERR_ALREADY_LOADED', `${entry.name} calls itself ${name}, and ${name} is loaded already`)
    }
    this.delete(entry)
    entry.name = name
    this.add(entry)
  }

  setState(entry: Entry, state: PluginStateName, reason: string): void {
    entry.state = state
    entry.reason = reason
    this.#changed()
  }

  wait(entry: Entry): void {
    this.setState(entry, 'waiting', '')
  }

  // ── what people are told ────────────────────────────────────────────────────────────────────────────────────────

  report(): PluginReport[] {
    return this.entries.map((entry) => this.reportOf(entry))
  }

  reportOf(entry: Entry): PluginReport {
    const reason = entry.state === 'waiting' ? `needs ${this.named(this.missing(entry))}` : entry.reason
    return { ...reportOf(entry, reason), provides: this.#providesOf(entry) }
  }

  /** Messages to a person: from running plugins, and about plugins that do not run. */
  troubles(): StationError[] {
    const raised = this.instances.flatMap(({ errors }) => errors.list())
    const down = this.entries.filter(({ state }) => state === 'failed' || state === 'quarantined')
    return [...raised, ...down.map(troubleOf)]
  }

  /** Services with the plugin that would provide each: `rtcm-stream (plugin rtcm, which is failed)`. */
  named(services: readonly string[]): string {
    const withHome = (id: string) => {
      const provider = this.entries.find(({ version }) => edgesOf(version).provides.includes(id))
      if (provider) return `${id} (plugin ${provider.name}, which is ${provider.state})`
      const home = Object.hasOwn(this.#homes, id) ? this.#homes[id] : undefined
      if (!home) return `${id} (no known plugin provides it)`
      const state = this.find(home) ? 'which does not run' : 'which this variant does not have'
      return `${id} (plugin ${home}, ${state})`
    }
    return services.map(withHome).join(', ')
  }

  // ── who needs whom ──────────────────────────────────────────────────────────────────────────────────────────────

  missing(entry: Entry): string[] {
    return edgesOf(entry.version).needs.filter((id) => this.#services.find(id) === undefined)
  }

  /** Running plugins that need what `entry` provides or will provide, directly or through others. */
  dependentsOf(entry: Entry): Entry[] {
    const nodes = this.entries
      .filter((other) => other !== entry && other.instance)
      .map((other) => ({ name: other.name, ...edgesOf(other.version), entry: other }))
    const services = [...edgesOf(entry.version).provides, ...edgesOf(entry.next).provides]
    return [...dependents(nodes, services)].map((node) => node.entry)
  }

  dependsOn(plugin: string, provider: string): boolean {
    const entry = this.find(provider)
    return entry !== undefined && this.dependentsOf(entry).some(({ name }) => name === plugin)
  }

  /** Entries that run, providers first. */
  running(entries: readonly Entry[]): Entry[] {
    const running = entries.filter(({ instance }) => instance)
    return [...this.sort(running, ({ version }) => version).order]
  }

  /** Orders plugins by their needs, given what is live besides them. @param of the version of each that counts */
  sort(entries: readonly Entry[], of: (entry: Entry) => Version | undefined = nextOf): Sorted {
    const mine = new Set(entries)
    const given = new Set(this.#services.ownIds)
    for (const entry of this.#entries.values()) {
      if (entry.instance && !mine.has(entry)) for (const id of edgesOf(entry.version).provides) given.add(id)
    }
    const nodes = entries.map((entry) => ({ name: entry.name, ...edgesOf(of(entry)), entry }))
    const sorted = startOrder(nodes, given)
    const entryOf = (name: string) => nodes.find((node) => node.name === name)?.entry as Entry
    const circle = (text: string) =>
      new RtkError('RTK_ERR_PLUGIN_CYCLE', `plugins need each other in a circle: ${text}`)
    return {
      order: sorted.order.map(({ entry }) => entry),
      waiting: new Map([...sorted.waiting].map(([name, needs]) => [entryOf(name), needs])),
      cycles: new Map([...sorted.cycles].map(([name, text]) => [entryOf(name), circle(text)])),
    }
  }
}

function troubleOf({ name, reason, failedAt_s, isFileInWay, retry_s }: Entry): StationError {
  const values = { plugin: name, reason, retry_s, _file: isFileInWay }
  return stationError('plugin-failed', values, { severity: 'silences', t: failedAt_s })
}
