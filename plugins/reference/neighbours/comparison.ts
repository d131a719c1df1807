/** When a neighbour is compared, and the comparison itself, which leaves the processor to others. */
import { type Baseline, type BaselineReason, baselineInSteps, type RecordedFrame } from 'rtk-base/baseline'
import { decodeEphemeris, distance, isEphemeris, messageNumber } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { Neighbour } from './neighbour.js'
import type { OwnBase } from './own-base.js'
import { farthest_m, sizeOf, type Vector } from './vector.js'

/** Epochs of 30 s in 20 min: shorter windows give no fixed vector. */
const leastEpochs = 40
const hour_s = 3_600
/** Work takes 4 ms, see `baselineInSteps`: a quarter of the processor at most. */
export const rest_ms = 12
/** Nearer than this, it is the same antenna, or one behind the same splitter. */
const same_m = 1
/** Vectors to one antenna differ by no more, or by four standard deviations. */
const apart_m = 0.05

/** Why a neighbour is not compared now; `''`: it can be. */
export function obstacleOf(neighbour: Neighbour, own: OwnBase, now_ms: number): string {
  const { arp, recording } = neighbour
  if (own.now_s() === undefined) return 'the time is not known'
  if (own.arp === undefined) return 'this station has no settled position'
  if (neighbour.isSilent(now_ms)) return 'nothing is received'
  if (neighbour.isUnsteady(now_ms))
    return 'its station ID or position keeps changing: do two bases share the mountpoint?'
  if (neighbour.isVirtual)
    return 'it is a virtual reference station (VRS), which its network computes: choose a real base'
  const uselessness = neighbour.uselessness(now_ms)
  if (uselessness !== '') return uselessness
  if (arp === undefined) return 'it has not sent its position (1005 or 1006) yet'
  const away_m = distance(own.arp, arp)
  if (away_m < same_m) return 'it is at the position of this station: is it its own stream?'
  if (away_m > farthest_m) return `too far: it is ${Math.round(away_m / 1_000)} km away, and 100 km is the limit`
  if (own.recording.epochs < leastEpochs || recording.epochs < leastEpochs) {
    const minutes = Math.ceil((leastEpochs - Math.min(own.recording.epochs, recording.epochs)) / 2)
    return `observations are collected for another ${minutes} min`
  }
  return ''
}

/** The place in the list of an earlier one that announces the same position; −1: there is none. */
export function twinOf(neighbour: Neighbour, all: readonly Neighbour[]): number {
  const { arp } = neighbour
  const before = all.slice(0, all.indexOf(neighbour))
  return arp ? before.findIndex((other) => other.arp && distance(other.arp, arp) < same_m) : -1
}

interface Witness {
  readonly arp: Ecef
  readonly vectors: readonly Vector[]
}

/**
 * Two streams of one base are not two witnesses: the more precise one counts. Those that announce one position, but are not at one
 * place, both count: one of them lies.
 */
export function withoutTwins<T extends Witness>(all: readonly T[]): T[] {
  const precision = ({ vectors }: T) => {
    const newest = vectors.at(-1)
    return newest ? sizeOf(newest.sigma) + (newest.status === 'fixed' ? 0 : 1_000) : Infinity
  }
  const chosen: T[] = []
  for (const one of [...all].sort((p, q) => precision(p) - precision(q)))
    if (!chosen.some((other) => distance(other.arp, one.arp) < same_m && isOnePlace(other, one))) chosen.push(one)
  return all.filter((one) => chosen.includes(one))
}

function isOnePlace(one: Witness, other: Witness): boolean {
  const [p, q] = [one.vectors.at(-1), other.vectors.at(-1)]
  if (!p || !q) return true
  return (['east', 'north', 'up'] as const).every(
    (axis) =>
      Math.abs(p.local[axis] - q.local[axis]) <= Math.max(apart_m, 4 * Math.hypot(p.sigma[axis], q.sigma[axis])),
  )
}

/** @param pause ends the comparison by rejecting */
export function compare(own: OwnBase, arp: Ecef, neighbour: Neighbour, pause: () => Promise<void>): Promise<Baseline> {
  const { frames, antenna } = own.recording.taken
  const theirs = neighbour.recording.taken
  const to = neighbour.arp as Ecef
  const others = { ...theirs, arp: to, frames: withoutKnown(theirs.frames, frames) }
  return baselineInSteps({ arp, frames, ...(antenna && { antenna }) }, others, pause)
}

/** The orbits of this station's receiver take precedence: those of a neighbour cannot replace them. */
export function withoutKnown(frames: readonly RecordedFrame[], own: readonly RecordedFrame[]): RecordedFrame[] {
  const newest_s = own.at(-1)?.now_s ?? 0
  const known = new Set(own.filter(({ now_s }) => newest_s - now_s < hour_s).map(satelliteOf))
  known.delete('')
  return frames.filter((frame) => !known.has(satelliteOf(frame)))
}

function satelliteOf({ frame, now_s }: RecordedFrame): string {
  if (!isEphemeris(messageNumber(frame))) return ''
  const ephemeris = decodeEphemeris(frame, now_s)
  return ephemeris ? `${ephemeris.constellation} ${ephemeris.satellite}` : ''
}

export const failureTexts: Readonly<Record<string, string>> = {
  'too-little': 'fewer than 5 common satellites, or less than 5 min of common observations',
  'one-frequency':
    'fewer than 5 satellites with the same two frequencies at both bases: switch on a second one that both have',
  contradicts: 'the observations of the two bases do not fit each other: check the antenna, or choose another base',
  'no-orbits': 'neither base sends the orbits of the satellites, and the receiver does not report them',
}
export const failureText = (reason: BaselineReason): string => failureTexts[reason] ?? `no vector was found (${reason})`
