import type { ModemSignal } from 'rtk-base/services'
import { Type } from 'typebox'

/** One entry every 5 min, for 24 h. */
export const step_ms = 300_000
const most = 288

const Entry = Type.Object({
  at_ms: Type.Number(),
  t: Type.Integer(),
  rssi: Type.Optional(Type.Integer()),
  rsrp: Type.Optional(Type.Integer()),
  rsrq: Type.Optional(Type.Integer()),
  sinr: Type.Optional(Type.Integer()),
})
type Entry = Type.Static<typeof Entry>

/** The entries for the next instance at a reload. */
export const HistoryEntries = Type.Array(Entry, { maxItems: most })

/** Signal readings of the last day. */
export class SignalHistory {
  readonly #clock: { now(): number; monotonic(): number }
  #entries: Entry[] = []

  constructor(clock: { now(): number; monotonic(): number }) {
    this.#clock = clock
  }

  /** @param signal undefined while it is not known: then nothing is noted */
  note(signal: ModemSignal | undefined): void {
    const signals = roundedSignal(signal)
    if (Object.keys(signals).length === 0) return
    this.#entries.push({ at_ms: this.#clock.monotonic(), t: Math.floor(this.#clock.now() / 1000), ...signals })
    if (this.#entries.length > most) this.#entries.shift()
  }

  /** Monotonic time continues over a reload of the plugin. */
  restore(entries: readonly Entry[]): void {
    this.#entries = [...entries]
  }

  get entries(): readonly Entry[] {
    const first_ms = this.#clock.monotonic() - most * step_ms
    return this.#entries.filter(({ at_ms }) => at_ms > first_ms)
  }

  /** `modem.history` */
  get block(): Omit<Entry, 'at_ms'>[] {
    return this.entries.map(({ at_ms: _, ...entry }) => entry)
  }
}

/** Known signal values, as whole numbers. */
export function roundedSignal(signal: ModemSignal | undefined): {
  rssi?: number
  rsrp?: number
  rsrq?: number
  sinr?: number
} {
  const { rssi_dbm: rssi, rsrp_dbm: rsrp, rsrq_db: rsrq, sinr_db: sinr } = signal ?? {}
  const known = Object.entries({ rssi, rsrp, rsrq, sinr }).filter(([, value]) => Number.isFinite(value))
  // Without the sign of a zero that was rounded up.
  return Object.fromEntries(known.map(([name, value]) => [name, Math.round(value as number) + 0]))
}
