/** The report of CSRS-PPP (`.sum`). Pure. */
import { covarianceOf, type Determined, epochOf, frameOf, heightOf, problemOf } from './determined.js'

/** 95 % of a normal distribution. */
const sigmas95 = 1.96
/** In names of the IGS's products, such as `IGS0OPSFIN_20263310000_01D_15M_ORB.SP3`. */
const product = /\b[A-Z0-9]{7}(FIN|RAP|ULT|NRT)_\d{11}/
const products: Readonly<Record<string, string>> = {
  FIN: 'final',
  RAP: 'rapid',
  ULT: 'ultra-rapid',
  NRT: 'ultra-rapid',
}

/**
 * The position in a report: `POS X|Y|Z frame yy:ddd:sssss apriori estimate difference sigma95 correlations…`, where the rows of Y and Z have
 * the correlations with the axes before them. `ARP north east up`: the antenna reference point, from the submitted file.
 * @returns a text that says what is wrong with it
 */
export function readSum(text: string): Determined | string {
  // A pattern over all lines would take minutes for a report of empty ones.
  const lines = text.split(/\r?\n/).map((line) => line.trim().split(/\s+/))
  const rows = ['X', 'Y', 'Z'].map((axis) => lines.find((fields) => fields[0] === 'POS' && fields[1] === axis))
  const [first, second, third] = rows
  if (!first || !second || !third) return 'it has no position: lines POS X, POS Y, POS Z'
  const numbers = (column: number) => rows.map((row) => Number(row?.[column])) as [number, number, number]
  const [x, y, z] = numbers(5)
  const sigmas = numbers(7).map((sigma95) => sigma95 / sigmas95) as [number, number, number]
  const correlation = (field: string | undefined) => Number(field) || 0
  const correlations = [correlation(second[8]), correlation(third[8]), correlation(third[9])] as const
  // A row has its own correlation, 1, last; older reports have that alone.
  const isFull = second.length >= 10 && third.length >= 11
  const covariance = covarianceOf(sigmas, isFull ? correlations : undefined)
  const problem = problemOf({ x, y, z }, covariance)
  if (problem) return problem
  const named = (first[2] ?? '').toUpperCase()
  // Its epochs and accuracies stand in other columns.
  if (named.startsWith('NAD83')) return 'it is in NAD83: ask the service for ITRF, which the station converts'
  const frame = frameOf(named)
  if (typeof frame === 'object') return frame.problem
  const epoch = epochOf(first[3] ?? '')
  if (epoch === undefined) return `its epoch '${(first[3] ?? '').slice(0, 16)}' cannot be read`
  const arp = lines.find((fields) => fields[0] === 'ARP' && fields.length > 3)
  return {
    ...{ position: { x, y, z }, covariance, frame, epoch },
    height_m: heightOf(arp?.[3]),
    product: products[product.exec(text)?.[1] ?? ''],
  }
}
