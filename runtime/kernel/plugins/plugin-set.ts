import type { PluginStateName } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import { didYouMean } from '../../platform/nearest.js'
import type { PluginDefinition } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { idsOf } from '../instance/lifecycle.js'
import type { Services } from '../services.js'
import { type Entry, edgesOf, type Step, stepOf } from './entry.js'
import { dependents, startOrder } from './graph.js'

/** Steps in a possible order, and entries without a possible step. */
export interface Sorted {
  readonly order: readonly Step[]
  /** The missing services of each waiting entry. */
  readonly waiting: ReadonlyMap<Entry, readonly string[]>
  readonly cycles: ReadonlyMap<Entry, RtkError>
}

/** The wanted plugins, their states, and their dependencies. Changes only states. */
export class PluginSet {
  readonly #entries = new Map<string, Entry>()
  readonly #services: Services
  readonly #homes: Readonly<Record<string, string>>
  readonly #stateChanged: () => void

  /**
   * @param homes service → shipped plugin that provides it, for advice to a person
   */
  constructor(services: Services, homes: Readonly<Record<string, string>>, stateChanged: () => void) {
    this.#homes = homes
    this.#services = services
    this.#stateChanged = stateChanged
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
  }

  /** Code that could not be loaded before is known by its source until its own name is read. */
  rename(entry: Entry, { name }: PluginDefinition): void {
    if (entry.name === name) return
    if (entry.definition) {
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
    this.#stateChanged()
  }

  wait(entry: Entry): void {
    this.setState(entry, 'waiting', '')
  }

  /** The services that a waiting plugin lacks now. */
  needsOf(entry: Entry): string {
    return `needs ${this.named(this.missing(entry))}`
  }

  /** Services with the plugin that would provide each: `rtcm-stream (plugin rtcm, which is failed)`. */
  named(services: readonly string[]): string {
    const withHome = (id: string) => {
      const provider = this.entries.find(({ definition }) => idsOf(definition?.provides).includes(id))
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
    return idsOf(entry.definition?.needs).filter((id) => this.#services.find(id) === undefined)
  }

  /** Running plugins that need what `entry` provides or will provide, directly or through others. */
  dependentsOf(entry: Entry, next?: PluginDefinition): Entry[] {
    const nodes = this.entries
      .filter((other) => other !== entry && other.instance)
      .map((other) => ({ name: other.name, ...edgesOf(other.definition), entry: other }))
    const services = [...edgesOf(entry.definition).provides, ...edgesOf(next).provides]
    return [...dependents(nodes, services)].map((node) => node.entry)
  }

  /** Those of `entries` that run, providers first. */
  running(entries: readonly Entry[]): Entry[] {
    return this.sort(entries.filter(({ instance }) => instance).map(stepOf)).order.map(({ entry }) => entry)
  }

  /** Orders steps by their needs, given what is live besides them. */
  sort(steps: readonly Step[]): Sorted {
    const mine = new Set(steps.map(({ entry }) => entry))
    const given = new Set(this.#services.ownIds)
    for (const entry of this.#entries.values()) {
      if (entry.instance && !mine.has(entry)) for (const id of idsOf(entry.definition?.provides)) given.add(id)
    }
    const nodes = steps.map((step) => ({ name: step.entry.name, ...edgesOf(step.definition), step }))
    const sorted = startOrder(nodes, given)
    const entryOf = (name: string) => nodes.find((node) => node.name === name)?.step.entry as Entry
    const circle = (text: string) =>
      new RtkError('RTK_ERR_PLUGIN_CYCLE', `plugins need each other in a circle: ${text}`)
    return {
      order: sorted.order.map(({ step }) => step),
      waiting: new Map([...sorted.waiting].map(([name, needs]) => [entryOf(name), needs])),
      cycles: new Map([...sorted.cycles].map(([name, text]) => [entryOf(name), circle(text)])),
    }
  }
}
