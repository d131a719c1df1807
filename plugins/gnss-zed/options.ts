import { type Static, Type } from 'typebox'

/** Tried in this order behind the configured rate: what receivers are found with in the field. */
const usualBauds = [38_400, 115_200, 460_800, 9600, 230_400, 57_600, 921_600]
const Baud = Type.Integer({ minimum: 4800, maximum: 8_000_000 })

/** Deploy-time options of the plugin. */
export const ZedOptions = Type.Object(
  {
    port: Type.String({
      default: '/dev/serial/by-id/usb-u-blox_AG_-_www.u-blox.com_u-blox_GNSS_receiver-if00',
      pattern: '^(simulator|replay:.+|tcp://.+:\\d{1,5}|/.+)$',
      description: 'Device path (best below /dev/serial/by-id), tcp://host:port, replay:<file> or simulator',
    }),
    baud: Type.Union([Baud, Type.Array(Baud, { minItems: 1, maxItems: 16 })], {
      default: usualBauds,
      description: 'Line rate of a serial port; a list is tried in order, a single rate before the usual ones',
    }),
    configure: Type.Boolean({
      default: true,
      description: 'false: write nothing at all, only listen to a receiver that someone else configured',
    }),
    pace: Type.Number({
      default: 0,
      minimum: 0,
      description: 'Replay: bytes per second; 0: as fast as possible',
    }),
    loop: Type.Boolean({ default: false, description: 'Replay: begin again at the end' }),
    simulator: Type.Object(
      {
        boot: Type.Union([Type.Literal('fixed'), Type.Literal('rover')], {
          default: 'fixed',
          description: 'fixed: a base at its position, as someone set it up; rover: as from the factory',
        }),
        lat: Type.Number({ default: 52, minimum: -90, maximum: 90, description: 'Where its antenna is, degrees' }),
        lon: Type.Number({ default: 4, minimum: -180, maximum: 180 }),
        alt: Type.Number({ default: 50, minimum: -1000, maximum: 100_000, description: 'Ellipsoidal height, metres' }),
        seed: Type.Integer({ default: 1, minimum: 0, maximum: 0xffffffff, description: 'Of its noise' }),
        wiring: Type.Union([Type.Literal('USB'), Type.Literal('UART1'), Type.Literal('UART2')], {
          default: 'USB',
          description: 'The port of the receiver that it is connected by',
        }),
        uniqueId: Type.String({ default: '5A45440001', pattern: '^[0-9A-F]{10}$' }),
        geoidSeparation_m: Type.Number({ default: 44.568, minimum: -120, maximum: 120 }),
        nmea: Type.Boolean({ default: false, description: 'Send NMEA GGA too' }),
      },
      { default: {}, description: 'The simulated receiver' },
    ),
  },
  { additionalProperties: false },
)
export type ZedOptions = Static<typeof ZedOptions>

/** The rates to try, the configured one first. */
export function baudsToTry(baud: ZedOptions['baud']): number[] {
  return typeof baud === 'number' ? [baud, ...usualBauds.filter((usual) => usual !== baud)] : [...baud]
}
