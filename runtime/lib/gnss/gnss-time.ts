/** GPS time and UTC. The caller passes the leap seconds, which the receiver knows (NAV-TIMELS). */

/** 1980-01-06T00:00:00Z. */
export const gpsEpoch_unix_s = 315_964_800
export const secondsPerWeek = 604_800
/** GPS − UTC since 2017-01-01, for callers that have no newer value. */
export const knownLeap_s = 18

/** A time on the GPS time scale. */
export interface GpsTime {
  /** Full week number, not modulo 1024. */
  week: number
  /** Time of week, seconds, 0 ≤ tow < 604800. */
  tow_s: number
}

/** @param leap_s GPS − UTC */
export function gpsToUnix({ week, tow_s }: GpsTime, leap_s: number): number {
  return gpsEpoch_unix_s + week * secondsPerWeek + tow_s - leap_s
}

/** @param leap_s GPS − UTC */
export function unixToGps(unix_s: number, leap_s: number): GpsTime {
  const gps_s = unix_s - gpsEpoch_unix_s + leap_s
  const week = Math.floor(gps_s / secondsPerWeek)
  return { week, tow_s: gps_s - week * secondsPerWeek }
}

/**
 * GPS time as one number: seconds since 1980-01-06T00:00:00, without leap seconds. A double resolves 0.24 µs of it, in
 * which a satellite moves 1 mm.
 */
export function gpsSeconds({ week, tow_s }: GpsTime): number {
  return week * secondsPerWeek + tow_s
}

/**
 * The time nearest to `near_s` that differs from `time_s` by whole periods, e.g. to complete a truncated week number.
 */
export function nearestTime(time_s: number, period_s: number, near_s: number): number {
  return time_s + period_s * Math.round((near_s - time_s) / period_s)
}

/** UTC as the status document shows it: `YYYY-MM-DD_hh:mm:ss`, fractions cut off; '' for 0, an unknown time. */
export function formatTm(unix_s: number): string {
  if (!(unix_s > 0)) return ''
  return new Date(Math.floor(unix_s) * 1000).toISOString().slice(0, 19).replace('T', '_')
}
