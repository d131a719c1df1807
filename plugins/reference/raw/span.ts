/** Frames of a span of time out of the hours of the archive. */
import { Framer, gpsSeconds, knownLeap_s, nearestTime, secondsPerWeek, unixToGps } from 'rtk-base/gnss'
import type { Archive } from './archive.js'
import { epochTime_ms } from './contents.js'

/** UTC milliseconds → `gpsSeconds`. */
export const gpsOf = (utc_ms: number): number => gpsSeconds(unixToGps(utc_ms / 1000, knownLeap_s))

/** How late observations, or the clock, may be. */
const late_ms = 60_000

/**
 * The RTCM of a span. Messages without a time (ephemerides, positions) are those between its epochs.
 * @param from_ms UTC milliseconds, included
 * @param to_ms not included
 * @param signal ends it with an error
 */
export async function* framesBetween(
  archive: Archive,
  from_ms: number,
  to_ms: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const [from_s, to_s] = [gpsOf(from_ms), gpsOf(to_ms)]
  let near_s = from_s
  let isInside = false
  let found: Uint8Array[] = []
  const framer = new Framer({
    onFrame({ bytes, kind }) {
      const time_ms = kind === 'rtcm' ? epochTime_ms(bytes) : undefined
      if (time_ms !== undefined) {
        const time_s = nearestTime(time_ms / 1000, secondsPerWeek, near_s)
        isInside = time_s >= from_s - 0.0005 && time_s < to_s - 0.0005
      }
      if (isInside) found.push(bytes)
    },
  })
  // Files are by the time of arrival.
  for await (const { bytes, hour_ms } of archive.read(from_ms - late_ms, to_ms + late_ms)) {
    if (signal?.aborted) throw new Error('nobody waits for it any more')
    near_s = gpsOf(hour_ms)
    framer.push(bytes, 0)
    if (found.length === 0) continue
    yield Buffer.concat(found)
    found = []
  }
  framer.flush()
  if (found.length > 0) yield Buffer.concat(found)
}
