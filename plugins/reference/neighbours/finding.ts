/** Finding about this station's position from the vectors of the last hours. Pure. */
import { causesOf, judgeNet, laterThan, leastOpposing, mostAntennas_m, type NetReason } from 'rtk-base/baseline'
import type { FrameName } from 'rtk-base/gnss'
import type { Ecef, Enu, ErrorValues, NeighbourEffect, NeighbourState } from 'rtk-base/services'
import { netVector, sizeOf, type Vector } from './vector.js'

/** Not a name that a neighbour can have. */
const own = ''

export interface Compared {
  readonly name: string
  readonly arp: Ecef
  readonly vectors: readonly Vector[]
}

export interface Finding {
  readonly state: NeighbourState
  readonly text: string
  readonly cause: string
  /** True minus announced position of this station, metres; zero unless it contradicts or agrees. */
  readonly offset: Enu
  readonly values: ErrorValues
  /** Neighbours that agree with each other against the position, by name. */
  readonly against: readonly string[]
  /** When the newest vector of each of these was measured, monotonic milliseconds. */
  readonly measured: readonly Measured[]
  /** The offset may come from antennas or frames that differ: no reason to send nothing. */
  readonly isExplained: boolean
  /** The offset is within the accuracy that is stated for the position. */
  readonly isStated: boolean
}

export type Measured = Pick<Vector, 'at_ms' | 'status'>

export type EffectSetting = 'note' | 'degraded' | 'hold'

const nothing: Enu = { east: 0, north: 0, up: 0 }
/** A neighbour's own offset of this size is reported, although only the other neighbours decide. Metres. */
const noted = { least_m: 0.05, sigmas: 4 }

const unknowns: Partial<Record<NetReason, string>> = {
  'no-vectors': 'no neighbour was compared yet',
  imprecise: 'the comparisons are not precise enough',
  antennas: 'only the height is off, by less than two antenna models can differ',
  'no-reference': 'no neighbour can confirm the position: they are within 20 m, or doubtful themselves',
  'too-few': 'only one neighbour contradicts the position: at least two are needed',
  'no-majority': 'the neighbours that confirm the position are not more than those that contradict it',
}

/** Position of the station as it announces it. */
export interface Announced {
  readonly arp: Ecef
  /** 3D, 1 sigma, metres; undefined: unknown. */
  readonly acc_m?: number | undefined
  readonly frame?: FrameName | undefined
}

/** @param year of now, decimal */
export function findingOf({ arp, acc_m, frame }: Announced, neighbours: readonly Compared[], year: number): Finding {
  const compared = neighbours.filter(({ vectors }) => vectors.length > 0)
  const bases = [{ id: own, arp }, ...compared.map(({ name, arp }) => ({ id: name, arp }))]
  const vectors = compared.flatMap(({ name, vectors }) => vectors.map((vector) => netVector(own, name, vector)))
  const judged = judgeNet(bases, vectors).get(own)
  const common = {
    cause: '',
    offset: nothing,
    values: {},
    against: [],
    measured: [],
    isExplained: false,
    isStated: false,
  }
  if (!judged || judged.state === 'unknown') {
    const reason = judged?.reason ?? 'no-vectors'
    const isAlone = compared.length === 1 && isOff(compared[0]?.vectors.at(-1))
    const text =
      unknowns[isAlone ? 'too-few' : reason] ?? 'the neighbours contradict each other: which one is wrong is not known'
    return { ...common, state: 'unknown', text }
  }
  const { offset, sigma } = judged
  const counted = compared.filter(({ name }) => !judged.leftOut.includes(name))
  if (judged.state === 'agrees') {
    const text = `the position is confirmed by ${judged.vectors} of ${compared.length} compared neighbours`
    return { ...common, state: 'agrees', offset, text }
  }
  const byRanges = counted.flatMap(({ vectors }) => vectors.at(-1)?.displaced.from ?? [])[0]
  const others = compared.map(({ name, arp, vectors }) => ({ id: name, arp, byRanges: vectors.at(-1)?.displaced.to }))
  const datum = frame && { datum: { frame } }
  const evidence = { id: 'this station', arp, byRanges, offset, sigma, accuracy_m: acc_m, now: year, others }
  const causes = causesOf({ ...evidence, ...datum })
  const [cause] = causes
  const against = counted.filter(({ vectors }) => shows(offset, vectors.at(-1)))
  const isLevel = Math.hypot(offset.east, offset.north) < Math.max(0.03, 3 * Math.hypot(sigma.east, sigma.north))
  const values = {
    ...{ size_m: mm(sizeOf(offset)), east_m: mm(offset.east), north_m: mm(offset.north), up_m: mm(offset.up) },
    neighbours: counted.length,
  }
  return {
    ...{ state: 'contradicts', offset, values, isStated: cause?.kind === 'survey' },
    cause: cause?.kind ?? 'unexplained',
    text: causes.map(({ text }) => asClause(text)).join('; '),
    against: against.map(({ name }) => name),
    measured: against.flatMap(({ vectors }) => vectors.at(-1) ?? []).map(({ at_ms, status }) => ({ at_ms, status })),
    isExplained: causes.some(({ kind }) => kind === 'frame') || (isLevel && Math.abs(offset.up) < mostAntennas_m),
  }
}

/** Whether a vector shows this offset of the station, and not another one. */
function shows({ east, north, up }: Enu, vector: Vector | undefined): boolean {
  if (!vector || !isOff(vector)) return false
  const { local, sigma } = vector
  // East, north and up are those at the neighbour: 1 degree away at most.
  const turned_m = 0.02 * Math.hypot(east, north, up)
  const isSame = (one: number, of: number, sigma_m: number) =>
    Math.abs(one + of) <= turned_m + Math.max(noted.least_m, noted.sigmas * sigma_m)
  return (
    isSame(local.east, east, sigma.east) && isSame(local.north, north, sigma.north) && isSame(local.up, up, sigma.up)
  )
}

/** Whether a neighbour's announced position does not fit this station's. */
export function isOff(vector: Vector | undefined): boolean {
  if (!vector) return false
  const { local, sigma } = vector
  return (['east', 'north', 'up'] as const).some(
    (axis) => Math.abs(local[axis]) > Math.max(noted.least_m, noted.sigmas * sigma[axis]),
  )
}

/** How often at least two neighbours contradicted the position, by windows of their own. */
export interface Confirmation {
  /** Monotonic milliseconds of the first judgement that contradicts. */
  readonly since_ms: number
  /** By later windows, and by later windows with fixed vectors. */
  readonly isRepeated: boolean
  readonly isRepeatedFixed: boolean
}

const window_ms = 3_600_000

export function confirmed(
  before: Confirmation | undefined,
  { state, measured }: Pick<Finding, 'state' | 'measured'>,
  now_ms: number,
): Confirmation | undefined {
  if (state !== 'contradicts') return undefined
  if (!before) return { since_ms: now_ms, isRepeated: false, isRepeatedFixed: false }
  const later = laterThan({ since: before.since_ms, window: window_ms }, measured, ({ at_ms }) => at_ms)
  return {
    since_ms: before.since_ms,
    isRepeated: before.isRepeated || later.length >= leastOpposing,
    isRepeatedFixed: before.isRepeatedFixed || fixedOf(later) >= leastOpposing,
  }
}

const fixedOf = (measured: readonly Measured[]) => measured.filter(({ status }) => status === 'fixed').length

/**
 * Effect of a finding on the station. Vectors without integers may be wrong together in a storm of the ionosphere: they count when
 * they are repeated, and never to hold.
 */
export function effectOf(
  { state, isStated, isExplained, measured }: Finding,
  setting: EffectSetting,
  confirmation: Confirmation | undefined,
): NeighbourEffect {
  if (state !== 'contradicts') return 'none'
  if (setting === 'note' || isStated || measured.length < leastOpposing) return 'notes'
  if (setting === 'hold' && confirmation?.isRepeatedFixed && !isExplained) return 'holds'
  return fixedOf(measured) >= leastOpposing || confirmation?.isRepeated ? 'degrades' : 'notes'
}

/** A sentence as a part of another one. */
const asClause = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/, '')

const mm = (metres: number) => Math.round(metres * 1_000) / 1_000 + 0
