/** The settings of a mosaic: each command sets one and reads it back; an empty argument stays as it is. */
import { type TSchema, Type } from 'typebox'

/** A name of RTCM intervals stands for several messages. */
const intervals = [
  'RTCM1005|6',
  'RTCM1033',
  'RTCM1230',
  'RTCM1019',
  'RTCM1020',
  'RTCM1042',
  'RTCM1044',
  'RTCM1045',
  'RTCM1046',
  'MSM4',
  'MSM7',
]
const ports = ['COM1', 'COM2', 'USB1', 'USB2']
const sources = 'StandAlone+SBAS+DGPS+RTKFloat+RTKFixed'
const allSystems = 'GPS+GLONASS+GALILEO+SBAS+BEIDOU+QZSS'

const each = (keys: readonly string[], values: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, [...values]]))

export function factorySettings(): Settings {
  return {
    PVTMode: { '': ['Rover', sources, 'auto'] },
    StaticPosCartesian: each(['Cartesian1', 'Cartesian2'], ['0.0000', '0.0000', '0.0000', 'WGS84']),
    ReceiverDynamics: { '': ['Moderate', 'Automotive'] },
    DataInOut: each(ports, ['auto', 'RTCMv3+SBF+NMEA', '(on)']),
    SBFOutput: each(['Stream1', 'Stream2', 'Stream3'], ['none', 'none', 'off']),
    RTCMv3Formatting: { '': ['0'] },
    RTCMv3Interval: { ...each(intervals, ['1']), RTCM1033: ['10'] },
    RTCMv3Output: each(ports, ['none']),
    SatelliteTracking: { '': [allSystems] },
    ElevationMask: each(['PVT', 'Tracking'], ['10']),
  }
}

/** Plain data: name, then the key of its first argument ('' where there is one only), then its values. */
export type Settings = Record<string, Record<string, string[]>>
const shapesOf = <V>(values: Record<string, V>, shapeOf: (value: V) => TSchema) =>
  Type.Object(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shapeOf(value)])))
/** Every setting that there is, with all of its values. */
export const Settings = Type.Unsafe<Settings>(
  shapesOf(factorySettings(), (ofKeys) =>
    shapesOf(ofKeys, ({ length }) => Type.Array(Type.String(), { minItems: length, maxItems: length })),
  ),
)

const isNumber = (from: number, to: number) => (value: string) =>
  value !== '' && Number(value) >= from && Number(value) <= to
const isListOf = (pattern: RegExp) => (value: string) =>
  value === 'none' || value.split('+').every((one) => pattern.test(one))
const isOneOf =
  (...allowed: readonly string[]) =>
  (value: string) =>
    allowed.includes(value)
const isPort = isOneOf(...ports, 'none')

interface Argument {
  readonly name: string
  isValid(value: string): boolean
}
const argument = (name: string, isValid: (value: string) => boolean): Argument => ({ name, isValid })
const axis = (name: string) => argument(name, isNumber(-8_000_000, 8_000_000))

/** The values of each, without its key. */
const argumentsOf: Readonly<Record<string, readonly Argument[]>> = {
  PVTMode: [
    argument('Mode', isOneOf('Rover', 'Static')),
    argument('RoverMode', isListOf(/^(all|StandAlone|SBAS|DGPS|RTKFloat|RTKFixed)$/)),
    argument('StaticPosition', isOneOf('auto', 'Cartesian1', 'Cartesian2')),
  ],
  StaticPosCartesian: [axis('X'), axis('Y'), axis('Z'), argument('Datum', isOneOf('WGS84', 'ETRS89', 'NAD83'))],
  ReceiverDynamics: [
    argument('Level', isOneOf('Max', 'High', 'Moderate', 'Low')),
    argument('Motion', isOneOf('Static', 'Quasistatic', 'Pedestrian', 'Automotive', 'UAV')),
  ],
  DataInOut: [
    argument('Input', isOneOf('auto', 'CMD', 'none')),
    argument('Output', isListOf(/^(RTCMv3|SBF|NMEA)$/)),
    argument('Show', isOneOf('(on)', '(off)')),
  ],
  SBFOutput: [
    argument('Cd', isPort),
    argument('Messages', isListOf(/^[A-Z]\w+$/)),
    argument('Interval', isOneOf('off', 'sec1', 'sec2', 'sec5', 'sec10')),
  ],
  RTCMv3Formatting: [argument('ReferenceID', isNumber(0, 4095))],
  RTCMv3Interval: [argument('Interval', isNumber(0.1, 600))],
  RTCMv3Output: [argument('Messages', isListOf(/^RTCM1\d\d\d$/))],
  SatelliteTracking: [argument('Satellite', isListOf(/^(all|GPS|GLONASS|GALILEO|SBAS|BEIDOU|QZSS)$/))],
  ElevationMask: [argument('Mask', isNumber(-90, 90))],
}

export const isSetting = (name: string): boolean => Object.hasOwn(argumentsOf, name)

const linesOf = (settings: Settings, name: string, keys: readonly string[]) =>
  keys.map((key) => [name, ...(key === '' ? [] : [key]), ...(settings[name][key] ?? [])].join(', '))

/** @returns its lines, or the name of the wrong argument */
export function readSetting(settings: Settings, name: string, [key]: readonly string[]): string[] | string {
  const keys = Object.keys(settings[name])
  if (key === undefined || key === '') return linesOf(settings, name, keys)
  return keys.includes(key) ? linesOf(settings, name, [key]) : 'Key'
}

/** @returns its lines, or the name of the wrong argument */
export function writeSetting(settings: Settings, name: string, given: readonly string[]): string[] | string {
  const isSingle = '' in settings[name]
  const keys = isSingle ? [''] : namesIn(given[0] ?? '')
  if (keys.some((key) => !(key in settings[name]))) return 'Key'
  const values = isSingle ? given : given.slice(1)
  const known = argumentsOf[name]
  if (values.length > known.length) return 'Number of arguments'
  // The words are taken in any case.
  const written = values.map((value) => (/^auto$/i.test(value) ? 'auto' : value))
  const wrong = known.find(({ isValid }, i) => written[i] !== undefined && written[i] !== '' && !isValid(written[i]))
  if (wrong) return wrong.name
  for (const key of keys) {
    const before = settings[name][key]
    settings[name][key] = before.map((value, i) => expanded(written[i] || value))
  }
  return linesOf(settings, name, keys)
}

/** `RTCM1019+RTCM1020`, but a name with `|` is one. */
const namesIn = (text: string) => text.split('+')
const expanded = (value: string) => (value === 'all' ? sources : value)
