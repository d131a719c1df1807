/** Capabilities of a firmware, by its MON-VER: by protocol version and what it lists, never by the name of the module alone. */
import type { Identity } from '../ubx/layouts-mon.js'

export interface Firmware {
  /** GLONASS, its MSM and 1230. */
  readonly glonass: boolean
  /** The private message 4072 of a moving base, which must not get into a public stream. */
  readonly private4072: boolean
  /** Reports the accepted corrections: RXM-RTCM, or RXM-COR in firmware without it. */
  readonly correctionReport: 'RXM-RTCM' | 'RXM-COR'
  /** A second navigation solution that keeps running in fixed mode. */
  readonly nav2: boolean
  /** MON-HW, for where MON-RF is refused. */
  readonly monHw: boolean
  /** The signals are chosen by signal plans. */
  readonly signalPlans: boolean
  /** The nearest known firmware, if this one is not known; '': it is known. */
  readonly takenFor: string
}

type Generation = Omit<Firmware, 'glonass' | 'takenFor'>
const f9: Generation = { private4072: true, correctionReport: 'RXM-RTCM', nav2: false, monHw: true, signalPlans: false }

/** The newest generation that a protocol version has reached counts. NAV2 came with HPG 1.30. */
const generations: readonly { from: number; name: string; lines: RegExp; has: Generation }[] = [
  { from: 0, name: 'ZED-F9P HPG 1.13', lines: /^HPG 1\./, has: f9 },
  { from: 27.3, name: 'ZED-F9P HPG 1.30', lines: /^HPG 1\./, has: { ...f9, nav2: true } },
  // F9T: timing firmware on the same chip.
  { from: 29, name: 'ZED-F9T TIM 2.20', lines: /^TIM 2\./, has: { ...f9, nav2: true } },
  {
    from: 50,
    name: 'ZED-X20P HPG 2.00',
    lines: /^HPG 2\./,
    has: { private4072: false, correctionReport: 'RXM-COR', nav2: false, monHw: false, signalPlans: true },
  },
]

/**
 * Unidentified firmware counts as an F9P without NAV2.
 * @see README.md, "Hardware"
 */
export function firmwareOf(
  identity: Partial<Pick<Identity, 'firmware' | 'protocol' | 'constellations'>> | undefined,
): Firmware {
  const { firmware = '', constellations = [] } = identity ?? {}
  const protocol = Number.parseFloat(identity?.protocol ?? '') || 0
  const reached = generations.filter(({ from }) => protocol >= from)
  const generation = reached.findLast(({ lines }) => lines.test(firmware)) ?? reached.at(-1)
  const { name = '', lines, has = f9 } = generation ?? {}
  return {
    ...has,
    glonass: constellations.length > 0 ? constellations.includes('GLO') : has.private4072,
    takenFor: lines?.test(firmware) ? '' : name,
  }
}
