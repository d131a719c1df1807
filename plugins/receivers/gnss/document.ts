/** The parts of the `gnss` block that every receiver fills. Shapes and units: schemas/info/gnss.ts. */
import { formatTm, hasTenthMm, roundTo, sameReference } from 'rtk-base/gnss'
import type { BandReading, CorrectionStatus, ProcedureStatus } from 'rtk-base/services'
import type { Observed } from './observed.js'

export function receiverBlock({ receiver }: Observed) {
  const { maker = '', module: model = '', firmware = '', serial = '' } = receiver?.identity ?? {}
  return { maker, model, firmware, serial }
}

/** @param status where the procedure stands, of the plugin that runs it */
export function stateBlock(observed: Observed, status: string) {
  const { antennaWatch, fix, receiver } = observed
  const time = Math.floor(observed.utc_s())
  return {
    time,
    tm: formatTm(time),
    status,
    gps_fix: fix?.fix ?? 'none',
    corrected: fix?.corrected ?? false,
    uptime: receiver?.startTimes?.uptime_s ?? 0,
    time_first_fix: receiver?.startTimes?.timeToFirstFix_s ?? 0,
    satvis: observed.satellitesVisible ?? 0,
    satuse: observed.satellitesUsed ?? 0,
    antenna: antennaWatch.report,
    rf: rfBlock(observed),
  }
}

/** Interference, spoofing, and received against expected signals. */
function rfBlock(observed: Observed) {
  const now_ms = observed.now_ms()
  const { radio, signals } = observed
  return {
    jamming: radio.jamming(now_ms),
    spoofing: radio.spoofing(now_ms),
    slips: roundTo(100 * signals.slips(now_ms), 3),
    bands: radio.bands(now_ms).map(reported),
    constellations: signals.report(now_ms),
  }
}

/** Without the numbers that the receiver does not report. */
const reported = (band: BandReading) =>
  Object.fromEntries(Object.entries(band).filter(([, value]) => !Number.isNaN(value)))

export function posBlock(observed: Observed) {
  const { place } = observed
  if (!place) {
    return { lat: 0, lon: 0, alt: 0, x: 0, y: 0, z: 0, acc: 0, 'geoidal-seperation': 0, t: 0, tm: '' }
  }
  // `t` marks an existing position, so an epoch without a time gets that of the receiver or the device.
  const age_s = (observed.now_ms() - place.arrival_ms) / 1000
  const t = Math.round(place.t > 0 ? place.t : Math.max(0, observed.utc_s() - age_s))
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
 * Corrections and reference as the receiver reports them. A plugin that knows more builds these fields instead.
 * @param procedure of the plugin that runs the GNSS procedure, if any
 * @param input `rtcmin`
 */
export function standIns(
  observed: Observed,
  correctionMaxAge_s: number,
  procedure: ProcedureStatus | undefined,
  input: CorrectionStatus['input'],
) {
  return {
    state: {
      want_corr: input === 'on' || (input !== 'off' && procedure?.wantsCorrections) ? 1 : 0,
      recvrtcm: observed.corrections.block(observed.now_ms(), correctionMaxAge_s),
    },
    pos: { delta: 0 },
    ref: referenceOf(observed),
  }
}

export function standInSettings(observed: Observed) {
  return {
    ref: { survey: { config: noConfig }, chosen: isSurveyed(observed) ? 'survey' : 'manual' },
    config: { startup: { accuracy: 0, delta_max: 0, delta_max_corr: 0 } },
  }
}

const nothing = { type: '', x: 0, y: 0, z: 0, acc: 0, t: 0, tm: '', hp: false, corr: false, frame: '', epoch: '' }
const noRtcm = { age: 0, count: 0, remote: '', dist: 0 }
const noConfig = { mintime: 0, maxtime: 0, accuracy: 0, accuracy_corr: 0, frame_corr: '', epoch_corr: '' }

/** The receiver's own survey-in found the position that it announces. */
function isSurveyed({ receiver, arp }: Observed): boolean {
  const survey = receiver?.ownSurvey
  return survey?.valid === true && (!arp || sameReference(arp.position, survey.mean))
}

/** The position in its 1005 or 1006: under `manual`, or under `survey` when the receiver found it by its own survey-in. */
function referenceOf(observed: Observed) {
  const { arp, receiver } = observed
  const survey = receiver?.ownSurvey
  const surveyed = isSurveyed(observed)
  const t = Math.floor(arp?.utc_s ?? 0)
  const reference = arp
    ? { ...nothing, type: 'ecef', ...arp.position, hp: hasTenthMm(arp.position), t, tm: formatTm(t) }
    : surveyed && survey
      ? { ...nothing, type: 'ecef', ...survey.mean, hp: hasTenthMm(survey.mean) }
      : nothing
  return {
    manual: { ...(surveyed ? nothing : reference), point: 'arp', offset: 0 },
    survey: {
      ...(surveyed ? { ...reference, acc: survey?.meanAcc_m ?? 0 } : nothing),
      state: surveyed ? 'complete' : survey?.active ? 'running' : 'none',
      allow_use: 0,
      acc_corr: 0,
      accuracy_corr_dyn: 0,
      elapsed: survey?.elapsed_s ?? 0,
      count: survey?.observations ?? 0,
      rtcm: noRtcm,
    },
  }
}
