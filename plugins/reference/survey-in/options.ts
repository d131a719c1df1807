import { type Static, Type } from 'typebox'
import { type AccuracyModel, correctedModel, plainModel } from './survey/estimator.js'

const model = (defaults: AccuracyModel, description: string) =>
  Type.Object(
    {
      floor_s: Type.Number({
        default: defaults.floor_s,
        minimum: 1,
        maximum: 86_400,
        description: 'Minimum assumed correlation time of the errors, seconds',
      }),
      bias_m: Type.Number({
        default: defaults.bias_m,
        minimum: 0,
        maximum: 100,
        description: '1 sigma that averaging does not reduce, metres',
      }),
      bias_ppm: Type.Number({
        default: defaults.bias_ppm,
        minimum: 0,
        maximum: 100,
        description: 'Growth of the bias with the distance to the correction source',
      }),
    },
    { default: {}, additionalProperties: false, description },
  )

/** Deploy-time options of the plugin. */
export const SurveyInOptions = Type.Object(
  {
    plain: model(plainModel, 'Accuracy model of single-point positions'),
    corrected: model(correctedModel, 'Accuracy model of RTK-fixed positions'),
    trustedSources: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      default: [],
      maxItems: 64,
      description:
        'Correction sources whose announced position is known to be correct, as in `gnss.ref.survey.rtcm.remote`, with or without the port; if set, a survey-in uses no others',
    }),
    history: Type.Integer({
      default: 200,
      minimum: 1,
      maximum: 1000,
      description: 'Maximum events in the list of positions',
    }),
  },
  { additionalProperties: false },
)
export type SurveyInOptions = Static<typeof SurveyInOptions>
