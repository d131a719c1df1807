/**
 * The reference as the receiver itself reports it: the position in its 1005 or 1006. It is shown under `manual`, or under `survey`
 * when the receiver says that it found it by its own survey-in.
 */
import { formatTm, hasTenthMm, sameReference } from 'rtk-base/gnss'
import type { ZedReceiver } from '../zed.js'

const nothing = { type: '', x: 0, y: 0, z: 0, acc: 0, t: 0, tm: '', hp: false, corr: false, frame: '', epoch: '' }
const noRtcm = { age: 0, count: 0, remote: '', dist: 0 }
const noConfig = { mintime: 0, maxtime: 0, accuracy: 0, accuracy_corr: 0, frame_corr: '', epoch_corr: '' }

/** The survey-in of the receiver, where its result is the position that it announces. */
function ownSurvey({ facts: { survey, arp } }: ZedReceiver) {
  if (!survey) return { mean: undefined, isReference: false }
  const mean = { x: survey.x_m, y: survey.y_m, z: survey.z_m }
  return { mean, isReference: survey.valid && (!arp || sameReference(arp.position, mean)) }
}

export function refRuntime(zed: ZedReceiver) {
  const { survey, arp } = zed.facts
  const { mean, isReference: surveyed } = ownSurvey(zed)
  const t = Math.floor(arp?.utc_s ?? 0)
  const reference = arp
    ? { ...nothing, type: 'ecef', ...arp.position, hp: hasTenthMm(arp.position), t, tm: formatTm(t) }
    : surveyed && mean
      ? { ...nothing, type: 'ecef', ...mean, hp: hasTenthMm(mean) }
      : nothing
  return {
    manual: { ...(surveyed ? nothing : reference), point: 'arp', offset: 0 },
    survey: {
      ...(surveyed ? { ...reference, acc: survey?.meanAcc_m ?? 0 } : nothing),
      state: surveyed ? 'complete' : survey?.active ? 'running' : 'none',
      allow_use: 0,
      acc_corr: 0,
      accuracy_corr_dyn: 0,
      elapsed: survey?.dur_s ?? 0,
      count: survey?.obs ?? 0,
      rtcm: noRtcm,
    },
  }
}

export function refConfig(zed: ZedReceiver) {
  return { survey: { config: noConfig }, chosen: ownSurvey(zed).isReference ? 'survey' : 'manual' }
}
