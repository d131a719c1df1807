/** The delay of signals in the troposphere. */

const radians = Math.PI / 180

/** Sea level of the standard atmosphere: hPa, kelvin, and the relative humidity that is assumed. */
const sea = { pressure_hPa: 1013.25, temperature_K: 288.15, humidity: 0.6 }

/**
 * Slant delay of a standard atmosphere: the zenith delays of Saastamoinen (1972), each with its mapping function.
 * @param alt_m height above the ellipsoid
 * @returns metres
 */
export const troposphere_m = (elevation_deg: number, alt_m: number): number => troposphereAt(alt_m)(elevation_deg)

/** Delay by elevation for many satellites at one height. */
export function troposphereAt(alt_m: number): (elevation_deg: number) => number {
  const height_m = Math.min(Math.max(alt_m, -500), 9_000)
  const pressure_hPa = sea.pressure_hPa * (1 - 2.2557e-5 * height_m) ** 5.2568
  const temperature_K = sea.temperature_K - 6.5e-3 * height_m
  const vapour_hPa = 6.108 * sea.humidity * Math.exp((17.15 * temperature_K - 4684) / (temperature_K - 38.45))
  const dry_m = 0.0022768 * pressure_hPa
  const wet_m = 0.002277 * (1255 / temperature_K + 0.05) * vapour_hPa
  return (elevation_deg) => dry_m * dryMapping(elevation_deg, height_m) + wet_m * wetMapping(elevation_deg)
}

/**
 * Coefficients of Niell (1996, J. Geophys. Res. 101(B2)), tables 3 and 4: the yearly mean at 45° of latitude, and the
 * correction for the height.
 */
const niell = {
  dry: [1.2465397e-3, 2.9288445e-3, 63.721774e-3],
  height: [2.53e-5, 5.49e-3, 1.14e-3],
  wet: [5.8118019e-4, 1.4572752e-3, 4.3908931e-2],
} as const

function mapped(elevation_deg: number, [a, b, c]: readonly [number, number, number]): number {
  const sine = Math.sin(elevation_deg * radians)
  return (1 + a / (1 + b / (1 + c))) / (sine + a / (sine + b / (sine + c)))
}
/** The thinner air of higher places adds to the mapping, per kilometre. The model begins at 3°. */
const dryMapping = (elevation_deg: number, height_m: number) =>
  mapped(elevation_deg, niell.dry) + perKilometre(Math.max(3, elevation_deg)) * (height_m / 1_000)
const perKilometre = (elevation_deg: number) =>
  1 / Math.sin(elevation_deg * radians) - mapped(elevation_deg, niell.height)
/** The way through wet air at an elevation, in parts of that from the zenith. */
export const wetMapping = (elevation_deg: number): number => mapped(elevation_deg, niell.wet)
