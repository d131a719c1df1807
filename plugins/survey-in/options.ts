import { type Static, Type } from 'typebox'
import { type AccuracyModel, correctedModel, plainModel } from './survey/estimator.js'

const model = (defaults: AccuracyModel, description: string) =>
  Type.Object(
    {
      floor_s: Type.Number({
        default: defaults.floor_s,
        minimum: 1,
        maximum: 86_400,
        description: 'Correlation time of the errors that is assumed at least, seconds',
      }),
      bias_m: Type.Number({
        default: defaults.bias_m,
        minimum: 0,
        maximum: 100,
        description: '1 sigma that no averaging takes away, metres',
      }),
      bias_ppm: Type.Number({
        default: defaults.bias_ppm,
        minimum: 0,
        maximum: 100,
        description: 'The same, growing with the distance to the source of the corrections',
      }),
    },
    { default: {}, additionalProperties: false, description },
  )

/** Deploy-time options of the plugin. */
export const SurveyInOptions = Type.Object(
  {
    plain: model(plainModel, 'What is assumed of single-point positions'),
    corrected: model(correctedModel, 'What is assumed of RTK-fixed positions'),
    trustedSources: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      default: [],
      maxItems: 64,
      description:
        'Sources of corrections whose announced position is known to be right, as `gnss.ref.survey.rtcm.remote` names them, with or without the port; not empty: a survey-in uses no others',
    }),
    history: Type.Integer({
      default: 200,
      minimum: 1,
      maximum: 1000,
      description: 'Entries that the ledger of references keeps',
    }),
  },
  { additionalProperties: false },
)
export type SurveyInOptions = Static<typeof SurveyInOptions>
