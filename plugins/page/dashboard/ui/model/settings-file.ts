/** Settings as a file: what this station has set, and what a file would change here. Pure. */
import { nearest } from '../../../../../runtime/platform/nearest.js'
import type { Parameter } from '../station/api.js'

/** `t`: UTC seconds. `changes`: values by name, without secrets. */
export interface SettingsFile {
  readonly 'rtk-base': string
  readonly serial: string
  readonly t: number
  readonly changes: Readonly<Record<string, unknown>>
}

export interface LoadedSettings {
  /** The serial number of the station that saved it; '' unknown. */
  readonly serial: string
  /** Values that would change here, in the order of the parameters. */
  readonly changes: ReadonlyMap<string, unknown>
  /** Names that this station does not have, which the whole file is refused for; '' where none is near. */
  readonly unknown: readonly { readonly name: string; readonly meant: string }[]
  /** A file of this page has none: somebody wrote them into it. */
  readonly secrets: readonly string[]
}
export type SettingsReading = LoadedSettings | { readonly trouble: 'tooLarge' | 'unreadable' }

/** Bytes. All settings of a station take some 10 kB. */
export const mostFile = 500_000

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

export const settingsFile = (
  parameters: readonly Parameter[],
  of: { version: string; serial: string; t: number },
): SettingsFile => ({
  'rtk-base': of.version,
  serial: of.serial,
  t: of.t,
  changes: Object.fromEntries(
    parameters
      .filter((one) => !one.secret && one.value !== undefined && !isSame(one.value, one.default))
      .map(({ name, value }) => [name, value]),
  ),
})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Values are judged by the station, not here. */
export function readSettings(text: string, parameters: readonly Parameter[]): SettingsReading {
  if (text.length > mostFile) return { trouble: 'tooLarge' }
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return { trouble: 'unreadable' }
  }
  if (!isRecord(file) || typeof file['rtk-base'] !== 'string' || !isRecord(file.changes))
    return { trouble: 'unreadable' }
  const known = parameters.map(({ name }) => name)
  const wanted = new Map(Object.entries(file.changes))
  const changed = parameters.filter(
    ({ name, secret, value }) => !secret && wanted.has(name) && !isSame(value, wanted.get(name)),
  )
  return {
    serial: typeof file.serial === 'string' ? file.serial : '',
    changes: new Map(changed.map(({ name }) => [name, wanted.get(name)])),
    unknown: [...wanted.keys()]
      .filter((name) => !known.includes(name))
      .map((name) => ({ name, meant: nearest(name, known)[0] ?? '' })),
    secrets: parameters.filter(({ name, secret }) => secret && wanted.has(name)).map(({ name }) => name),
  }
}
