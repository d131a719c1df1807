import type { ConstellationName, Satellite, SatelliteSignal } from 'rtk-base/services'
import type { Sentence } from './sentences.js'

/** The numbers of a system that NMEA counts from elsewhere: from, to, and what is to be added. */
type Range = readonly [from: number, to: number, add: number, constellation: ConstellationName]

interface System {
  readonly ranges: readonly Range[]
  /** By the signal id of GSV, hexadecimal. */
  readonly signals: Readonly<Record<string, string>>
}

const gpsSignals = { 1: 'L1', 5: 'L2', 6: 'L2', 7: 'L5', 8: 'L5' }

/** By the talker of GSV and the system id of GSA. @see NMEA 0183 4.11, GSA and GSV; signals as an LG290P was recorded to send them */
const systems: Readonly<Record<string, System>> = {
  GP: {
    ranges: [
      [1, 32, 0, 'gps'],
      [33, 64, 87, 'sbas'],
    ],
    signals: gpsSignals,
  },
  GL: {
    ranges: [
      [65, 96, -64, 'glonass'],
      [1, 32, 0, 'glonass'],
    ],
    signals: { 1: 'L1', 3: 'L2' },
  },
  GA: {
    ranges: [[1, 36, 0, 'galileo']],
    signals: { 1: 'E5a', 2: 'E5b', 4: 'E6', 5: 'E6', 6: 'E1', 7: 'E1' },
  },
  GB: {
    ranges: [[1, 63, 0, 'beidou']],
    signals: { 1: 'B1I', 3: 'B1C', 5: 'B2a', 6: 'B2b', 8: 'B3I', B: 'B2I' },
  },
  GQ: {
    ranges: [
      [1, 10, 0, 'qzss'],
      [193, 202, 0, 'qzss'],
    ],
    signals: gpsSignals,
  },
}
const talkers = ['GP', 'GL', 'GA', 'GB', 'GQ']

interface Seen {
  azimuth_deg: number | undefined
  elevation_deg: number | undefined
  readonly name: ConstellationName
  readonly number: number
  readonly signals: SatelliteSignal[]
}

const whole = (text = '', most = 0) => (/^\d{1,3}$/.test(text) && Number(text) <= most ? Number(text) : undefined)

/** The satellites of an epoch from its GSV and GSA sentences. */
export class Sky {
  readonly #seen = new Map<string, Seen>()
  readonly #used = new Set<string>()
  #isHeard = false

  /** Takes a sentence if it is one of the two. */
  read([name = '', ...fields]: Sentence): void {
    if (name.endsWith('GSV')) this.#view(name.slice(0, 2), fields)
    else if (name.endsWith('GSA')) this.#using(fields)
  }

  /** The satellites since the last call; undefined without a GSV. */
  end(): Satellite[] | undefined {
    const satellites = [...this.#seen].map(([key, { name, number, signals, azimuth_deg, elevation_deg }]) => {
      const cno_dbhz = signals.reduce((most, signal) => Math.max(most, signal.cno_dbhz), 0)
      const used = this.#used.has(key)
      return {
        ...{ constellation: name, satellite: number, azimuth_deg, elevation_deg },
        ...{ cno_dbhz, locked: cno_dbhz > 0, used, signals },
      }
    })
    const isHeard = this.#isHeard
    this.#seen.clear()
    this.#used.clear()
    this.#isHeard = false
    return isHeard ? satellites : undefined
  }

  /** Number of sentences, number of this one, satellites; up to four times satellite, elevation, azimuth, C/N0; the signal. */
  #view(talker: string, fields: readonly string[]): void {
    const system = systems[talker]
    if (!system) return
    this.#isHeard = true
    const signal = (fields.length - 3) % 4 === 1 ? (fields.at(-1) ?? '') : ''
    for (let at = 3; at + 4 <= fields.length; at += 4) {
      const [number, elevation, azimuth, cno] = fields.slice(at, at + 4)
      const satellite = satelliteOf(system, number)
      if (!satellite) continue
      const seen = this.#seen.get(satellite.key) ?? {
        ...satellite,
        azimuth_deg: undefined,
        elevation_deg: undefined,
        signals: [],
      }
      this.#seen.set(satellite.key, seen)
      seen.elevation_deg ??= whole(elevation, 90)
      seen.azimuth_deg ??= whole(azimuth, 360)
      const cno_dbhz = whole(cno, 99) ?? 0
      if (cno_dbhz === 0) continue
      const named = system.signals[signal] ?? `signal ${signal.slice(0, 1)}`
      // The same again is of an epoch whose end was lost.
      if (seen.signals.some((other) => other.signal === named)) continue
      seen.signals.push({ signal: named, cno_dbhz, residual_m: Number.NaN, locked: true, used: false })
    }
  }

  /** Mode, fix, twelve satellites, three dilutions, the system. */
  #using(fields: readonly string[]): void {
    const system = systems[talkers[Number(fields[17]) - 1] ?? '']
    if (!system) return
    for (const number of fields.slice(2, 14)) {
      const satellite = satelliteOf(system, number)
      if (satellite) this.#used.add(satellite.key)
    }
  }
}

function satelliteOf({ ranges }: System, text = '') {
  const sentNumber = whole(text, 999)
  if (sentNumber === undefined) return undefined
  for (const [from, to, add, name] of ranges) {
    if (sentNumber >= from && sentNumber <= to)
      return { key: `${name} ${sentNumber + add}`, name, number: sentNumber + add }
  }
  return undefined
}
