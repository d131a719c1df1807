import { gpsEpoch_unix_s, nearestTime, secondsPerWeek } from '../gnss-time.js'
import { BitReader } from './bits.js'
import { messageNumber } from './frame.js'
import { legacyConstellation } from './legacy.js'
import { constellationOf, gpsTow_ms, splitGlonassTime } from './msm.js'

const day_s = 86_400
const moscow_s = 3 * 3_600
/** Bits of the payload in front of the epoch time: message number and station ID (RTCM 10403.3, tables 3.5-2, 3.5-10, 3.5-78). */
const before = 24

/**
 * When the observations of a frame were made, UTC milliseconds. The messages only have the time of the week, or of the day (GLONASS
 * before MSM, or with an unknown day), so the time nearest to `near_ms` is taken.
 * @param leap_s GPS − UTC
 * @returns undefined: no observations (MSM, 1001–1004, 1009–1012), or too short
 */
export function epochUtc_ms(frame: Uint8Array, near_ms: number, leap_s: number): number | undefined {
  const type = messageNumber(frame)
  const constellation = constellationOf(type)
  const legacy = legacyConstellation(type)
  if (!constellation && !legacy) return undefined
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(before)
  const time = reader.uint(legacy === 'GLONASS' ? 27 : 30)
  if (reader.overrun) return undefined
  const ofDay = (moscow_ms: number) => nearestTime(moscow_ms / 1000 - moscow_s, day_s, near_ms / 1000) * 1000
  if (legacy === 'GLONASS') return ofDay(time)
  const tow_ms = gpsTow_ms(constellation ?? 'GPS', time, leap_s)
  if (tow_ms === undefined) return ofDay(splitGlonassTime(time).ms)
  return nearestTime(gpsEpoch_unix_s + tow_ms / 1000 - leap_s, secondsPerWeek, near_ms / 1000) * 1000
}
