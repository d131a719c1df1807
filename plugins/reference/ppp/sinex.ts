/** Positions in SINEX, the format of the geodetic services (SINEX 2.02). Pure. */
import { covarianceOf, type Determined, epochOf, frameOf, heightOf, problemOf } from './determined.js'

const axes = ['STAX', 'STAY', 'STAZ'] as const

/** An antenna this far beside its marker, metres, is not only above it. */
const beside_m = 0.0005

/** The name of a site, in a message. */
const shown = (site: string) => site.slice(0, 16)

interface Row {
  readonly index: number
  readonly site: string
  readonly epoch: string
  readonly value: number
  readonly sigma: number
}

/**
 * The position of one site. SINEX does not name its frame: whoever has the file knows it, from the report of the service.
 * @param site its code, four characters; '' if the file has one site only
 * @returns a text that says what is wrong with it
 */
export function readSinex(text: string, frameText: string, site = ''): Determined | string {
  const blocks = blocksOf(text)
  const estimates = blocks.get('SOLUTION/ESTIMATE') ?? []
  const rows = axes.map((axis) => estimates.filter((fields) => fields[1] === axis).map(rowOf))
  const sites = [...new Set(rows.flat().map((row) => row.site))]
  const chosen = site === '' && sites.length === 1 ? sites[0] : sites.find((one) => one === site.toUpperCase())
  if (chosen === undefined) {
    if (sites.length === 0) return 'it has no position: lines STAX, STAY, STAZ in SOLUTION/ESTIMATE'
    return `it has ${sites.length} sites, name one of them in site: ${sites.slice(0, 20).map(shown).join(', ')}`
  }
  const own = rows.map((axis) => axis.filter((row) => row.site === chosen))
  if (own.some((axis) => axis.length > 1)) return `it has several solutions for ${shown(chosen)}`
  const [x, y, z] = own.map(([row]) => row)
  if (!x || !y || !z) return `it has no complete position for ${shown(chosen)}`
  const position = { x: x.value, y: y.value, z: z.value }
  const sigmas = [x.sigma, y.sigma, z.sigma] as const
  const covariance = covarianceIn(blocks, [x, y, z]) ?? covarianceOf(sigmas)
  const problem = problemOf(position, covariance)
  if (problem) return problem
  const frame = frameOf(frameText)
  if (typeof frame === 'object') return frame.problem
  const epoch = epochOf(x.epoch)
  if (epoch === undefined) return `its epoch '${x.epoch.slice(0, 16)}' cannot be read`
  const [eccentricity] = (blocks.get('SITE/ECCENTRICITY') ?? []).filter(
    (fields) => fields[0] === chosen && fields[6] === 'UNE' && covers(fields, epoch),
  )
  const [north, east] = [Number(eccentricity?.[8] ?? 0), Number(eccentricity?.[9] ?? 0)]
  if (Math.hypot(north, east) > beside_m) return `the antenna of ${shown(chosen)} is not above its marker`
  return { position, covariance, frame, epoch, height_m: heightOf(eccentricity?.[7]) }
}

/** A file may have the antennas of years: from the epoch of the fifth field to that of the sixth, where `00:000:00000` is open. */
function covers(fields: readonly string[], epoch: number): boolean {
  const [from, to] = [epochOf(fields[4] ?? ''), epochOf(fields[5] ?? '')]
  return (from ?? Number.NEGATIVE_INFINITY) <= epoch && epoch <= (to ?? Number.POSITIVE_INFINITY)
}

export const isSinex = (text: string): boolean => text.startsWith('%=SNX')

/** Lines of each block, as fields. */
function blocksOf(text: string): Map<string, string[][]> {
  const blocks = new Map<string, string[][]>()
  let block: string[][] | undefined
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('+')) {
      block = []
      blocks.set(line.slice(1).trim(), block)
    } else if (line.startsWith('-')) block = undefined
    else if (line.startsWith(' ')) block?.push(line.trim().split(/\s+/))
  }
  return blocks
}

/** `index type code point solution epoch unit constraint value sigma`. */
const rowOf = (fields: readonly string[]): Row => ({
  index: Number(fields[0]),
  site: fields[2] ?? '',
  epoch: fields[5] ?? '',
  value: Number(fields[8]),
  sigma: Number(fields[9]),
})

/**
 * The covariance in the matrix of the file: covariances, or correlations with sigmas in the diagonal. Rows may hold up
 * to three columns.
 */
function covarianceIn(blocks: ReadonlyMap<string, string[][]>, rows: readonly [Row, Row, Row]) {
  for (const triangle of ['L', 'U']) {
    for (const kind of ['COVA', 'CORR'] as const) {
      const lines = blocks.get(`SOLUTION/MATRIX_ESTIMATE ${triangle} ${kind}`)
      if (!lines) continue
      const cells = new Map<string, number>()
      for (const [row, column, ...values] of lines) {
        values.slice(0, 3).forEach((value, at) => {
          const [low, high] = [Number(row), Number(column) + at].sort((a, b) => a - b)
          cells.set(`${low} ${high}`, Number(value))
        })
      }
      const cell = (one: Row, other: Row) =>
        cells.get(`${Math.min(one.index, other.index)} ${Math.max(one.index, other.index)}`) ?? 0
      const [x, y, z] = rows
      const [xx, yy, zz] = [cell(x, x), cell(y, y), cell(z, z)]
      const [xy, xz, yz] = [cell(x, y), cell(x, z), cell(y, z)]
      return kind === 'COVA' ? ([xx, xy, xz, yy, yz, zz] as const) : covarianceOf([xx, yy, zz], [xy, xz, yz])
    }
  }
  return undefined
}
