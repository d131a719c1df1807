import { type Static, Type } from 'typebox'
import { moved_m } from './limits.js'

/** Deploy-time options of the plugin. */
export const IntegrityOptions = Type.Object(
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
          default: moved_m,
          minimum: 0.01,
          maximum: 10,
          description: 'A net displacement within 10 s from which on the antenna has moved, metres',
        }),
      },
      { default: {}, additionalProperties: false, description: 'The phase watch' },
    ),
  },
  { additionalProperties: false },
)
export type IntegrityOptions = Static<typeof IntegrityOptions>
