import { type Static, Type } from 'typebox'

/** Rates found in the field, tried in this order after the configured one. */
const usualBauds = [38_400, 115_200, 460_800, 9600, 230_400, 57_600, 921_600]
const Baud = Type.Integer({ minimum: 4800, maximum: 8_000_000 })

const Interval = (fallback: number, description: string) =>
  Type.Integer({ default: fallback, minimum: 1, maximum: 255, description })
const Switch = (fallback: 'on' | 'keep', description: string) =>
  Type.Union([Type.Literal('on'), Type.Literal('off'), Type.Literal('keep')], { default: fallback, description })

/** Deploy-time options of the plugin. */
export const ZedOptions = Type.Object(
  {
    port: Type.String({
      default: '/dev/serial/by-id/usb-u-blox_AG_-_www.u-blox.com_u-blox_GNSS_receiver-if00',
      pattern: '^(simulator|replay:.+|tcp://.+:\\d{1,5}|/.+)$',
      description: 'A device path (best below /dev/serial/by-id), tcp://host:port, replay:<file> or simulator',
    }),
    baud: Type.Union([Baud, Type.Array(Baud, { minItems: 1, maxItems: 16 })], {
      default: usualBauds,
      description: 'Line rate of a serial port; a list is tried in order, a single rate before the usual ones',
    }),
    configure: Type.Boolean({
      default: true,
      description: 'false: never write, only listen to an already configured receiver',
    }),
    rtcm: Type.Object(
      {
        msm: Type.Union([Type.Literal(4), Type.Literal(7)], {
          default: 4,
          description:
            'MSM type of all constellations: 4, or 7 with Doppler and finer resolution at 1.6 times the size',
        }),
        msmInterval_s: Interval(1, 'Seconds between two observations'),
        referenceInterval_s: Interval(1, 'Seconds between two 1005'),
        biasInterval_s: Interval(10, 'Seconds between two 1230'),
      },
      { additionalProperties: false, default: {}, description: 'The RTCM set: 1005, MSM, 1230' },
    ),
    antenna: Type.Object(
      {
        power: Switch('on', 'Voltage for an active antenna'),
        shortDetection: Switch('on', 'Tells a short circuit'),
        openDetection: Switch('keep', 'Tells an open circuit; needs the wiring on the board'),
        powerDown: Switch('on', 'Takes the voltage away from a short circuit'),
        recovery: Switch('on', 'Tries again after a short circuit'),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'The antenna supervisor; keep: as the receiver has it',
      },
    ),
    secondFix: Type.Boolean({
      default: true,
      description: 'Request the second fix (NAV2-PVT) if the firmware has it; it shows a moved antenna',
    }),
    otherPorts: Type.Union([Type.Literal('off'), Type.Literal('keep')], {
      default: 'off',
      description:
        'Input of corrections (RTCM) on the other ports of the receiver: off, or keep: as the receiver has it. The station does not know whose they are',
    }),
    signalPlan: Type.Union([Type.Literal('keep'), Type.Literal(1), Type.Literal(2), Type.Literal(6)], {
      default: 'keep',
      description:
        'ZED-X20P: its signal plan; keep: as the receiver has it. 2 is the default of the receiver, 1 has B1I and no GLONASS, 6 no E6',
    }),
    raiseBaud: Type.Boolean({
      default: true,
      description: 'Raise the rate of a UART, in RAM, until its load is below 60 %',
    }),
    pace: Type.Number({
      default: 0,
      minimum: 0,
      description: 'Replay: bytes per second; 0: as fast as possible',
    }),
    loop: Type.Boolean({ default: false, description: 'Replay: restart at the end' }),
    delay: Type.Number({
      default: 2,
      minimum: 0,
      maximum: 3600,
      description: 'Replay: start delay in seconds, so that subscribers get the first byte',
    }),
  },
  { additionalProperties: false },
)
export type ZedOptions = Static<typeof ZedOptions>

/** The rates to try, the configured one first. */
export function baudsToTry(baud: ZedOptions['baud']): number[] {
  return typeof baud === 'number' ? [baud, ...usualBauds.filter((usual) => usual !== baud)] : [...baud]
}
