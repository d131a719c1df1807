/** Places and lengths as people are shown them. Pure. */
import { ecefToGeodetic } from '../../../../../../runtime/lib/gnss/geodesy.js'
import type { Point } from '../../station/messages.js'

/** For a map application of the phone. */
export function geoLink(point: Point): string {
  const { lat, lon } = ecefToGeodetic(point)
  return `geo:${lat.toFixed(8)},${lon.toFixed(8)}`
}

/** For the scale of a plot: the largest of 1, 2 or 5 times a power of ten that is not above a value. */
export function roundBelow(value: number): number {
  if (!(value > 0)) return 0
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9)
  const first = value / power
  return power * (first >= 5 ? 5 : first >= 2 ? 2 : 1)
}

/** A length as a person says it: `2 cm`, `50 cm`, `10 m`. */
export function lengthText(metres: number): string {
  if (metres >= 1_000) return `${trimmed(metres / 1_000)} km`
  if (metres >= 1) return `${trimmed(metres)} m`
  if (metres >= 0.01) return `${trimmed(metres * 100)} cm`
  return `${trimmed(metres * 1_000)} mm`
}

const trimmed = (value: number) => String(Number(value.toPrecision(3)))
