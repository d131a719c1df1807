import type { PluginReport, PluginStateName } from '../../../schemas/services.js'
import type { App } from '../../gateway/http/app.js'
import type { Dispose, PluginDefinition } from '../../plugin.js'
import type { ErrorsLeft, Instance } from '../instance/instance.js'
import { idsOf } from '../instance/lifecycle.js'

/** A plugin the variant asks for. */
export interface Wanted {
  /** Shipped name, path or package; the key in the variant. */
  source: string
  options: Readonly<Record<string, unknown>>
  /** Given in the process instead of loaded (tests, embedding); asked again at each reload. */
  definition?: () => PluginDefinition
}

/** A plugin that is wanted, whether it runs or not. */
export interface Entry {
  /** The definition's; until one was loaded, the source. */
  name: string
  readonly wanted: Wanted
  definition: PluginDefinition | undefined
  digest: string
  /** Source files and the evaluated one: an error with one of them in its stack is this plugin's. */
  files: ReadonlySet<string>
  options: Record<string, unknown>
  state: PluginStateName
  reason: string
  instance: Instance | undefined
  /** Errors that its last instance reported when it stopped. */
  left: ErrorsLeft | undefined
  failures: number
  /** UTC seconds of the first of these failures. */
  failedAt_s: number
  /** How long after the failure it is retried. */
  retry_s: number
  /** Of the run that has not failed yet. */
  startedAt_ms: number | undefined
  retry: Dispose | undefined
}

/** A definition to be made live for an entry. */
export interface Step {
  readonly entry: Entry
  readonly definition: PluginDefinition
  readonly digest: string
  readonly options: Record<string, unknown>
}

/** Instances that were set up and checked, and the app that has their routes. */
export interface Staged {
  readonly instances: readonly Instance[]
  /** How many instances the app was built for. */
  readonly set: number
  readonly app: App
}

export function newEntry(name: string, wanted: Wanted): Entry {
  return {
    name,
    wanted,
    definition: undefined,
    digest: '',
    files: new Set(),
    options: {},
    state: 'stopped',
    reason: '',
    instance: undefined,
    left: undefined,
    failures: 0,
    failedAt_s: 0,
    retry_s: 0,
    startedAt_ms: undefined,
    retry: undefined,
  }
}

export function adopt({ entry, definition, digest, options }: Step): void {
  entry.definition = definition
  entry.digest = digest
  entry.options = options
}

export function stepOf(entry: Entry): Step {
  return { entry, definition: entry.definition as PluginDefinition, digest: entry.digest, options: entry.options }
}

export function edgesOf(definition: PluginDefinition | undefined): { needs: string[]; provides: string[] } {
  return { needs: idsOf(definition?.needs), provides: idsOf(definition?.provides) }
}

/**
 * @param reason why it is in its state; while it runs, its own status line
 */
export function reportOf({ name, definition, state, instance }: Entry, reason: string): PluginReport {
  return {
    name,
    version: definition?.version ?? '',
    state,
    reason: state === 'running' ? (instance?.statusText ?? '') : reason,
    ...edgesOf(definition),
  }
}
