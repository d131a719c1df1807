/** The UART load of a plan, and the rate it requires. */
import { messageOutKey, type OutputMessage, type PortName } from '../ubx/keys.js'
import type { Step } from './plan.js'

/** The highest load that leaves room for answers, and at which no epoch waits for the one before. */
export const maxLoad = 0.6
/** Common UART rates, ascending. */
const usualRates = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]
/** Start, eight data bits, stop. */
const bitsPerByte = 10

/**
 * Bytes on the wire of one message under a full sky: 14 GPS, 9 GLONASS, 11 Galileo and 14 BeiDou satellites with two
 * signals each, 60 satellites in NAV-SAT, 96 signals in NAV-SIG. An MSM has 169 + Nsat·Nsig bits of header and 18 + 48 bits (MSM4) or 36 + 80 bits (MSM7)
 * per satellite and cell (RTCM 10403.3, 3.5.11); the F9P pads it to Nsat·Nsig cells. RXM-SFRBX: the pages of a second, of all signals.
 */
const sizes: Partial<Record<OutputMessage, number>> = {
  'NAV-PVT': 100,
  'NAV2-PVT': 100,
  'NAV-HPPOSECEF': 36,
  'NAV-STATUS': 24,
  'NAV-SAT': 736,
  'NAV-SIG': 1552,
  'NAV-EOE': 12,
  'RXM-SFRBX': 1800,
  'MON-RF': 60,
  'MON-HW': 68,
  'RXM-RTCM': 80,
  'RXM-COR': 100,
  1005: 25,
  1074: 240,
  1084: 165,
  1094: 195,
  1124: 240,
  1077: 375,
  1087: 255,
  1097: 305,
  1127: 375,
  1230: 14,
}

/** Bytes per second of the plan's messages, at one epoch per second. */
export function bytesPerSecond(steps: readonly Step[], port: PortName): number {
  const rates = new Map(steps.flatMap(({ pairs }) => pairs.map(([key, value]) => [key, Number(value)] as const)))
  let bytes = 0
  for (const [message, size] of Object.entries(sizes) as [`${OutputMessage}`, number][]) {
    const rate = rates.get(messageOutKey(message, port)) ?? 0
    // Messages of all rates may fall into the same second.
    if (rate > 0) bytes += size
  }
  return bytes
}

/** The line load at a rate, 0 to 1 and beyond. */
export function lineLoad(bytes_per_s: number, baud: number): number {
  return (bytes_per_s * bitsPerByte) / baud
}

/** The lowest usual rate that is enough, never below the present one. */
export function neededRate(bytes_per_s: number, present: number): number {
  if (lineLoad(bytes_per_s, present) < maxLoad) return present
  const enough = usualRates.find((rate) => rate > present && lineLoad(bytes_per_s, rate) < maxLoad)
  return enough ?? Math.max(present, usualRates[usualRates.length - 1])
}
