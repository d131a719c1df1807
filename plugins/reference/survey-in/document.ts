/** The parts of the `gnss` block that the procedure fills. Shapes and units: schemas/info/gnss.ts. */
import { formatTm, hasTenthMm, roundTo } from 'rtk-base/gnss'
import type { Parameters } from './parameters.js'
import type { Reference } from './reference/reference.js'
import type { ReferenceStation } from './reference-station.js'
import { never_s } from './survey/survey-run.js'
import { positionOf } from './survey/surveyor.js'

const nothing = { type: '', x: 0, y: 0, z: 0, acc: 0, t: 0, tm: '', hp: false, corr: false, frame: '', epoch: '' }

function referenceFields(reference: Reference) {
  const { arp, acc_m, t, corr, datum: { frame, epoch } = { frame: '', epoch: '' } } = reference
  return { type: 'ecef', ...arp, acc: roundTo(acc_m, 4), t, tm: formatTm(t), hp: hasTenthMm(arp), corr, frame, epoch }
}

/** The entered position; not a reference until a group of coordinates is complete. */
function manualBlock({ references }: ReferenceStation, parameters: Parameters) {
  const { x, y, z, acc, hp, corr, source } = parameters.manual()
  const { manual } = references
  const { point, offset_m: offset } = parameters.point()
  const entry = { hp, ...parameters.wantedDatum(), ...manual?.datum, point, offset, ...(source && { source }) }
  if (!manual) return { ...nothing, x: x ?? 0, y: y ?? 0, z: z ?? 0, acc, corr, ...entry }
  return { ...referenceFields(manual), ...entry }
}

function surveyBlock({ surveyor: { record } }: ReferenceStation) {
  const { state, acc_m, corrected, allowUse, needed_m, elapsed_s, count, rtcm, relative_m = acc_m } = record
  const position = positionOf(record)
  return {
    ...(position ? referenceFields(position) : nothing),
    corr: corrected,
    state,
    allow_use: allowUse ? 1 : 0,
    acc_corr: corrected ? roundTo(relative_m, 4) : 0,
    accuracy_corr_dyn: corrected ? roundTo(needed_m, 4) : 0,
    elapsed: Math.floor(elapsed_s),
    count,
    rtcm: {
      age: rtcm.count > 0 && rtcm.age_s < never_s ? Math.floor(rtcm.age_s) : 0,
      count: rtcm.count,
      remote: rtcm.remote,
      dist: roundTo(rtcm.dist_m, 1),
    },
  }
}

/** A person's override, as long as its reference is the chosen one. */
function overrideBlock({ references: { override } }: ReferenceStation) {
  if (!override) return undefined
  const { t, by, distance_m: distance, offset, evidence } = override
  return { t, tm: formatTm(t), by, distance, ...offset, evidence }
}

export function runtimeRef(base: ReferenceStation) {
  const override = overrideBlock(base)
  const { drift } = base
  return {
    survey: surveyBlock(base),
    ...(override && { override }),
    ...(drift && { announced: { drift: roundTo(drift.rate_m, 4), away: roundTo(drift.since_m, 4) } }),
  }
}

/** In listening mode the manual reference is the receiver's own; the parameters still apply. */
export function configRef(base: ReferenceStation, parameters: Parameters) {
  const { frame: frame_corr, epoch: epoch_corr } = parameters.correctionDatum()
  const { frame = '', epoch = 0, plate = '' } = parameters.announced()
  const { mintime_s: mintime, maxtime_s: maxtime, accuracy_m: accuracy, accuracyCorr_m } = parameters.limits()
  return {
    ...(!base.listening && { manual: manualBlock(base, parameters) }),
    survey: { config: { mintime, maxtime, accuracy, accuracy_corr: accuracyCorr_m, frame_corr, epoch_corr } },
    chosen: parameters.chosen(),
    announced: { frame, epoch, plate },
  }
}
