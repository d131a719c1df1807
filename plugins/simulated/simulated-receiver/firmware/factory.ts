/** Identity of the simulated receiver, and its flash contents in factory state. */
import { encodeNmea, geodeticToEcef } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { ReceiverOptions } from '../options.js'
import type { Pair } from '../ubx/config.js'
import { keyId, keyOf, type Output, outputKey } from '../ubx/keys.js'
import { infWarning, monVerPayload } from '../ubx/messages.js'
import { frameOf } from '../ubx/wire.js'

/** Differences between the simulated receivers. */
export interface Firmware {
  /** Payload of MON-VER. */
  version: Uint8Array
  /** Constellations by name that it does not track. */
  without: readonly string[]
  /** Whether it lacks a configuration key. */
  lacks(key: string): boolean
  /** The portIds of MON-COMMS. */
  ports: readonly number[]
}

const versionOf = (hardware: string, extensions: readonly string[]) =>
  monVerPayload('EXT CORE 1.00 (simulated)', hardware, extensions)

/** Firmware by the option `module`. The X20P names no module, and its UART2 has another portId. */
const firmwares: Record<ReceiverOptions['module'], Firmware> = {
  'ZED-F9P': {
    version: versionOf('00190000', [
      'ROM BASE 0x118B2060',
      'FWVER=HPG 1.32',
      'PROTVER=27.31',
      'MOD=ZED-F9P',
      'GPS;GLO;GAL;BDS',
      'SBAS;QZSS',
    ]),
    without: [],
    lacks: (key) => /SIGNAL-PLAN/.test(key),
    ports: [0x0000, 0x0100, 0x0201, 0x0300, 0x0400],
  },
  'ZED-X20P': {
    version: versionOf('000B0000', [
      'ROM BASE 0xCDEF0123',
      'FWVER=HPG 2.00',
      'PROTVER=50.10',
      'GPS;GAL;BDS',
      'SBAS;QZSS',
    ]),
    without: ['GLONASS'],
    lacks: (key) => /GLO_|TYPE(1084|1087|1230|4072)|RXM_RTCM|NAV2|MON_HW/.test(key),
    ports: [0x0000, 0x0100, 0x0200, 0x0300, 0x0400],
  },
}

/** The second solution exists since HPG 1.30. */
export function firmwareOf({ module, nav2 }: Pick<ReceiverOptions, 'module' | 'nav2'>): Firmware {
  const newest = firmwares[module]
  if (module !== 'ZED-F9P' || nav2 !== false) return newest
  return { ...newest, version: oldF9p, lacks: (key) => /NAV2|SIGNAL-PLAN/.test(key) }
}
const oldF9p = versionOf('00190000', [
  'ROM BASE 0x118B2060',
  'FWVER=HPG 1.13',
  'PROTVER=27.12',
  'MOD=ZED-F9P',
  'GPS;GLO;GAL;BDS',
  'SBAS;QZSS',
])

/** Warning of a base with a wrong reference. */
export const implausibleWarning = frameOf(infWarning, Buffer.from('Base station position seems incorrect', 'latin1'))

const bootLines = ['u-blox AG - www.u-blox.com', 'HW UBX 9 00190000', 'ANTSUPERV=AC SD OD PDoS SR', 'ANTSTATUS=OK']
/** Boot banner while NMEA is enabled. */
export const bootText: readonly Uint8Array[] = bootLines.map((line) => encodeNmea(`GNTXT,01,01,02,${line}`))

/** Flash contents in factory state. */
export function factorySettings(options: ReceiverOptions): Pair[] {
  // UART2 sends no UBX as delivered, so a receiver that is wired to it has been set to do that.
  const spoken: Pair[] = options.wiring === 'UART2' ? [[keyId('CFG-UART2OUTPROT-UBX'), 1]] : []
  if (options.boot === 'rover') return spoken
  return [
    ...spoken,
    [keyId('CFG-NAVSPG-DYNMODEL'), 2],
    ...fixedSettings(geodeticToEcef(options)),
    ...outputSettings(options),
  ]
}

/** A base at a position. */
export function fixedSettings(arp: Ecef): Pair[] {
  const pairs: Pair[] = [
    [keyId('CFG-TMODE-MODE'), 2],
    [keyId('CFG-TMODE-POS_TYPE'), 0],
    [keyId('CFG-TMODE-FIXED_POS_ACC'), 100],
  ]
  for (const axis of ['x', 'y', 'z'] as const) {
    // A key and its rest have one sign, |rest| < 1 cm.
    const steps = Math.round(arp[axis] * 1e4)
    const cm = Math.trunc(steps / 100)
    const hp = steps - 100 * cm
    pairs.push([keyId(`CFG-TMODE-ECEF_${axis.toUpperCase()}`), cm])
    pairs.push([keyId(`CFG-TMODE-ECEF_${axis.toUpperCase()}_HP`), hp])
  }
  return pairs
}

/** A survey-in that accepts any accuracy. */
export const surveySettings: readonly Pair[] = [
  [keyId('CFG-TMODE-MODE'), 1],
  [keyId('CFG-TMODE-SVIN_MIN_DUR'), 60],
  [keyId('CFG-TMODE-SVIN_ACC_LIMIT'), 50_000],
]

/** Output settings of a base. */
export function outputSettings(options: ReceiverOptions): Pair[] {
  const { wiring } = options
  const { lacks } = firmwareOf(options)
  const every: readonly [Output, number][] = [
    ['NAV-PVT', 1],
    ['NAV-HPPOSECEF', 1],
    ['NAV-STATUS', 1],
    ['NAV-SAT', 1],
    ['NAV-EOE', 1],
    ['MON-RF', 1],
    ['RXM-RTCM', 1],
    [1005, 1],
    [1074, 1],
    [1084, 1],
    [1094, 1],
    [1124, 1],
    [1230, 10],
  ]
  return every.flatMap(([message, rate]): Pair[] => {
    const key = outputKey(message, wiring)
    return key === undefined || lacks(keyOf(key)?.name ?? '') ? [] : [[key, rate]]
  })
}
