import { RtkError } from '../../errors.js'
import type { Listeners } from '../../gateway/net/index.js'
import type { DataFiles } from '../../platform/files/data-files.js'
import type { MetricRegistry } from '../../platform/metrics/index.js'
import { didYouMean } from '../../platform/nearest.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import type { ProcessPort } from '../../platform/ports/processes.js'
import type { Store } from '../../platform/store/store.js'
import type { Dispose, PublishOptions, PublishResult } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { ParameterRecord } from '../instance/registrations.js'

/** The parts of the runtime behind a plugin's `ctx`. */
export interface ContextHost {
  readonly serial: string
  readonly clock: Clock
  readonly store: Store
  parameterValue(record: ParameterRecord): unknown
  documentChanged(): void
  errorsChanged(): void
  publish(topic: string, payload: string | Buffer, options: PublishOptions): PublishResult
  findService(id: string, asker: Instance): unknown
  /** `call` never throws. */
  watchService(owner: Instance, id: string, call: (service: unknown) => unknown): Dispose
  utc_s(): number
  /** The service was asked to stop: what its plugins miss from now on is no news. */
  isStopping(): boolean
  readonly listeners: Listeners
  readonly processes: ProcessPort
  readonly network: NetworkPort
  readonly files: DataFiles
  readonly metrics: MetricRegistry
}

/** Registrations end with `setup`: the runtime checks and publishes them as one set. */
export function registering(instance: Instance, what: string): void {
  if (instance.inSetup) return
  throw new RtkError('RTK_ERR_LATE_REGISTRATION', `${instance.name}: ${what} after setup`)
}

/** Opening anything must wait for `start`: during `setup` the previous version still runs. */
export function opening(instance: Instance, what: string): void {
  if (instance.inSetup) throw new Error(`${what} in setup: open it in start`)
}

const kinds = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  list: 'a list',
  strings: 'a list of strings',
}

function kindOf(value: unknown): string {
  if (value === null || Number.isNaN(value)) return String(value)
  return Array.isArray(value) ? `a list with ${value.map((one) => typeof one).join(', ') || 'nothing'}` : typeof value
}

function isA(kind: keyof typeof kinds, value: unknown): boolean {
  if (kind === 'list') return Array.isArray(value)
  if (kind === 'strings') return Array.isArray(value) && value.every((one) => typeof one === 'string')
  return typeof value === kind && value !== null && !Number.isNaN(value)
}

/**
 * Plugins need not be type-checked: a value at the wrong place is told at load, not when it is used for the first time.
 * @param what names the argument in the message, as `command reset: its function`
 */
export function argument(what: string, value: unknown, kind: keyof typeof kinds): void {
  if (!isA(kind, value)) throw new Error(`${what} is ${kinds[kind]}, not ${kindOf(value)}`)
}

/** Checks the members of an object that may be left out. A misspelt one would be left out as well. */
export function members(what: string, value: object, known: Readonly<Record<string, keyof typeof kinds>>): void {
  argument(`${what}: its options`, value, 'object')
  for (const [name, one] of Object.entries(value)) {
    if (!Object.hasOwn(known, name)) throw new Error(`${what} has no ${name}${didYouMean(name, Object.keys(known))}`)
    if (one !== undefined) argument(`${what}: its ${name}`, one, known[name])
  }
}

/** A service is named by its token, not by a text. */
export function tokenOf(what: string, token: { readonly id: string }): void {
  if (typeof token?.id === 'string') return
  throw new Error(`${what} is named by its token (see defineService), not ${JSON.stringify(token)}`)
}

const nameRule = /^[A-Za-z0-9][A-Za-z0-9-]*$/
/** Field names of the document also have underscores: `gnss.state.want_corr`. */
const pathRule = /^[A-Za-z0-9][\w-]*(\.[A-Za-z0-9][\w-]*)*$/

/** A name that cannot be requested is a mistake of its author. */
export function named(instance: Instance, what: 'parameter' | 'command', name: string): void {
  registering(instance, `${what} ${name}`)
  argument(`${what}: its name`, name, 'string')
  if (!nameRule.test(name)) throw new Error(`${what} "${name}": a name has letters, digits and dashes`)
}

export function placed(instance: Instance, path: string): void {
  registering(instance, `block ${path}`)
  argument('block: its path', path, 'string')
  if (pathRule.test(path)) return
  throw new Error(
    `block "${path}": a path has names of letters, digits, dashes and underscores, with dots between them`,
  )
}
