import { type Static, Type } from 'typebox'
import { defaultLimits } from './arbitration/memory.js'

const seconds = (ms: number, description: string) =>
  Type.Number({ default: ms / 1000, minimum: 1, maximum: 86_400, description })

/** Deploy-time options of the plugin. */
export const RadioOptions = Type.Object(
  {
    backend: Type.Union([Type.Literal('machine'), Type.Literal('simulator')], {
      default: 'machine',
      description: 'iw, wpa_supplicant and files of this machine, or those of the plugin simulated-machine',
    }),
    interface: Type.String({
      default: '',
      pattern: '^[A-Za-z0-9_.-]{0,15}$',
      description: 'The one radio to use; empty: all that the network daemon manages',
    }),
    both: Type.Union([Type.Literal('auto'), Type.Literal('never')], {
      default: 'auto',
      description: 'Access point and uplink at once on one radio, where its driver offers that',
    }),
    fallback_s: seconds(
      defaultLimits.fallback_ms,
      'The uplink is away for so long before the access point takes the radio',
    ),
    rescan_s: seconds(defaultLimits.rescan_ms, 'The access point searches for the uplink so often'),
    suppression_s: seconds(
      defaultLimits.suppression_ms,
      'Joins that failed give the radio to the access point for so long',
    ),
    blind_s: seconds(defaultLimits.blind_ms, 'Where the driver cannot scan as an access point: between two attempts'),
    clientsHold_s: seconds(
      defaultLimits.clientsHold_ms,
      'An access point with clients keeps the radio at least so long',
    ),
    departuresPerHour: Type.Integer({
      default: defaultLimits.mostDepartures,
      minimum: 1,
      maximum: 60,
      description: 'The access point is given up for the uplink at most so often in an hour',
    }),
  },
  { additionalProperties: false },
)
export type RadioOptions = Static<typeof RadioOptions>

export const limitsOf = (options: RadioOptions) => ({
  ...defaultLimits,
  fallback_ms: options.fallback_s * 1000,
  rescan_ms: options.rescan_s * 1000,
  suppression_ms: options.suppression_s * 1000,
  blind_ms: options.blind_s * 1000,
  clientsHold_ms: options.clientsHold_s * 1000,
  mostDepartures: options.departuresPerHour,
})
