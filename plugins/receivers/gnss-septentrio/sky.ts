/** The satellites of an epoch: signals of MeasEpoch, those used of ChannelStatus, directions of SatVisibility. */
import type { ConstellationName, Satellite, SatelliteSignal } from 'rtk-base/services'
import type { Block } from './framing.js'

/** @see Septentrio mosaic reference guide, "Satellite ID and GLONASS frequency number": first, last, what is to be added */
const numbers: readonly [first: number, last: number, add: number, name: ConstellationName][] = [
  [1, 37, 0, 'gps'],
  [38, 61, -37, 'glonass'],
  [63, 68, -38, 'glonass'],
  [71, 106, -70, 'galileo'],
  [120, 140, 0, 'sbas'],
  [141, 180, -140, 'beidou'],
  [181, 187, -180, 'qzss'],
  [191, 197, -190, 'navic'],
  [198, 215, -57, 'sbas'],
  [216, 222, -208, 'navic'],
  [223, 245, -182, 'beidou'],
]

/** @see Septentrio mosaic reference guide, "Signal type" */
const signals: Readonly<Record<number, string>> = {
  ...{
    0: 'L1',
    1: 'L1',
    2: 'L2',
    3: 'L2',
    4: 'L5',
    5: 'L1',
    6: 'L1',
    7: 'L2',
    8: 'L1',
    9: 'L1',
    10: 'L2',
    11: 'L2',
    12: 'L3',
  },
  ...{
    13: 'B1C',
    14: 'B2a',
    15: 'L5',
    17: 'E1',
    19: 'E6',
    20: 'E5a',
    21: 'E5b',
    22: 'E5',
    24: 'L1',
    25: 'L5',
    26: 'L5',
    27: 'L6',
  },
  ...{ 28: 'B1I', 29: 'B2I', 30: 'B3I', 32: 'L1', 33: 'L1', 34: 'B2b', 38: 'L1', 39: 'L5' },
}
/** GPS P(Y): its C/N0 has no offset. */
const withoutOffset = new Set([1, 2])

function satelliteOf(id: number): Pick<Satellite, 'constellation' | 'satellite'> | undefined {
  const range = numbers.find(([first, last]) => id >= first && id <= last)
  return range && { constellation: range[3], satellite: id + range[2] }
}

/** Signals by satellite ID. A second block of a satellite has its other signals. */
function signalsOf({ view }: Block): Map<number, SatelliteSignal[]> {
  const bySatellite = new Map<number, SatelliteSignal[]>()
  if (view.byteLength < 20) return bySatellite
  const [count, size, sizeOfOthers] = [view.getUint8(14), view.getUint8(15), view.getUint8(16)]
  const signal = (type: number, info: number, cno: number): SatelliteSignal => {
    const number = (type & 0x1f) === 31 ? (info >> 3) + 32 : type & 0x1f
    const cno_dbhz = cno === 0xff ? 0 : cno / 4 + (withoutOffset.has(number) ? 0 : 10)
    const named = signals[number] ?? `signal ${number}`
    return { signal: named, cno_dbhz, residual_m: Number.NaN, locked: cno_dbhz > 0, used: false }
  }
  let at = 20
  for (let left = count; left > 0 && size >= 20 && at + size <= view.byteLength; left--) {
    const others = view.getUint8(at + 19)
    const own = bySatellite.get(view.getUint8(at + 2)) ?? []
    bySatellite.set(view.getUint8(at + 2), own)
    own.push(signal(view.getUint8(at + 1), view.getUint8(at + 18), view.getUint8(at + 15)))
    at += size
    for (let other = others; other > 0 && sizeOfOthers >= 12 && at + sizeOfOthers <= view.byteLength; other--) {
      own.push(signal(view.getUint8(at), view.getUint8(at + 5), view.getUint8(at + 2)))
      at += sizeOfOthers
    }
  }
  return bySatellite
}

const usedInPosition = 2

/** ChannelStatus: the satellite IDs of which a signal is used in the position. */
function usedOf({ view }: Block): Set<number> {
  const used = new Set<number>()
  if (view.byteLength < 20) return used
  const [count, size, sizeOfStates] = [view.getUint8(14), view.getUint8(15), view.getUint8(16)]
  let at = 20
  for (let left = count; left > 0 && size >= 12 && at + size <= view.byteLength; left--) {
    const id = view.getUint8(at)
    const states = view.getUint8(at + 9)
    at += size
    for (let state = states; state > 0 && sizeOfStates >= 8 && at + sizeOfStates <= view.byteLength; state--) {
      // Two bits a signal.
      for (let bits = view.getUint16(at + 4, true); bits > 0; bits >>= 2) {
        if ((bits & 3) === usedInPosition) used.add(id)
      }
      at += sizeOfStates
    }
  }
  return used
}

interface Direction {
  readonly azimuth_deg: number
  readonly elevation_deg: number
}

/** SatVisibility: directions by satellite ID, to a hundredth of a degree. */
function directionsOf({ view }: Block): Map<number, Direction> {
  const directions = new Map<number, Direction>()
  if (view.byteLength < 16) return directions
  const [count, size] = [view.getUint8(14), view.getUint8(15)]
  for (let at = 16, left = count; left > 0 && size >= 8 && at + size <= view.byteLength; left--, at += size) {
    const azimuth_deg = view.getUint16(at + 2, true) / 100
    const elevation_deg = view.getInt16(at + 4, true) / 100
    if (azimuth_deg <= 360 && Math.abs(elevation_deg) <= 90)
      directions.set(view.getUint8(at), { azimuth_deg, elevation_deg })
  }
  return directions
}

/** @param status of the same epoch, or undefined if that was lost */
export function satellitesOf(measured: Block, status: Block | undefined, visible: Block): Satellite[] {
  const seen = signalsOf(measured)
  const used = status ? usedOf(status) : new Set<number>()
  const directions = directionsOf(visible)
  return [...new Set([...seen.keys(), ...directions.keys()])].flatMap((id) => {
    const satellite = satelliteOf(id)
    if (!satellite) return []
    const own = seen.get(id) ?? []
    const cno_dbhz = Math.max(0, ...own.map((signal) => signal.cno_dbhz))
    const { azimuth_deg, elevation_deg } = directions.get(id) ?? {}
    const locked = cno_dbhz > 0
    return [{ ...satellite, azimuth_deg, elevation_deg, cno_dbhz, locked, used: used.has(id), signals: own }]
  })
}
