import { setImmediate } from 'node:timers/promises'
import { constellationOf, decodeMsmHeader, Framer, gpsTow_ms, knownLeap_s } from 'rtk-base/gnss'
import { type Static, Type } from 'typebox'

/** The observations in a file of the archive. */
export const Contents = Type.Object({
  epochs: Type.Integer({ minimum: 0 }),
  /** The most frequent time between two, seconds; 0: unknown. */
  interval_s: Type.Number({ minimum: 0 }),
  /** Epochs that are missing between the first and the last one. */
  missing: Type.Integer({ minimum: 0 }),
  /** The longest time without an epoch, seconds. */
  gap_s: Type.Number({ minimum: 0 }),
})
export type Contents = Static<typeof Contents>

const week_ms = 604_800_000

/** GPS time of week of an MSM, ms; undefined for other frames, and for GLONASS, whose epochs have another time scale. */
export function epochTime_ms(frame: Uint8Array): number | undefined {
  const header = decodeMsmHeader(frame)
  const constellation = header && constellationOf(header.type)
  if (!header || !constellation || constellation === 'GLONASS') return undefined
  return gpsTow_ms(constellation, header.epochTime, knownLeap_s)
}

/** Counts the epochs of RTCM bytes. Leaves time for everything else in between. */
export async function contentsOf(pieces: AsyncIterable<Uint8Array>): Promise<Contents> {
  const intervals = new Map<number, number>()
  let last_ms: number | undefined
  let epochs = 0
  let gap_ms = 0
  let span_ms = 0
  const framer = new Framer({
    onFrame(frame) {
      const time_ms = frame.kind === 'rtcm' ? epochTime_ms(frame.bytes) : undefined
      if (time_ms === undefined || time_ms === last_ms) return
      epochs++
      // Over the end of the week.
      const interval_ms = last_ms === undefined ? 0 : (time_ms - last_ms + week_ms) % week_ms
      last_ms = time_ms
      if (interval_ms === 0 || interval_ms > week_ms / 2) return
      span_ms += interval_ms
      gap_ms = Math.max(gap_ms, interval_ms)
      if (intervals.size < 1_000) intervals.set(interval_ms, (intervals.get(interval_ms) ?? 0) + 1)
    },
  })
  for await (const piece of pieces) {
    framer.push(piece, 0)
    await setImmediate()
  }
  framer.flush()
  const [most] = [...intervals].sort(([, p], [, q]) => q - p)
  const interval_ms = most?.[0] ?? 0
  const missing = interval_ms === 0 ? 0 : Math.max(0, Math.round(span_ms / interval_ms) + 1 - epochs)
  return { epochs, interval_s: interval_ms / 1000, missing, gap_s: gap_ms / 1000 }
}
