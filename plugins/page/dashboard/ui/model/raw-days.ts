/** The raw data archive by day, as services want it. Pure. */

/** Answer of `GET /raw/files`. */
export interface RawFiles {
  readonly recording: boolean
  readonly notes: readonly { readonly t: number; readonly what: string }[]
  readonly files: readonly {
    readonly from: number
    readonly bytes: number
    readonly epochs?: number
    readonly interval?: number
  }[]
}

export interface RawDay {
  /** `2026-11-27`, UTC. */
  readonly day: string
  readonly from_s: number
  /** The number of finished hours. */
  readonly hours: number
  readonly bytes: number
  /** Something happened that makes a position of this day doubtful, or worthless. */
  readonly notes: readonly string[]
}

const day_s = 86_400

/** The newest first. */
export function rawDays({ files, notes }: RawFiles): RawDay[] {
  const days = new Map<number, { hours: number; bytes: number }>()
  for (const { bytes, epochs = 0, from, interval = 0 } of files) {
    const at = Math.floor(from / day_s) * day_s
    const day = days.get(at) ?? { hours: 0, bytes: 0 }
    days.set(at, { hours: day.hours + (epochs * interval) / 3_600, bytes: day.bytes + bytes })
  }
  return [...days]
    .sort(([p], [q]) => q - p)
    .map(([from_s, { bytes, hours }]) => ({
      ...{ day: new Date(from_s * 1000).toISOString().slice(0, 10), from_s, hours, bytes },
      notes: [
        ...new Set(notes.filter(({ t }) => Math.floor(t / 1000 / day_s) * day_s === from_s).map(({ what }) => what)),
      ],
    }))
}

const worthless: readonly string[] = ['moved', 'antenna-open', 'antenna-short']
const least_h = 4

/** Days that give a position: long enough, and without a move. */
export const usableDays = (files: RawFiles): RawDay[] =>
  rawDays(files).filter(({ hours, notes }) => hours >= least_h && !notes.some((note) => worthless.includes(note)))

/** Whether the last 24 hours give a position. */
export function isLastDayUsable({ files, notes }: RawFiles, now_s: number): boolean {
  const begin_s = now_s - day_s
  const recent = files.filter(({ from }) => from >= begin_s)
  const hours = recent.reduce((sum, { epochs = 0, interval = 0 }) => sum + (epochs * interval) / 3_600, 0)
  return hours >= least_h && !notes.some(({ t, what }) => t / 1000 >= begin_s && worthless.includes(what))
}

export const rawPresets = ['full', '30s', 'csrs-ppp', 'auspos', 'opus', 'ign'] as const
export type RawPreset = (typeof rawPresets)[number]

export const rinexLink = ({ from_s }: RawDay, preset: RawPreset, kind?: 'navigation'): string =>
  `/rinex?preset=${preset}&from=${from_s}&to=${from_s + day_s}${kind ? `&kind=${kind}` : ''}`
