/** What the simulated receiver says of itself, and what stands in its flash when it is switched on for the first time. */
import { geodeticToEcef, splitCm } from 'rtk-base/gnss'
import * as ubx from '../ubx/index.js'
import type { SimulatorOptions } from './receiver.js'

export const version = {
  swVersion: 'EXT CORE 1.00 (simulated)',
  hwVersion: '00190000',
  blocks: ['ROM BASE 0x118B2060', 'FWVER=HPG 1.32', 'PROTVER=27.31', 'MOD=ZED-F9P', 'GPS;GLO;GAL;BDS', 'SBAS;QZSS'].map(
    (extension) => ({ extension }),
  ),
}

const warning = ubx.encodeInf('warning', 'Base station position seems incorrect')
/** A base that is told a place where it is not says this. */
export const implausibleWarning = ubx.ubxFrame(ubx.INF_CLASS, warning.id, warning.payload)

/** What stands in the flash of a base that someone has set up before. */
export function factorySettings(options: SimulatorOptions): ubx.ConfigPair[] {
  if (options.boot === 'rover') return []
  const arp = geodeticToEcef(options)
  const pairs: ubx.ConfigPair[] = [
    [ubx.keyId('CFG-TMODE-MODE'), 2],
    [ubx.keyId('CFG-TMODE-FIXED_POS_ACC'), 100],
    [ubx.keyId('CFG-NAVSPG-DYNMODEL'), 2],
  ]
  for (const axis of ['x', 'y', 'z'] as const) {
    const { cm, hp } = splitCm(arp[axis])
    pairs.push([ubx.keyId(`CFG-TMODE-ECEF_${axis.toUpperCase()}`), cm])
    pairs.push([ubx.keyId(`CFG-TMODE-ECEF_${axis.toUpperCase()}_HP`), hp])
  }
  const every: readonly [ubx.OutputMessage, number][] = [
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
  for (const [message, rate] of every) pairs.push([ubx.messageOutKey(message, options.wiring), rate])
  return pairs
}
