import type { PluginReport, PluginStateName } from '../../../schemas/services.js'
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

/** Code, with the options that it runs with. */
export interface Version {
  readonly definition: PluginDefinition
  readonly digest: string
  readonly options: Record<string, unknown>
}

/** A plugin that is wanted, whether it runs or not. */
export interface Entry {
  /** The definition's; until one was loaded, the source. */
  name: string
  readonly wanted: Wanted
  /** The one that runs, or that is started when it can. */
  version: Version | undefined
  /** The one that is about to replace it. */
  next: Version | undefined
  /** Source files and the evaluated one: an error with one of them in its stack is this plugin's. */
  files: ReadonlySet<string>
  state: PluginStateName
  reason: string
  instance: Instance | undefined
  /** Errors that its last instance reported when it stopped. */
  left: ErrorsLeft | undefined
  failures: number
  /** UTC seconds of the first of these failures. */
  failedAt_s: number
  /** The plugin failed because a file is where a folder is needed. */
  isFileInWay: boolean
  /** How long after the failure it is retried. */
  retry_s: number
  /** The start of the run that has not failed yet. */
  startedAt_ms: number | undefined
  retry: Dispose | undefined
}

export function newEntry(name: string, wanted: Wanted): Entry {
  return {
    name,
    wanted,
    version: undefined,
    next: undefined,
    files: new Set(),
    state: 'stopped',
    reason: '',
    instance: undefined,
    left: undefined,
    failures: 0,
    failedAt_s: 0,
    isFileInWay: false,
    retry_s: 0,
    startedAt_ms: undefined,
    retry: undefined,
  }
}

/** The version that will run when the change under way is done. */
export const nextOf = ({ next, version }: Entry): Version | undefined => next ?? version

export function edgesOf(version: Version | undefined): { needs: string[]; provides: string[] } {
  const { needs, provides } = version?.definition ?? {}
  return { needs: idsOf(needs), provides: idsOf(provides) }
}

/**
 * @param reason why it is in its state; while it runs, its own status line
 */
export function reportOf({ name, version, state, instance }: Entry, reason: string): PluginReport {
  return {
    name,
    version: version?.definition.version ?? '',
    state,
    reason: state === 'running' ? (instance?.statusText ?? '') : reason,
    ...edgesOf(version),
  }
}
