/** The vectors of a judgement in the forms that it needs, in small steps: there are 90,000 of 10,000 stations. */
import { setImmediate } from 'node:timers/promises'
import type { NetVector, Steps } from 'rtk-base/baseline'
import { distance } from 'rtk-base/gnss'
import type { Ecef, FleetStation } from 'rtk-base/services'
import type { StoredVector } from '../store/store.js'
import type { JudgedBase } from './regions.js'

/** The announced position is still the one of a vector. */
const same_m = 0.001

export const isAnnounced = (station: FleetStation | undefined, arp: Ecef): boolean =>
  station?.arp !== undefined && distance(station.arp, arp) <= same_m

/** Lets others have the processor. */
export const pause = (): Promise<void> => setImmediate()

type StationOf = (serial: string) => FleetStation | undefined

/** The vectors between the positions that are announced now. */
export function* announcedVectors(vectors: readonly StoredVector[], stationOf: StationOf): Steps<StoredVector[]> {
  const found: StoredVector[] = []
  for (const vector of vectors) {
    yield
    const { one, other, oneArp, otherArp } = vector
    if (isAnnounced(stationOf(one), oneArp) && isAnnounced(stationOf(other), otherArp)) found.push(vector)
  }
  return found
}

/** Vectors against the announced positions. @param vectors of `announcedVectors` */
export function* netVectors(vectors: readonly StoredVector[]): Steps<{ bases: JudgedBase[]; vectors: NetVector[] }> {
  const bases = new Map<string, JudgedBase>()
  const found: NetVector[] = []
  for (const { one, other, oneArp, otherArp, measured, covariance, heightDoubt_m } of vectors) {
    yield
    bases.set(one, { id: one, arp: oneArp })
    bases.set(other, { id: other, arp: otherArp })
    const offset = {
      x: measured.x - (otherArp.x - oneArp.x),
      y: measured.y - (otherArp.y - oneArp.y),
      z: measured.z - (otherArp.z - oneArp.z),
    }
    found.push({ from: one, to: other, offset, covariance, heightDoubt_m })
  }
  return { bases: [...bases.values()], vectors: found }
}

/** The vectors of each station, in the same order. */
export function* byStation(vectors: readonly StoredVector[]): Steps<Map<string, StoredVector[]>> {
  const found = new Map<string, StoredVector[]>()
  for (const vector of vectors) {
    yield
    for (const serial of [vector.one, vector.other]) {
      const own = found.get(serial)
      if (own) own.push(vector)
      else found.set(serial, [vector])
    }
  }
  return found
}
