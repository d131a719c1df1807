import { noSimulator, portFrom, SimulatedLine } from 'rtk-base/link'
import { definePlugin } from 'rtk-base/plugin'
import { receiver, receiverSettings, simulatedReceiver, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { UnicoreReceiver } from './unicore.js'

/** Rates found in the field, tried in this order after the configured one. */
const usualBauds = [115_200, 460_800, 921_600, 230_400]
const Interval = (fallback: number, description: string) =>
  Type.Integer({ default: fallback, minimum: 1, maximum: 255, description })

const Options = Type.Object(
  {
    port: Type.String({
      default: '/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0',
      pattern: '^(simulator|tcp://.+:\\d{1,5}|/.+)$',
      description:
        'A device path (best below /dev/serial/by-id; the default is the CH340 of many boards), tcp://host:port or simulator',
    }),
    baud: Type.Integer({
      default: 115_200,
      minimum: 9_600,
      maximum: 921_600,
      description: 'Line rate of a serial port, tried before the usual ones',
    }),
    msm: Type.Union([Type.Literal(4), Type.Literal(7)], { default: 7, description: 'MSM type of all constellations' }),
    msmInterval_s: Interval(1, 'Seconds between two observations'),
    referenceInterval_s: Interval(1, 'Seconds between two 1005'),
    biasInterval_s: Interval(10, 'Seconds between two 1230'),
  },
  { additionalProperties: false },
)

/** A Unicore UM980, UM981 or UM982 as the station's receiver. */
export default definePlugin({
  name: 'gnss-unicore',
  version: '1.0.0',
  api: '^1.1.0',
  needs: [station],
  options: Options,
  provides: [receiver],

  setup(ctx, { port, baud, msmInterval_s, ...rtcm }) {
    const isSimulated = port === 'simulator'
    // The last known one, also while the plugin that has it is reloaded.
    let stationId = 0
    const line = isSimulated ? new SimulatedLine(ctx) : portFrom(port, { pace: 0, loop: false, delay: 0 }, ctx)
    const unicore = new UnicoreReceiver(ctx, line, {
      base: { ...rtcm, observationInterval_s: msmInterval_s, elevationMask_deg: undefined, constellations: undefined },
      bauds: [baud, ...usualBauds.filter((usual) => usual !== baud)],
      stationId() {
        stationId = ctx.services.find(receiverSettings)?.stationId ?? stationId
        return stationId
      },
    })
    ctx.services.provide(receiver, unicore)
    return { unicore, isSimulated }
  },

  start(ctx, _handoff, { unicore, isSimulated }) {
    if (isSimulated)
      ctx.services.watch(simulatedReceiver, (there) => {
        const advice = 'list the plugin of a simulated receiver, or set gnss-unicore.port'
        if (there) ctx.errors.clear('receiver-simulator')
        else ctx.errors.raise('receiver-simulator', { text: noSimulator, advice })
      })
    ctx.on(ctx.services.use(station).onCountersReset, () => unicore.resetCounters())
    unicore.start()
  },

  async stop(_reason, { unicore }) {
    await unicore.stop()
  },
})
