/**
 * Satellite directions from the ephemerides in an RTCM stream (1019, 1020, 1042, 1044-1046 of RTCM 10403.3), for captures
 * without NAV-SAT. Good to a few hundredths of a degree, which unit vectors need; light time and clocks are left out.
 * It is test support: the service has directions from its receiver.
 */
import { type Direction, msmSatellite, type Sky } from '../../../plugins/reference/integrity/phase/sky.js'
import { type Constellation, distance, enu, messageNumber } from '../../../runtime/lib/gnss/index.js'
import { BitReader } from '../../../runtime/lib/gnss/rtcm/bits.js'
import { type Field, readFields, reserved, signed, uint, unsigned } from '../../../runtime/lib/gnss/rtcm/layout.js'
import type { Ecef } from '../../../schemas/services.js'

const semicircle = (name: string, bits: number, shift: number) => signed(name, bits, 2 ** shift)

/** The Keplerian elements in their order on the wire; the widths of the harmonic terms and of the time differ. */
const elements = (harmonic: number, angle: number, length: number, toe: Field): readonly Field[] => [
  signed('crs_m', harmonic, 2 ** length),
  semicircle('deltaN', 16, 43),
  semicircle('m0', 32, 31),
  signed('cuc', harmonic, 2 ** angle),
  unsigned('e', 32, 2 ** 33),
  signed('cus', harmonic, 2 ** angle),
  unsigned('sqrtA', 32, 2 ** 19),
  toe,
  signed('cic', harmonic, 2 ** angle),
  semicircle('omega0', 32, 31),
  signed('cis', harmonic, 2 ** angle),
  semicircle('i0', 32, 31),
  signed('crc_m', harmonic, 2 ** length),
  semicircle('omega', 32, 31),
  semicircle('omegaDot', 24, 43),
]
const idot = semicircle('idot', 14, 43)
const gpsElements = elements(16, 29, 5, unsigned('toe_s', 16, 1 / 16))
const galileo = [
  uint('satellite', 6),
  reserved(12 + 10 + 8),
  idot,
  reserved(14 + 6 + 21 + 31),
  ...elements(16, 29, 5, unsigned('toe_s', 14, 1 / 60)),
]

const layouts: Record<number, readonly Field[]> = {
  1019: [
    uint('satellite', 6),
    reserved(10 + 4 + 2),
    idot,
    reserved(8 + 16 + 8 + 16),
    reserved(22 + 10),
    ...gpsElements,
  ],
  1042: [
    uint('satellite', 6),
    reserved(13 + 4),
    idot,
    reserved(5 + 17 + 11),
    reserved(22 + 24 + 5),
    ...elements(18, 31, 6, unsigned('toe_s', 17, 1 / 8)),
  ],
  1044: [uint('satellite', 4), reserved(16 + 8 + 16), reserved(22 + 8), ...gpsElements, idot],
  1045: galileo,
  1046: galileo,
}
const constellationOfEphemeris: Record<number, Constellation> = {
  1019: 'GPS',
  1020: 'GLONASS',
  1042: 'BeiDou',
  1044: 'QZSS',
  1045: 'Galileo',
  1046: 'Galileo',
}

/** Position, velocity and lunisolar acceleration; km. Signs and magnitudes on the wire. */
const glonassLayout = [
  uint('satellite', 6),
  reserved(5 + 1 + 1 + 2 + 12 + 1 + 1),
  /** Moscow time of day, quarters of an hour. */
  uint('tb', 7),
  ...['x', 'y', 'z'].flatMap((axis) => [uint(`${axis}Dot`, 24), uint(axis, 27), uint(`${axis}DotDot`, 5)]),
]

type Elements = Record<string, number>

/** Earth's gravity and rotation, WGS84. */
const mu = 3.986005e14
const rotation_radps = 7.2921151467e-5
const radians = Math.PI / 180
const halfWeek_s = 302_400
const beidouOffset_s = 14

/** Collects ephemerides, and tells where satellites stand. */
export class BroadcastOrbits {
  readonly #ephemerides = new Map<string, Elements>()

  readonly #leap_s: number

  constructor(leap_s: number) {
    this.#leap_s = leap_s
  }

  /** @param frame any verified RTCM frame */
  push(frame: Uint8Array): void {
    const type = messageNumber(frame)
    const constellation = constellationOfEphemeris[type]
    if (!constellation) return
    const reader = new BitReader(frame, 3, frame.length - 3)
    reader.uint(12)
    const values = readFields(reader, layouts[type] ?? glonassLayout) as Elements
    if (!reader.overrun) this.#ephemerides.set(`${constellation} ${values.satellite}`, values)
  }

  get size(): number {
    return this.#ephemerides.size
  }

  /** The sky above `arp` at a GPS time of week. */
  sky(arp: Ecef, tow_s: number): Sky {
    const known = new Map<string, Direction | undefined>()
    return (constellation, satellite) => {
      const key = `${constellation} ${satellite}`
      if (!known.has(key)) {
        const ephemeris = this.#ephemerides.get(key)
        known.set(key, ephemeris && directionFrom(arp, this.#position(constellation, ephemeris, tow_s)))
      }
      return known.get(key)
    }
  }

  /** The distance to a satellite, without light time; undefined without an ephemeris. */
  range_m(arp: Ecef, constellation: Constellation, satellite: number, tow_s: number): number | undefined {
    const ephemeris = this.#ephemerides.get(`${constellation} ${satellite}`)
    return ephemeris && distance(arp, this.#position(constellation, ephemeris, tow_s))
  }

  #position(constellation: Constellation, ephemeris: Elements, tow_s: number): Ecef {
    if (constellation === 'GLONASS') return glonassPosition(ephemeris, tow_s, this.#leap_s)
    const geostationary = constellation === 'BeiDou' && (ephemeris.satellite <= 5 || ephemeris.satellite >= 59)
    return keplerPosition(ephemeris, constellation === 'BeiDou' ? tow_s - beidouOffset_s : tow_s, geostationary)
  }
}

function directionFrom(arp: Ecef, satellite: Ecef): Direction {
  const { east, north, up } = enu(arp, satellite)
  const azimuth_deg = Math.atan2(east, north) / radians
  return {
    azimuth_deg: (azimuth_deg + 360) % 360,
    elevation_deg: Math.atan2(up, Math.hypot(east, north)) / radians,
  }
}

const wrap = (time_s: number, half_s: number) =>
  ((((time_s + half_s) % (2 * half_s)) + 2 * half_s) % (2 * half_s)) - half_s

/** IS-GPS-200, table 20-IV; BeiDou's geostationary satellites by its ICD 5.2.4.12. */
function keplerPosition(k: Elements, tow_s: number, geostationary: boolean): Ecef {
  const t = wrap(tow_s - k.toe_s, halfWeek_s)
  const a = k.sqrtA ** 2
  const m = k.m0 * Math.PI + (Math.sqrt(mu / a ** 3) + k.deltaN * Math.PI) * t
  let anomaly = m
  for (let round = 0; round < 10; round++) anomaly = m + k.e * Math.sin(anomaly)
  const latitude = Math.atan2(Math.sqrt(1 - k.e ** 2) * Math.sin(anomaly), Math.cos(anomaly) - k.e) + k.omega * Math.PI
  const sin2 = Math.sin(2 * latitude)
  const cos2 = Math.cos(2 * latitude)
  const u = latitude + k.cus * sin2 + k.cuc * cos2
  const r = a * (1 - k.e * Math.cos(anomaly)) + k.crs_m * sin2 + k.crc_m * cos2
  const i = (k.i0 + k.idot * t) * Math.PI + k.cis * sin2 + k.cic * cos2
  const turned = geostationary ? 0 : rotation_radps * t
  const node = (k.omega0 + k.omegaDot * t) * Math.PI - turned - rotation_radps * k.toe_s
  const x = r * Math.cos(u)
  const y = r * Math.sin(u) * Math.cos(i)
  const z = r * Math.sin(u) * Math.sin(i)
  const fixed = { x: x * Math.cos(node) - y * Math.sin(node), y: x * Math.sin(node) + y * Math.cos(node), z }
  if (!geostationary) return fixed
  const tilt = -5 * radians
  const tilted = {
    y: fixed.y * Math.cos(tilt) + fixed.z * Math.sin(tilt),
    z: -fixed.y * Math.sin(tilt) + fixed.z * Math.cos(tilt),
  }
  const turn = rotation_radps * t
  return {
    x: fixed.x * Math.cos(turn) + tilted.y * Math.sin(turn),
    y: -fixed.x * Math.sin(turn) + tilted.y * Math.cos(turn),
    z: tilted.z,
  }
}

/** GLONASS ICD, appendix 3: integrated from the ephemeris, Runge-Kutta of the fourth order. */
function glonassPosition(g: Elements, tow_s: number, leap_s: number): Ecef {
  const value = (name: string, bits: number, shift: number) => {
    const sign = g[name] >= 2 ** (bits - 1) ? -1 : 1
    return (sign * (g[name] % 2 ** (bits - 1)) * 1000) / 2 ** shift
  }
  const axes = ['x', 'y', 'z']
  let state = [...axes.map((axis) => value(axis, 27, 11)), ...axes.map((axis) => value(`${axis}Dot`, 24, 20))]
  const pull = axes.map((axis) => value(`${axis}DotDot`, 5, 30))
  const duration_s = wrap(tow_s - (g.tb * 900 - 10_800 + leap_s), 43_200)
  const steps = Math.max(1, Math.ceil(Math.abs(duration_s) / 60))
  const h = duration_s / steps
  const along = (rate: number[], times: number) => state.map((part, index) => part + rate[index] * times)
  for (let step = 0; step < steps; step++) {
    const k1 = glonassRate(state, pull)
    const k2 = glonassRate(along(k1, h / 2), pull)
    const k3 = glonassRate(along(k2, h / 2), pull)
    const k4 = glonassRate(along(k3, h), pull)
    state = state.map((part, index) => part + (h / 6) * (k1[index] + 2 * k2[index] + 2 * k3[index] + k4[index]))
  }
  const [x, y, z] = state
  return { x, y, z }
}

const j2 = 1.0826257e-3
const radius_m = 6_378_136

function glonassRate([x, y, z, vx, vy, vz]: number[], [px, py, pz]: number[]): number[] {
  const r = Math.hypot(x, y, z)
  const gravity = -mu / r ** 3
  const oblate = (1.5 * j2 * mu * radius_m ** 2) / r ** 5
  const tilt = (5 * z * z) / (r * r)
  const w = rotation_radps
  return [
    vx,
    vy,
    vz,
    gravity * x - oblate * x * (1 - tilt) + w * w * x + 2 * w * vy + px,
    gravity * y - oblate * y * (1 - tilt) + w * w * y - 2 * w * vx + py,
    gravity * z - oblate * z * (3 - tilt) + pz,
  ]
}

/** GSV talkers and the numbers of their satellites: the directions of a capture that has NMEA only. */
const talkers: Record<string, (id: number) => [constellation: string, satellite: number]> = {
  GP: (id) => (id > 32 ? ['sbas', id + 87] : ['gps', id]),
  GL: (id) => ['glonass', id - 64],
  GA: (id) => ['galileo', id],
  GB: (id) => ['beidou', id],
  GQ: (id) => ['qzss', id > 192 ? id - 192 : id],
}

/** Collects GSV sentences. */
export class GsvSky {
  readonly #directions = new Map<string, Direction>()

  push(sentence: string): void {
    const fields = sentence.slice(1).split('*')[0].split(',')
    const number = talkers[fields[0].slice(0, 2)]
    if (!number || fields[0].slice(2) !== 'GSV') return
    for (let at = 4; at + 3 < fields.length; at += 4) {
      const [id, elevation, azimuth] = fields.slice(at, at + 3)
      if (id === '' || elevation === '' || azimuth === '') continue
      const msm = msmSatellite(...number(Number(id)))
      if (!msm) continue
      const direction = { azimuth_deg: Number(azimuth), elevation_deg: Number(elevation) }
      this.#directions.set(`${msm.constellation} ${msm.satellite}`, direction)
    }
  }

  get size(): number {
    return this.#directions.size
  }

  readonly sky: Sky = (constellation, satellite) => this.#directions.get(`${constellation} ${satellite}`)
}
