import { type Static, Type } from 'typebox'
import { moved_m } from './limits.js'

/** Deploy-time options of the plugin. */
export const IntegrityOptions = Type.Object(
  {
    initial_s: Type.Integer({
      default: 60,
      minimum: 5,
      maximum: 600,
      description: 'Length of the median window of the start-up check, seconds',
    }),
    phases: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: 'Detect antenna moves by the carrier phases',
        }),
        threshold_m: Type.Number({
          default: moved_m,
          minimum: 0.01,
          maximum: 10,
          description: 'Net displacement within 10 s that counts as a move, metres',
        }),
      },
      { default: {}, additionalProperties: false, description: 'The phase watch' },
    ),
  },
  { additionalProperties: false },
)
export type IntegrityOptions = Static<typeof IntegrityOptions>
