/** Shapes of the plugin's stored values, which a disk or a person may have damaged. Additional members are ignored. */
import { EcefShape, EnuShape } from 'rtk-base/schemas'
import { Type } from 'typebox'
import { Datum } from './reference/datum.js'
import { Reference } from './reference/reference.js'
import { SurveySnapshot } from './survey/survey-run.js'

const number = Type.Number()
const count = Type.Number({ minimum: 0 })
const text = Type.String()
const flag = Type.Boolean()
const optional = Type.Optional
// An infinite age is null in the store of an earlier release.
const corrections = Type.Object({
  age_s: Type.Union([number, Type.Null()]),
  count: number,
  remote: text,
  dist_m: count,
})
const progress = Type.Object({ ...SurveySnapshot.properties, rtcm: corrections })

/** A history entry; damaged entries are dropped. */
export const historyEntry = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  what: Type.Union([Type.Literal('used'), Type.Literal('moved'), Type.Literal('confirmed')]),
  method: Reference.properties.method,
  x: number,
  y: number,
  z: number,
  acc: count,
  samples: number,
  elapsed: number,
  corr: flag,
  frame: optional(text),
  epoch: optional(text),
  source: optional(text),
  determined: number,
  t: number,
  by: text,
  offset: optional(EnuShape),
  evidence: optional(text),
})

const Move = Type.Object({
  by: Type.Union([Type.Literal('phases'), Type.Literal('code')]),
  t: number,
  size_m: count,
  isLeast: flag,
  moves: count,
  vector: optional(
    Type.Object({
      east_m: number,
      north_m: number,
      up_m: number,
      covariance: Type.Tuple([count, number, number, count, number, count]),
    }),
  ),
})

export const storedValues = {
  survey: Type.Object({
    state: Type.Union(['none', 'running', 'complete', 'incomplete', 'aborted'].map((state) => Type.Literal(state))),
    corrected: flag,
    by: text,
    mean: optional(EcefShape),
    acc_m: count,
    relative_m: optional(count),
    needed_m: count,
    elapsed_s: count,
    count,
    t: number,
    allowUse: flag,
    rtcm: corrections,
    reason: text,
    datum: optional(Datum),
    progress: optional(progress),
    previous: optional(Reference),
  }),
  manual: Type.Object({ entry: text, t: number, by: text }),
  trusted: Type.Unknown(),
  suspicion: Type.Unknown(),
  elsewhere: Type.Record(Type.String(), Type.Union([text, number, flag])),
  override: Type.Object({
    reference: text,
    t: number,
    by: text,
    distance_m: count,
    offset: EnuShape,
    evidence: text,
    move: optional(Move),
    place: optional(Type.Object({ arp: EcefShape, acc_m: count, corr: flag })),
  }),
  left: Type.Object({
    arp: EcefShape,
    t: number,
    evidence: text,
    distance_m: optional(count),
    move: optional(Move),
  }),
  confirmation: Type.Object({ reference: text, t: number, by: text }),
  ledger: Type.Array(Type.Unknown()),
  saved: Type.Array(Type.Unknown()),
}
