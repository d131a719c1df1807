/** Capabilities of a firmware, by its MON-VER. */
import type { Identity } from '../ubx/layouts-mon.js'

export interface Firmware {
  /** GLONASS, its MSM and 1230. */
  glonass: boolean
  /** The private message 4072 of a moving base, which must not get into a public stream. */
  private4072: boolean
  /** Reports the accepted corrections: RXM-RTCM, or RXM-COR in firmware without it. */
  correctionReport: 'RXM-RTCM' | 'RXM-COR'
  /** A second navigation solution that keeps running in fixed mode. */
  nav2: boolean
  /** MON-HW, for where MON-RF is refused. */
  monHw: boolean
}

/** NAV2 came with HPG 1.30, whose protocol is 27.30. */
const firstNav2 = 27.3
/** The X20P begins here; its MON-VER names no module. */
const firstX20 = 50

/**
 * Unidentified firmware counts as an F9P without NAV2.
 * @see README.md, "Hardware"
 */
export function firmwareOf(identity: Pick<Identity, 'firmware' | 'protocol'> | undefined): Firmware {
  const protocol = Number.parseFloat(identity?.protocol ?? '')
  const x20 = protocol >= firstX20 && identity?.firmware.startsWith('HPG 2.') === true
  return {
    glonass: !x20,
    private4072: !x20,
    correctionReport: x20 ? 'RXM-COR' : 'RXM-RTCM',
    nav2: !x20 && protocol >= firstNav2,
    monHw: !x20,
  }
}
