/**
 * The configuration of a base as steps in write order. A step is one message, because one rejected key rejects the whole message.
 * So the keys that a base requires are in one message each for time mode and outputs, and every other setting is alone.
 */
import { type BaseSettings, tracks, type WantedSetup } from 'rtk-base/link'
import type { SwitchableConstellation } from 'rtk-base/services'
import type { ConfigPair } from '../ubx/config.js'
import { infKey, keyId, messageOutKey, type OutputMessage, type PortName, portOffset } from '../ubx/keys.js'
import type { Firmware } from './firmware.js'
import { tmodePairs } from './tmode.js'

/** Options of the plugin that shape the configuration beside the target. */
export interface ConfigOptions {
  antenna: Record<AntennaSwitch, 'on' | 'off' | 'keep'>
  secondFix: boolean
  /** Corrections on the ports that the service does not speak through. */
  otherPorts: 'off' | 'keep'
  /** The signal plan of an X20P. */
  signalPlan: 'keep' | 1 | 2 | 6
  raiseBaud: boolean
}

/** Messages that are sent where the line has room. */
export interface Extras {
  /** NAV-SIG. */
  signals: boolean
  /** RXM-SFRBX, for exact directions; left out first. */
  orbits: boolean
}

/** Parts of the antenna supervisor, by option name. */
export type AntennaSwitch = 'power' | 'shortDetection' | 'openDetection' | 'powerDown' | 'recovery'

const antennaKeys: Record<AntennaSwitch, number> = {
  power: keyId('CFG-HW-ANT_CFG_VOLTCTRL'),
  shortDetection: keyId('CFG-HW-ANT_CFG_SHORTDET'),
  openDetection: keyId('CFG-HW-ANT_CFG_OPENDET'),
  powerDown: keyId('CFG-HW-ANT_CFG_PWRDOWN'),
  recovery: keyId('CFG-HW-ANT_CFG_RECOVER'),
}

export interface Step {
  /** For people. */
  name: string
  pairs: readonly ConfigPair[]
  /** A base needs the step: a rejection fails the configuration. */
  required: boolean
  /** Written as a whole as soon as one value differs. */
  whole?: boolean
  /** Some firmware has it and some does not: a rejection is only logged. */
  mayLack?: boolean
  /** Time that the receiver needs after the step, milliseconds. */
  settle_ms?: number
  /** The alternative if the step is rejected. */
  fallback?: Step
}

export interface PlanInput {
  port: PortName
  firmware: Firmware
  wanted: WantedSetup
  options: Omit<ConfigOptions, 'raiseBaud'>
  extras: Extras
  /** How old corrections may be. */
  correctionMaxAge_s: number
}

/** Messages that only cost line capacity and power. */
const notNeeded: readonly OutputMessage[] = [
  'NAV-SVIN',
  'NAV-HPPOSLLH',
  'NAV-DOP',
  'NAV-TIMEGPS',
  'NAV-TIMELS',
  'NAV-RELPOSNED',
  'MON-COMMS',
  'RXM-RAWX',
  'TIM-TP',
]

/** Messages without which nothing can be shown; every F9P firmware knows them. */
const shown = ['NAV-PVT', 'NAV-HPPOSECEF', 'NAV-STATUS', 'NAV-SAT'] as const

/** Enabled at each new link, in any mode of the receiver. */
export function shownSteps(port: PortName): Step[] {
  const step = (name: string, messages: readonly OutputMessage[]): Step => ({
    name,
    pairs: messages.map((message) => [messageOutKey(message, port), 1]),
    required: false,
  })
  return [step('navigation', shown), step('MON-RF', ['MON-RF']), step('NAV-EOE', ['NAV-EOE'])]
}

/** The MSM of a constellation, by MSM type. */
const msmOf = {
  gps: { 4: 1074, 7: 1077 },
  galileo: { 4: 1094, 7: 1097 },
  beidou: { 4: 1124, 7: 1127 },
  glonass: { 4: 1084, 7: 1087 },
} as const satisfies Record<SwitchableConstellation, Record<4 | 7, OutputMessage>>

export function planOf({ port, firmware, wanted, options, extras, correctionMaxAge_s }: PlanInput): Step[] {
  const { target, settings, stationId } = wanted
  const { antenna } = options
  const out = (message: OutputMessage, rate: number): ConfigPair => [messageOutKey(message, port), rate]
  const optional = (name: string, ...pairs: ConfigPair[]): Step => ({ name, pairs, required: false })
  const mayLack = (name: string, ...pairs: ConfigPair[]): Step => ({ ...optional(name, ...pairs), mayLack: true })
  const msm = (constellation: SwitchableConstellation): ConfigPair[] => {
    const { 4: coarse, 7: fine } = msmOf[constellation]
    const rate = tracks(settings, constellation) ? settings.observationInterval_s : 0
    return [out(coarse, settings.msm === 4 ? rate : 0), out(fine, settings.msm === 7 ? rate : 0)]
  }
  const signals = signalPairs(settings, firmware)
  const { elevationMask_deg } = settings
  const antennaPairs = (Object.keys(antennaKeys) as AntennaSwitch[])
    .filter((part) => antenna[part] !== 'keep')
    .map((part): ConfigPair => [antennaKeys[part], antenna[part] === 'on' ? 1 : 0])

  const steps: Step[] = [
    // A wrong reference goes first, then what would send it.
    { name: 'time mode', pairs: tmodePairs(target), required: true, whole: true },
    {
      name: 'base',
      required: true,
      pairs: [
        ...protocolPairs(port),
        [keyId('CFG-RATE-MEAS'), 1000],
        [keyId('CFG-RATE-NAV'), 1],
        [keyId('CFG-RATE-TIMEREF'), 1],
        [keyId('CFG-NAVSPG-DYNMODEL'), 2],
        ...shown.map((message) => out(message, 1)),
        out(1005, settings.referenceInterval_s),
        ...msm('gps'),
      ],
    },
    // Changing a signal restarts the GNSS part of the receiver.
    { ...optional('SBAS off', [keyId('CFG-SIGNAL-SBAS_ENA'), 0]), settle_ms: 500 },
    ...(firmware.signalPlans && options.signalPlan !== 'keep'
      ? [{ ...optional('signal plan', [keyId('CFG-SIGNAL-PLAN'), options.signalPlan]), settle_ms: 500 }]
      : []),
    ...(signals.length > 0 ? [{ ...optional('constellations', ...signals), settle_ms: 500 }] : []),
    ...(elevationMask_deg === undefined
      ? []
      : [optional('elevation mask', [keyId('CFG-NAVSPG-INFIL_MINELEV'), elevationMask_deg])]),
    optional('Galileo', ...msm('galileo')),
    optional('BeiDou', ...msm('beidou')),
    // Firmware before HPG 1.13 may know no other station than 0.
    { ...optional('station ID', [keyId('CFG-RTCM-DF003_OUT'), stationId]), mayLack: stationId === 0 },
    optional('NAV-EOE', out('NAV-EOE', 1)),
    {
      ...optional('MON-RF', out('MON-RF', 1)),
      ...(firmware.monHw ? { fallback: optional('MON-HW', out('MON-HW', 1)) } : {}),
    },
    mayLack('warnings', [infKey(port), 3]),
    mayLack('interference', [keyId('CFG-ITFM-ENABLE'), 1]),
    mayLack('signals', out('NAV-SIG', extras.signals ? 1 : 0)),
    mayLack('navigation messages of satellites', out('RXM-SFRBX', extras.orbits ? 1 : 0)),
    mayLack('whole ambiguities', [keyId('CFG-NAVHPG-DGNSSMODE'), 3]),
    mayLack('age of corrections', [keyId('CFG-NAVSPG-CONSTR_DGNSSTO'), timeout_s(correctionMaxAge_s)]),
    mayLack(firmware.correctionReport, out(firmware.correctionReport, 1)),
  ]
  if (firmware.glonass) {
    const biases_s = tracks(settings, 'glonass') ? settings.biasInterval_s : 0
    steps.push(optional('GLONASS', ...msm('glonass')), optional('1230', out(1230, biases_s)))
  }
  if (firmware.private4072) steps.push(mayLack('4072 off', out('4072.0', 0), out('4072.1', 0)))
  // One message each: no receiver has all of these ports.
  if (options.otherPorts === 'off')
    for (const other of otherPorts(port))
      steps.push(mayLack(`corrections on ${other}`, [keyId(`CFG-${other}INPROT-RTCM3X`), 0]))
  if (antennaPairs.length > 0) steps.push(optional('antenna supervisor', ...antennaPairs))
  if (firmware.nav2) {
    const rate = options.secondFix ? 1 : 0
    steps.push(mayLack('second fix', [keyId('CFG-NAV2-OUT_ENABLED'), rate], out('NAV2-PVT', rate)))
  }
  steps.push(mayLack('messages that are not needed', ...notNeeded.map((message) => out(message, 0))))
  return steps
}

/** The receiver holds the time limit in one byte. */
const timeout_s = (seconds: number) => Math.min(255, Math.max(1, Math.round(seconds)))

const otherPorts = (own: PortName) => (Object.keys(portOffset) as PortName[]).filter((port) => port !== own)

/** In: UBX and RTCM3. Out: UBX and RTCM3, no NMEA. */
function protocolPairs(port: PortName): ConfigPair[] {
  if (port === 'I2C' || port === 'SPI') return []
  return [
    [keyId(`CFG-${port}INPROT-UBX`), 1],
    [keyId(`CFG-${port}INPROT-RTCM3X`), 1],
    [keyId(`CFG-${port}OUTPROT-UBX`), 1],
    [keyId(`CFG-${port}OUTPROT-NMEA`), 0],
    [keyId(`CFG-${port}OUTPROT-RTCM3X`), 1],
  ]
}

/** CFG-SIGNAL of each constellation. GPS and QZSS share their signals, so they are switched together. */
const enables: readonly (readonly [SwitchableConstellation, readonly number[]])[] = [
  ['gps', [keyId('CFG-SIGNAL-GPS_ENA'), keyId('CFG-SIGNAL-QZSS_ENA')]],
  ['galileo', [keyId('CFG-SIGNAL-GAL_ENA')]],
  ['beidou', [keyId('CFG-SIGNAL-BDS_ENA')]],
  ['glonass', [keyId('CFG-SIGNAL-GLO_ENA')]],
]

/** The pairs that switch constellations. Empty: the receiver keeps its own. Firmware without GLONASS is only asked for it if a person wants it, so that its refusal is reported. */
function signalPairs(settings: BaseSettings, { glonass }: Firmware): ConfigPair[] {
  if (!settings.constellations) return []
  return enables
    .filter(([name]) => name !== 'glonass' || glonass || tracks(settings, 'glonass'))
    .flatMap(([name, keys]) => keys.map((key): ConfigPair => [key, tracks(settings, name) ? 1 : 0]))
}
