/** Reads ephemerides from RTCM messages, with absolute times, health and units. */
import { knownLeap_s, nearestTime, secondsPerWeek } from '../gnss-time.js'
import { BitReader, BitWriter } from '../rtcm/bits.js'
import { encodeFrame, messageNumber } from '../rtcm/frame.js'
import { type Field, readFields, type Values, writeFields } from '../rtcm/layout.js'
import {
  type Ephemeris,
  type GlonassEphemeris,
  isPlausible,
  type KeplerConstellation,
  type KeplerEphemeris,
} from './ephemeris.js'
import {
  type EphemerisLayouts,
  type EphemerisMessage,
  ephemerisLayouts,
  gpsClock,
  gpsElements,
  idot,
} from './layouts.js'

type KeplerMessage = Exclude<EphemerisMessage, 1020>
type KeplerValues = Values<EphemerisLayouts[KeplerMessage]>

/** How the weeks of a system are counted: they begin at `start_s` (`gpsSeconds`) and return after `weeks`. */
interface Calendar {
  readonly constellation: KeplerConstellation
  readonly start_s: number
  readonly weeks: number
}
const gps: Calendar = { constellation: 'GPS', start_s: 0, weeks: 1024 }
/** Weeks since GPS week 1024 (Galileo OS SIS ICD 2.1, 5.1.2). */
const galileoCalendar: Calendar = { constellation: 'Galileo', start_s: 1024 * secondsPerWeek, weeks: 4096 }
const calendars: Readonly<Record<KeplerMessage, Calendar>> = {
  1019: gps,
  /** Weeks since 2006-01-01 UTC, 14 s after a GPS week begins (BDS-SIS-ICD-B1I 3.0, 3.3). */
  1042: { constellation: 'BeiDou', start_s: 1356 * secondsPerWeek + 14, weeks: 8192 },
  1044: { ...gps, constellation: 'QZSS' },
  1045: galileoCalendar,
  1046: galileoCalendar,
}

/** Whether `decodeEphemeris` reads messages of this number. */
export const isEphemeris = (type: number): boolean => Object.hasOwn(ephemerisLayouts, type)

/**
 * The ephemeris of a frame.
 * @param frame whole verified RTCM frame of any type
 * @param now_s the current time within a few hours, `gpsSeconds`, to complete truncated week numbers and days
 * @param leap_s GPS − UTC, for GLONASS
 * @returns undefined if the frame is not an ephemeris, is too short, or has values that no satellite can have
 */
export function decodeEphemeris(frame: Uint8Array, now_s: number, leap_s = knownLeap_s): Ephemeris | undefined {
  const type = messageNumber(frame)
  if (!isEphemeris(type)) return undefined
  const message = type as EphemerisMessage
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(12)
  const values = readFields(reader, ephemerisLayouts[message])
  if (reader.overrun) return undefined
  const ephemeris =
    message === 1020
      ? glonassOf(values as Values<EphemerisLayouts[1020]>, now_s, leap_s)
      : keplerOf(message, values as KeplerValues, now_s)
  return ephemeris && isPlausible(ephemeris) ? ephemeris : undefined
}

/** Makes the RTCM message of an ephemeris. Missing fields are 0. @see ephemerisLayouts */
export function encodeEphemeris<T extends EphemerisMessage>(
  type: T,
  values: Partial<Values<EphemerisLayouts[T]>>,
): Uint8Array {
  const layout: readonly Field[] = ephemerisLayouts[type]
  const writer = new BitWriter()
  writer.uint(type, 12)
  const nothing = layout.flatMap((field) => ('name' in field ? [[field.name, field.kind === 'flag' ? false : 0]] : []))
  writeFields(writer, layout, { ...Object.fromEntries(nothing), ...values } as Values<readonly Field[]>)
  return encodeFrame(writer.bytes())
}

const elementFields = [...gpsElements, ...gpsClock, idot] as const
type ElementName = Exclude<(typeof elementFields)[number]['name'], 'toeOfWeek_s' | 'tocOfWeek_s'>
const elementNames = elementFields.map(({ name }) => name as ElementName)

function keplerOf(message: KeplerMessage, values: KeplerValues, now_s: number): KeplerEphemeris | undefined {
  const { satellite, issue, week, toeOfWeek_s, tocOfWeek_s } = values
  const { constellation, start_s, weeks } = calendars[message]
  if (toeOfWeek_s >= secondsPerWeek || tocOfWeek_s >= secondsPerWeek) return undefined
  // Orbit and clock are of one upload: IODE is the low byte of IODC (IS-GPS-200, 20.3.4.4).
  if ('longFit' in values && (values.clockIssue & 255) !== issue) return undefined
  const toe_s = weekResolved(start_s + week * secondsPerWeek + toeOfWeek_s, weeks, now_s)
  const toc_s = nearestTime(start_s + tocOfWeek_s, secondsPerWeek, toe_s)
  const elements = Object.fromEntries(elementNames.map((name) => [name, values[name]])) as Pick<
    KeplerValues,
    ElementName
  >
  const ofBeidou = 'groupDelay1_ns' in values && {
    groupDelays_s: { B1I: values.groupDelay1_ns * 1e-9, B2I: values.groupDelay2_ns * 1e-9 },
  }
  const healthy = isHealthy(message, values)
  return { constellation, satellite, issue, healthy, toe_s, toc_s, ...elements, ...ofBeidou }
}

/** An ephemeris that is sent now has its reference time within these hours. */
const crossover_s = 21_600

/**
 * The week of toe. Senders give the week in which the satellite sent its message, which is another one than that of toe
 * around midnight of Saturday: receivers were seen to send 985 with toe 0 of week 986.
 */
function weekResolved(time_s: number, weeks: number, now_s: number): number {
  const named_s = nearestTime(time_s, weeks * secondsPerWeek, now_s)
  const nearby_s = nearestTime(named_s, secondsPerWeek, now_s)
  const isCrossover = Math.abs(nearby_s - named_s) <= secondsPerWeek && Math.abs(nearby_s - now_s) <= crossover_s
  return isCrossover ? nearby_s : named_s
}

/** Accuracy indices that stand for "no prediction": use at own risk (URA, URAI, SISA). */
const noAccuracy: Readonly<Record<KeplerMessage, number>> = { 1019: 15, 1042: 15, 1044: 15, 1045: 255, 1046: 255 }

/**
 * Any health bit of the signals in the message, and an accuracy without a prediction, make a satellite unhealthy. Of
 * QZSS the first bit counts: the others are of single signals, of which a satellite does not send all.
 */
function isHealthy(message: KeplerMessage, { health, accuracy }: KeplerValues): boolean {
  const isSet = message === 1044 ? health >= 32 : health > 0
  return !isSet && accuracy !== noAccuracy[message]
}

const day_s = 86_400
const daysOfFourYears = 1461
const moscow_s = 10_800
/** 1996-01-01T00:00:00Z, the start of the first four years (ICD 5.1, 4.4), `gpsSeconds` without leap seconds. */
const glonassEpoch_s = 504_489_600
const quarter_s = 900

/** The bit ln is not used: a station (swiftnav STR24) was seen to set it for satellites that are in use. */
function glonassOf(
  values: Values<EphemerisLayouts[1020]>,
  now_s: number,
  leap_s: number,
): GlonassEphemeris | undefined {
  const { satellite, channel, tb, day, tau_s, gamma } = values
  if (tb === 0 || tb * quarter_s >= day_s) return undefined
  const ofDay_s = glonassEpoch_s - moscow_s + leap_s + tb * quarter_s
  const isDayKnown = day >= 1 && day <= daysOfFourYears
  const toe_s = isDayKnown
    ? nearestTime(ofDay_s + (day - 1) * day_s, daysOfFourYears * day_s, now_s)
    : nearestTime(ofDay_s, day_s, now_s)
  return {
    constellation: 'GLONASS',
    ...{ satellite, issue: tb, healthy: !values.unhealthy, toe_s, channel: channel - 7, tau_s, gamma },
    position_m: { x: values.x_m, y: values.y_m, z: values.z_m },
    velocity_mps: { x: values.xDot_mps, y: values.yDot_mps, z: values.zDot_mps },
    acceleration_mps2: { x: values.xDotDot_mps2, y: values.yDotDot_mps2, z: values.zDotDot_mps2 },
  }
}
