/** The station's table of antennas (`GET /antennas`). */
import { api, Refused } from './api.js'

export interface AntennaEntry {
  /** IGS code, 20 characters. */
  readonly type: string
  readonly serial?: string
  /** The phase centre above the antenna reference point, by frequency. */
  readonly up_mm: Readonly<Record<string, number>>
}
export interface Antennas {
  readonly entries: readonly AntennaEntry[]
  readonly file?: { readonly name: string; readonly t: number; readonly count: number; readonly left_out: number }
  /** That of the station, by its settings. */
  readonly own?: AntennaEntry
}

const most = 20

/** Undefined: this station has no place for a table. */
export async function antennasWith(search: string, limit = most): Promise<Antennas | undefined> {
  try {
    return await api.get<Antennas>(`/antennas?search=${encodeURIComponent(search.slice(0, 40))}&limit=${limit}`)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/** Codes that contain a text, each once. */
export async function antennaCodes(text: string): Promise<readonly string[]> {
  const found = await antennasWith(text.trim())
  return [...new Set(found?.entries.map(({ type }) => type))]
}

/** The station's antenna and its table only. */
export const ownAntenna = (): Promise<Antennas | undefined> => antennasWith('', 1)
