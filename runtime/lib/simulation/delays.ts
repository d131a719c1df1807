/**
 * Delays between the geometric range and the measured one: the air, the ionosphere, and the clock of the satellite.
 * Smooth functions of place and time, so that receivers beside each other have the same.
 */
const radians = Math.PI / 180
const day_s = 86_400

/** Metres at an elevation: a dry part by height, and a wet part that follows the weather (mapping functions of Chao, 1974). */
export function trueTroposphere_m(elevation_deg: number, alt_m: number, t_s: number): number {
  const sine = Math.sin(elevation_deg * radians)
  const tangent = Math.tan(Math.max(0, elevation_deg) * radians)
  const weather = Math.sin((2 * Math.PI * t_s) / (2.7 * day_s))
  const dry_m = (2.29 + 0.02 * weather) * Math.exp(-alt_m / 8200)
  const wet_m = (0.15 - 0.08 * weather) * Math.exp(-alt_m / 2000)
  return dry_m / (sine + 0.00143 / (tangent + 0.0445)) + wet_m / (sine + 0.00035 / (tangent + 0.017))
}

const earthRadius_m = 6_371_000
const shell_m = 350_000

/** Metres on L1 at an elevation: 1.5 m in the zenith at night and 5 m in the afternoon, in a thin shell at 350 km. */
export function ionosphere_m(elevation_deg: number, lon_deg: number, t_s: number): number {
  const local_s = t_s + (lon_deg / 360) * day_s
  const afternoon = Math.max(0, Math.cos((2 * Math.PI * (local_s - 14 * 3600)) / day_s))
  const level = (earthRadius_m * Math.cos(elevation_deg * radians)) / (earthRadius_m + shell_m)
  return (1.5 + 3.5 * afternoon) / Math.sqrt(1 - level * level)
}

/** A satellite's clock minus system time: `offset_s + drift · t`, with `t` in seconds from `origin_gps_s`. */
export function satelliteClock(key: number): { readonly offset_s: number; readonly drift: number } {
  const part = (factor: number) => ((Math.imul(key + 1, factor) >>> 0) / 2 ** 32) * 2 - 1
  return { offset_s: 2e-4 * part(0x9e3779b1), drift: 2e-12 * part(0x85ebca6b) }
}
