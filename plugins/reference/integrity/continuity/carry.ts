/** Carrier phases that stayed in lock over an outage: whether the antenna is where it was. Pure. */
import {
  type Ephemeris,
  lockBroken,
  type ObservedEpoch,
  type ObservedSatellite,
  type ObservedSignal,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Difference, type Fitted, fitDisplacement, type Uncertain } from './fit.js'
import { type Bridging, dispersion, type EphemerisOf, expectedOf, pairOf } from './observed.js'

/** An epoch of a trusted base, with all that its phases are compared by. */
export interface Anchor extends ObservedEpoch<Bridging> {
  /** The reference, and its accuracy: 3D, 1 sigma, metres. */
  readonly arp: Ecef
  readonly acc_m: number
  readonly ephemerides: readonly Ephemeris[]
  /** Displacement over earlier outages that no position has checked; omitted: none. */
  readonly unchecked?: Unchecked
}

/**
 * A displacement that outages may have had since the antenna was last checked otherwise: each is within its limits, but many small ones
 * add up. Metres, and their variances: horizontally both axes together.
 */
export interface Unchecked {
  readonly east: number
  readonly north: number
  readonly up: number
  readonly level_m2: number
  readonly up_m2: number
}

/** Broadcast ephemerides are made for two hours on either side. */
export const longest_s = 7_200

/** Phases of two frequencies without the ionosphere: noise and multipath in the zenith. */
const phase_m = 0.015
/**
 * By how much the error of a broadcast orbit and clock changes within an hour: a quarter of a turn of its orbit errors, and the
 * noise of its clock. One ephemeris is used for both times.
 */
const drift_mph: Readonly<Record<Bridging, number>> = { GPS: 0.25, Galileo: 0.12, BeiDou: 0.3 }
/** The reference may be this far from where satellites see the antenna: its own frame, and what nobody checked. */
const place_m = 1.5
const zenith_m = 0.15
/** The weather, within an hour. */
const zenithChange_m = 0.03

/**
 * Lock times prove that a phase was not interrupted. Receivers count them up to a limit (u-blox: 64 s; MSM4 and 5: 524 s). Phases
 * without proof that all agree to centimetres were not interrupted either: a phase that begins again is off by what its range
 * errs, metres without ionosphere. The drift of the orbits blurs that.
 */
const demands = {
  proven: { satellites: 6, share: 0.7, redundancy: 2 },
  unproven: { satellites: 10, share: 0.8, redundancy: 5, longest_s: 900 },
  /** A move, which a person has to settle, needs more. */
  moved: { satellites: 8, share: 0.8, redundancy: 4 },
} as const
/** Slips that no indicator shows must not look like a move: then fewer satellites than this share agree with an antenna that stayed. */
const stillShare = 0.85
const still_m = 0.01

/** A displacement is a move if it exceeds this number of sigmas and the least distance. */
const move = { sigmas: 5, least_m: 0.1 } as const
/** The antenna stayed if the displacement, earlier outages and this number of sigmas are within the limit, horizontally and vertically. */
const stay = { sigmas: 3, most_m: 0.3 } as const

/** `stayed` undefined: unknown. */
export interface Carried {
  readonly stayed: boolean | undefined
  readonly fitted?: Fitted
  /** With the outages before. */
  readonly unchecked?: Unchecked
}
const unknown: Carried = { stayed: undefined }

/** @param ephemerisOf the newest, where the anchor has none */
export function carry(anchor: Anchor, now: ObservedEpoch<Bridging>, ephemerisOf: EphemerisOf): Carried {
  const away_s = now.at_s - anchor.at_s
  if (!(away_s > 0 && away_s <= longest_s)) return unknown
  const found = now.satellites.flatMap((satellite) => differenceOf(anchor, now, satellite, ephemerisOf) ?? [])
  const proven = found.filter(({ isProven }) => isProven)
  const hours = away_s / 3600
  const uncertain = {
    place_m: Math.max(place_m, anchor.acc_m),
    zenith_m,
    zenithChange_m: zenithChange_m * Math.sqrt(hours),
  }
  const { proven: firm, unproven: loose } = demands
  const byProof = proven.length >= firm.satellites ? fitDisplacement(proven, uncertain) : undefined
  if (byProof && meets(byProof, firm)) return judged(anchor, byProof, proven, uncertain)
  if (away_s > loose.longest_s || found.length < loose.satellites) return unknown
  const fitted = fitDisplacement(found, uncertain)
  return fitted && meets(fitted, loose) ? judged(anchor, fitted, found, uncertain) : unknown
}

function meets(fitted: Fitted, demand: { satellites: number; share: number; redundancy: number }): boolean {
  const { satellites, of, redundancy } = fitted
  return satellites >= demand.satellites && satellites >= demand.share * of && redundancy >= demand.redundancy
}

function judged(anchor: Anchor, fitted: Fitted, found: readonly Difference[], uncertain: Uncertain): Carried {
  const { level_m, up_m } = fitted.sigma
  const limit = (sigma_m: number) => Math.max(move.least_m, move.sigmas * sigma_m)
  const isAway = Math.hypot(fitted.east, fitted.north) > limit(level_m) || Math.abs(fitted.up) > limit(up_m)
  const unchecked = sumOf(anchor.unchecked, fitted)
  const answer = (stayed: boolean | undefined): Carried => ({ stayed, fitted, unchecked })
  if (isAway) {
    const still = fitDisplacement(found, { ...uncertain, displacement_m: still_m, scale: fitted.scale })
    const isExplained = still !== undefined && still.satellites >= stillShare * fitted.satellites
    return answer(!isExplained && meets(fitted, demands.moved) ? false : undefined)
  }
  return answer(isNear(unchecked) || undefined)
}

const isNear = ({ east, north, up, level_m2, up_m2 }: Unchecked) =>
  Math.hypot(east, north) + stay.sigmas * Math.sqrt(level_m2) <= stay.most_m &&
  Math.abs(up) + stay.sigmas * Math.sqrt(up_m2) <= stay.most_m

/** Outages err independently of each other. */
function sumOf(before: Unchecked | undefined, { east, north, up, sigma: { level_m, up_m } }: Fitted): Unchecked {
  return {
    east: (before?.east ?? 0) + east,
    north: (before?.north ?? 0) + north,
    up: (before?.up ?? 0) + up,
    level_m2: (before?.level_m2 ?? 0) + level_m ** 2,
    up_m2: (before?.up_m2 ?? 0) + up_m ** 2,
  }
}

function differenceOf(
  anchor: Anchor,
  now: ObservedEpoch<Bridging>,
  satellite: ObservedSatellite<Bridging>,
  newest: EphemerisOf,
): (Difference & { isProven: boolean }) | undefined {
  const { constellation } = satellite
  const same = (one: { constellation: string; satellite: number }) =>
    one.constellation === constellation && one.satellite === satellite.satellite
  const before = anchor.satellites.find(same)
  if (!before) return undefined
  const away_ms = (now.at_s - anchor.at_s) * 1000
  const earlier = ({ signal }: ObservedSignal) => before.signals.find((one) => one.signal === signal)
  const pair = pairOf(satellite, (one) => mayBeUnbroken(earlier(one), one, away_ms))
  if (!pair) return undefined
  const [p, q] = pair
  const ratio = dispersion(constellation, [p.signal, q.signal])
  const phaseOf = (one: ObservedSignal | undefined) => one?.phase_m ?? Number.NaN
  const withoutIonosphere = (first: number, second: number) => (ratio * first - second) / (ratio - 1)
  const measured_m =
    withoutIonosphere(phaseOf(p), phaseOf(q)) - withoutIonosphere(phaseOf(earlier(p)), phaseOf(earlier(q)))
  for (const ephemeris of [anchor.ephemerides.find(same), newest(constellation, satellite.satellite)]) {
    const from = expectedOf(anchor.arp, ephemeris, anchor.at_s, earlier(p)?.code_m ?? Number.NaN)
    const to = expectedOf(anchor.arp, ephemeris, now.at_s, p.code_m)
    if (!from || !to) continue
    const change_m = measured_m - (to.range_m - from.range_m)
    if (!Number.isFinite(change_m)) return undefined
    const noise_m = (phase_m * Math.SQRT2) / Math.sin((Math.min(from.elevation_deg, to.elevation_deg) * Math.PI) / 180)
    const turn = [0, 1, 2].map((axis) => to.sight[axis] - from.sight[axis]) as [number, number, number]
    return {
      ...{ constellation, sight: to.sight, turn, mapping: to.mapping, mappingChange: to.mapping - from.mapping },
      ...{ change_m, sigma_m: Math.hypot(noise_m, (drift_mph[constellation] * away_ms) / 3_600_000) },
      isProven: pair.every(({ lock }) => lock.from_ms >= away_ms),
    }
  }
  return undefined
}

/** Whether lock times allow that the phase was tracked all the time. The same indicator again may be the limit of the receiver. */
function mayBeUnbroken(before: ObservedSignal | undefined, now: ObservedSignal, away_ms: number): boolean {
  if (before?.phase_m === undefined || now.phase_m === undefined) return false
  const { from_ms } = now.lock
  return (from_ms === before.lock.from_ms && from_ms > 0) || !lockBroken(before.lock, now.lock, away_ms)
}
