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
    initial_s: Type.Integer({
      default: 60,
      minimum: 5,
      maximum: 600,
      description: 'Window of the median that the start-up check goes by, seconds',
    }),
    phases: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: 'Whether the carrier phases are watched for moves of the antenna',
        }),
        threshold_m: Type.Number({
          default: 0.03,
          minimum: 0.01,
          maximum: 10,
          description: 'A net displacement within 10 s from which on the antenna has moved, metres',
        }),
      },
      { default: {}, additionalProperties: false, description: 'The phase watch' },
    ),
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
