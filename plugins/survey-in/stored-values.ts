/** Shapes of the plugin's stored values, which a disk or a person may have damaged. Additional members are ignored. */
import { Type } from 'typebox'

const number = Type.Number()
const count = Type.Number({ minimum: 0 })
const text = Type.String()
const flag = Type.Boolean()
const optional = Type.Optional
const axes = Type.Tuple([number, number, number])
const ecef = Type.Object({ x: number, y: number, z: number })
const enu = Type.Object({ east: number, north: number, up: number })
const datum = Type.Object({ frame: text, epoch: text })
const seen = Type.Object({ position: ecef, acc_m: count })
// An infinite age is null in the store of an earlier release.
const corrections = Type.Object({
  age_s: Type.Union([number, Type.Null()]),
  count: number,
  remote: text,
  dist_m: count,
})
const method = Type.Union([Type.Literal('survey'), Type.Literal('manual')])

const reference = Type.Object({
  method,
  arp: ecef,
  acc_m: count,
  corr: flag,
  t: number,
  by: text,
  samples: number,
  elapsed_s: number,
  datum: optional(datum),
  source: optional(text),
})

const estimator = Type.Object({
  origin: ecef,
  mean: axes,
  weight: count,
  count,
  observed_s: count,
  median: Type.Array(Type.Tuple([count, count]), { maxItems: 10_000 }),
  correlation: Type.Object({
    width: Type.Integer({ minimum: 1 }),
    bins: Type.Array(number, { maxItems: 10_000 }),
    open: Type.Object({ sum: axes, count }),
    moments: Type.Object({ count, mean: axes, squares: count }),
  }),
})

const progress = Type.Object({
  corrected: flag,
  by: text,
  elapsed_s: count,
  total_s: count,
  rtcm: corrections,
  estimator: optional(estimator),
  level: optional(ecef),
  initialisations: optional(Type.Object({ first: optional(ecef), agreed: flag, agreements: optional(count) })),
  plain: optional(seen),
  trusted: optional(Type.Literal(true)),
})

/** A history entry; damaged entries are dropped. */
export const historyEntry = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  what: Type.Union([Type.Literal('used'), Type.Literal('moved'), Type.Literal('confirmed')]),
  method,
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
  offset: optional(enu),
  evidence: optional(text),
})

export const storedValues = {
  survey: Type.Object({
    state: Type.Union(['none', 'running', 'complete', 'incomplete', 'aborted'].map((state) => Type.Literal(state))),
    corrected: flag,
    by: text,
    mean: optional(ecef),
    acc_m: count,
    relative_m: optional(count),
    needed_m: count,
    elapsed_s: count,
    count,
    t: number,
    allowUse: flag,
    rtcm: corrections,
    reason: text,
    datum: optional(datum),
    progress: optional(progress),
    previous: optional(reference),
  }),
  manual: Type.Object({ entry: text, t: number, by: text }),
  trusted: Type.Unknown(),
  suspicion: Type.Unknown(),
  elsewhere: Type.Object({ text, values: Type.Record(Type.String(), Type.Union([text, number, flag])) }),
  override: Type.Object({
    reference: text,
    t: number,
    by: text,
    distance_m: count,
    offset: enu,
    evidence: text,
    place: optional(Type.Object({ arp: ecef, acc_m: count, corr: flag })),
  }),
  confirmation: Type.Object({ reference: text, t: number, by: text }),
  ledger: Type.Array(Type.Unknown()),
  saved: Type.Array(Type.Unknown()),
}
