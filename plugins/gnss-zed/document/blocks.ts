/** The parts of the `gnss` block that the receiver fills. Shapes and units: schemas/info/gnss.ts. */
import { formatTm, roundTo } from 'rtk-base/gnss'
import type { CorrectionStatus, ProcedureStatus } from 'rtk-base/services'
import { worstJamming } from '../facts/index.js'
import type { ZedReceiver } from '../zed.js'
import { refConfig, refRuntime } from './own-reference.js'

type Status = 'offline' | 'stalled' | 'identify' | 'acquire' | 'fixed'

/** Where the procedure stands, by evidence alone: the first line that is true. */
export function statusOf(zed: ZedReceiver): Status {
  if (zed.link !== 'up') return zed.link
  const base = zed.listening || zed.upkeep.mode === 'fixed'
  if (base && zed.rtcmFlows) return 'fixed'
  if (!zed.listening && !zed.identified) return 'identify'
  return 'acquire'
}

export function zedBlock({ facts: { identity } }: ZedReceiver) {
  const { module, firmware, hardware, software, serial } = identity
  return { module, vfirmware: firmware, vhardware: hardware, vsoftware: software, serial }
}

/** @param status where the procedure stands, of the plugin that runs it */
export function stateBlock(zed: ZedReceiver, status: string) {
  const { fix, satellites, startTimes, antenna } = zed.facts
  const time = Math.floor(zed.facts.utc_s())
  const used = fix ? satellites.used || fix.satellitesUsed : 0
  return {
    time,
    tm: formatTm(time),
    status,
    gps_fix: fix?.fix ?? 'none',
    corrected: fix?.corrected ?? false,
    uptime: startTimes.uptime_s,
    time_first_fix: startTimes.timeToFirstFix_s,
    // A receiver that only sends NMEA reports the satellites that it uses.
    satvis: fix ? Math.max(satellites.visible, used) : 0,
    satuse: used,
    antenna: antenna.report,
    rf: rfBlock(zed),
  }
}

/** Interference, feigned satellites, and what is received beside what is expected. */
function rfBlock(zed: ZedReceiver) {
  const now_ms = zed.now_ms()
  const { radio, signals } = zed.facts
  const bands = radio.bands(now_ms)
  return {
    jamming: worstJamming(bands),
    spoofing: radio.spoofing(now_ms),
    slips: roundTo(100 * signals.slips(now_ms), 3),
    bands: [...bands],
    constellations: signals.report(now_ms),
  }
}

export function posBlock(zed: ZedReceiver) {
  const { place } = zed.facts
  if (!place) {
    return { lat: 0, lon: 0, alt: 0, x: 0, y: 0, z: 0, acc: 0, 'geoidal-seperation': 0, t: 0, tm: '' }
  }
  // `t` says that there is a position, so an epoch without a time gets that of the receiver or the device.
  const age_s = (zed.now_ms() - place.arrival_ms) / 1000
  const t = Math.round(place.t > 0 ? place.t : Math.max(0, zed.facts.utc_s() - age_s))
  return {
    lat: roundTo(place.lat, 9),
    lon: roundTo(place.lon, 9),
    alt: roundTo(place.alt, 4),
    ...place.position,
    acc: Number.isFinite(place.acc_m) ? roundTo(place.acc_m, 4) : 0,
    'geoidal-seperation': place.geoidSeparation_m,
    t,
    tm: formatTm(t),
  }
}

/**
 * What the receiver itself says of corrections and of its reference; a plugin that knows more builds these fields instead.
 * @param procedure of the plugin that runs the GNSS procedure, where there is one
 * @param input `rtcmin`
 */
export function standIns(
  zed: ZedReceiver,
  correctionMaxAge_s: number,
  procedure: ProcedureStatus | undefined,
  input: CorrectionStatus['input'],
) {
  return {
    state: {
      want_corr: input === 'on' || (input !== 'off' && procedure?.wantsCorrections) ? 1 : 0,
      recvrtcm: zed.facts.corrections.block(zed.now_ms(), correctionMaxAge_s),
    },
    pos: { delta: 0 },
    ref: refRuntime(zed),
  }
}

export function standInSettings(zed: ZedReceiver) {
  return { ref: refConfig(zed), config: { startup: { accuracy: 0, delta_max: 0, delta_max_corr: 0 } } }
}
