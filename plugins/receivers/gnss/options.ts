import { type Static, Type } from 'typebox'

/** Deploy-time options of the plugin. */
export const GnssOptions = Type.Object(
  {
    stationId: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4095,
        description:
          'Station ID in all RTCM messages, until gnss-station-id is set; left out: drawn from the serial number',
      }),
    ),
    antennaHold: Type.Boolean({
      default: false,
      description: 'true: no RTCM is sent while the antenna is short or open',
    }),
    spoofedHold: Type.Boolean({
      default: false,
      description: 'true: no RTCM is sent while the receiver reports spoofing',
    }),
  },
  { additionalProperties: false },
)
export type GnssOptions = Static<typeof GnssOptions>
