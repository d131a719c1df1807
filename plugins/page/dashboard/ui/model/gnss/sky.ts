/** Data of a sky plot. Pure. */
import type { SkySatellite } from '../../station/messages.js'

export const systems = ['gps', 'galileo', 'glonass', 'beidou', 'qzss'] as const
export type System = (typeof systems)[number] | 'other'

/** The letter of a constellation in RINEX. */
const letters: Readonly<Record<string, string>> = {
  gps: 'G',
  galileo: 'E',
  glonass: 'R',
  beidou: 'C',
  qzss: 'J',
  sbas: 'S',
  navic: 'I',
}

export const systemOf = (name: string): System => systems.find((one) => one === name) ?? 'other'
export const letterOf = (name: string): string => letters[name] ?? '?'
export const nameOf = ({ sys, id }: SkySatellite): string => `${letterOf(sys)}${String(id).padStart(2, '0')}`

/** North is up, the zenith in the middle. @param radius of the horizon */
export function project(az_deg: number, el_deg: number, radius: number): { x: number; y: number } {
  const r = (radius * (90 - el_deg)) / 90
  const az = (az_deg * Math.PI) / 180
  return { x: r * Math.sin(az), y: -r * Math.cos(az) }
}

/** The area grows with C/N0 above 20 dB-Hz, below which nothing can be used. */
export function dotRadius(cno: number, largest = 15): number {
  const share = Math.max(0, Math.min(1, (cno - 20) / 30))
  return largest * Math.sqrt(0.25 + 0.75 * share)
}

/** The outline of a cell of azimuth and elevation, as an SVG path. */
export function cellPath(az_deg: number, el_deg: number, size_deg: number, radius: number): string {
  const point = (az: number, el: number) => {
    const { x, y } = project(az, el, radius)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  }
  const arc = (el: number) => ((radius * (90 - el)) / 90).toFixed(1)
  const [az, el] = [az_deg + size_deg, el_deg + size_deg]
  const [outer, inner] = [arc(el_deg), arc(el)]
  return `M${point(az_deg, el_deg)}A${outer} ${outer} 0 0 1 ${point(az, el_deg)}L${point(az, el)}A${inner} ${inner} 0 0 0 ${point(az_deg, el)}Z`
}

/** How bright a cell is, 0 to 4: nothing received, to as good as it gets. */
export function shadeOf(cno: number): number {
  if (cno < 10) return 0
  if (cno < 25) return 1
  if (cno < 35) return 2
  return cno < 42 ? 3 : 4
}

export const bands = ['L1', 'L2', 'L5', 'L6'] as const
export type Band = (typeof bands)[number]

/** The input of the receiver in which a signal lies. */
export function bandOf(signal: string): Band | undefined {
  if (/^(L1|E1|B1)/.test(signal)) return 'L1'
  if (/^(L5|E5a|B2a)/.test(signal)) return 'L5'
  if (/^(L6|E6|B3)/.test(signal)) return 'L6'
  return /^(L2|E5b|B2)/.test(signal) ? 'L2' : undefined
}

export interface Bar {
  readonly key: string
  readonly name: string
  readonly signal: string
  readonly sys: System
  readonly cno: number
  readonly used: boolean
}

/** The signals of each band in the order of their satellites; bands without any are left out. */
export function barsOf(satellites: readonly SkySatellite[]): readonly (readonly [Band, readonly Bar[]])[] {
  const all = satellites.flatMap((satellite) =>
    satellite.signals.map(({ name: signal, cno, used }) => ({
      band: bandOf(signal),
      bar: {
        key: `${nameOf(satellite)} ${signal}`,
        name: nameOf(satellite),
        signal,
        sys: systemOf(satellite.sys),
        cno,
        used,
      },
    })),
  )
  return bands
    .map((band) => [band, all.filter((one) => one.band === band).map(({ bar }) => bar)] as const)
    .filter(([, bars]) => bars.length > 0)
}
