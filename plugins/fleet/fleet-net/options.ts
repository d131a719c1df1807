import { type Static, Type } from 'typebox'

export const NetOptions = Type.Object(
  {
    reach_km: Type.Number({
      default: 50,
      minimum: 1,
      maximum: 150,
      description: 'Stations that are farther apart are not compared, km',
    }),
    window_min: Type.Integer({
      default: 60,
      minimum: 10,
      maximum: 60,
      description: 'RTCM of this time is used for each vector, minutes',
    }),
    every_min: Type.Integer({
      default: 60,
      minimum: 10,
      maximum: 1_440,
      description: 'A pair is compared again after this time, minutes',
    }),
    atOnce: Type.Integer({
      default: 200,
      minimum: 1,
      maximum: 2_000,
      description: 'Pairs that this instance compares at the same time. Each vector takes about 1.6 s of the processor',
    }),
    retention_days: Type.Integer({
      default: 400,
      minimum: 31,
      maximum: 3_660,
      description: 'Daily medians of the vectors are kept this long',
    }),
  },
  { additionalProperties: false },
)
export type Settings = Static<typeof NetOptions>
