/** What was told, as it is stored. Pure. */
import { Type } from 'typebox'
import { StoredNotice } from './channels/outbox.js'
import { StoredBatches } from './rules/batches.js'
import { Entry } from './rules/ledger.js'

/** Times of the members end with `_ms`: monotonic, of the service that has it. */
export interface State {
  readonly entries: readonly Entry[]
  readonly batches: StoredBatches
  readonly notices: readonly StoredNotice[]
}

export const StoredState = Type.Object({
  version: Type.Literal(1),
  /** Both at the moment of storing; 0: not known. */
  monotonic_ms: Type.Number(),
  utc_ms: Type.Number(),
  entries: Type.Array(Entry),
  batches: StoredBatches,
  notices: Type.Array(StoredNotice),
})
export type StoredState = Type.Static<typeof StoredState>

// ── the same at another monotonic time ──────────────────────────────────────────────────────────────────────────────

export const entryBy = (entry: Entry, by_ms: number): Entry => ({
  ...{ ...entry, at_ms: entry.at_ms + by_ms },
  ...(entry.told_ms !== undefined && { told_ms: entry.told_ms + by_ms }),
})

export const batchBy = <T extends { readonly begun_ms: number }>(batch: T, by_ms: number): T => ({
  ...batch,
  begun_ms: batch.begun_ms + by_ms,
})

export const noticeBy = (notice: StoredNotice, by_ms: number): StoredNotice => ({
  ...{ ...notice, made_ms: notice.made_ms + by_ms },
  deliveries: Object.fromEntries(
    Object.entries(notice.deliveries).map(([name, one]) => [name, { ...one, next_ms: one.next_ms + by_ms }]),
  ),
})

/**
 * The state with times of this service. Pure. A clock that was set back, or that is not known, counts as no time passed, so that nothing
 * is told twice.
 */
export function moved(stored: StoredState, monotonic_ms: number, utc_ms: number): State {
  const passed_ms = stored.utc_ms > 0 && utc_ms > 0 ? Math.max(0, utc_ms - stored.utc_ms) : 0
  const by_ms = monotonic_ms - stored.monotonic_ms - passed_ms
  const { batches, overflow, sent_ms } = stored.batches
  return {
    entries: stored.entries.map((entry) => entryBy(entry, by_ms)),
    batches: {
      batches: batches.map((batch) => batchBy(batch, by_ms)),
      sent_ms: sent_ms.map((time_ms) => time_ms + by_ms),
      ...(overflow && { overflow: batchBy(overflow, by_ms) }),
    },
    notices: stored.notices.map((notice) => noticeBy(notice, by_ms)),
  }
}
