import { noSimulator, portFrom, SimulatedLine } from 'rtk-base/link'
import { definePlugin } from 'rtk-base/plugin'
import { type Receiver, receiver, receiverSettings, simulatedReceiver, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { takenOutput } from './plan.js'
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
    let stationId = 0
    const line = isSimulated ? new SimulatedLine(ctx) : portFrom(port, { pace: 0, loop: false, delay: 0 }, ctx)
    const unicore = new UnicoreReceiver(ctx, line, {
      base: { ...rtcm, observationInterval_s: msmInterval_s, elevationMask_deg: undefined, constellations: undefined },
      bauds: [baud, ...usualBauds.filter((usual) => usual !== baud)],
      get stationId() {
        return stationId
      },
    })
    ctx.services.provide(
      receiver,
      serviceOf(unicore, () => stationId),
    )
    /** @returns whether the ID changed */
    const setStation = (id: number) => {
      const isSame = id === stationId
      stationId = id
      return !isSame
    }
    return { unicore, isSimulated, setStation }
  },

  start(ctx, _handoff, { unicore, isSimulated, setStation }) {
    if (isSimulated)
      ctx.services.watch(simulatedReceiver, (there) => {
        const advice = 'list the plugin of a simulated receiver, or set gnss-unicore.port'
        if (there) ctx.errors.clear('receiver-simulator')
        else ctx.errors.raise('receiver-simulator', { text: noSimulator, advice })
      })
    ctx.services.watch(receiverSettings, (settings) => {
      if (!settings) return undefined
      setStation(settings.stationId)
      return ctx.on(settings.onChange, () => {
        if (setStation(settings.stationId)) unicore.onState.emit()
      })
    })
    ctx.on(ctx.services.use(station).onCountersReset, () => unicore.resetCounters())
    unicore.start()
  },

  async stop(_reason, { unicore }) {
    await unicore.stop()
  },
})

function serviceOf(unicore: UnicoreReceiver, stationId: () => number): Receiver {
  return {
    can: {
      ...{ ownSurvey: false, fixedPosition: 'ecef', settings: 'volatile', restarts: false, stationId: true },
      ...{ antennaDescriptor: false, reports: new Set(['satellites', 'signals'] as const) },
      ...{ rawObservations: ['OBSVM'], intervals_s: [1, 2, 5, 10, 15, 30], output: takenOutput },
    },
    get link() {
      return unicore.link
    },
    get place() {
      return unicore.place
    },
    get mode() {
      return unicore.mode
    },
    get identity() {
      return unicore.identity
    },
    get fix() {
      return unicore.fix
    },
    get satellites() {
      return unicore.satellites
    },
    get corruptRtcm() {
      return unicore.corruptRtcm
    },
    get configured() {
      return unicore.configured
    },
    get stationId() {
      return stationId()
    },
    get output() {
      const { constellations, elevationMask_deg, ...rtcm } = unicore.settings ?? {}
      return {
        ...rtcm,
        ...(constellations && { constellations }),
        ...(elevationMask_deg !== undefined && { elevationMask_deg }),
      }
    },
    get intervals_s() {
      const { observationInterval_s = 1, referenceInterval_s = 1 } = unicore.settings ?? {}
      return { observations: observationInterval_s, reference: referenceInterval_s }
    },
    // It does not say when it started.
    sinceReset_ms: undefined,
    resetCounters: () => unicore.resetCounters(),
    configure: (target) => unicore.configure(target),
    readTarget: async () => (unicore.link === 'offline' ? undefined : unicore.readTarget()),
    restart: () => unicore.restart(),
    sendCorrections: (frames) => unicore.write(frames),
    onRtcm: unicore.onRtcm.on,
    onFix: unicore.onFix.on,
    onEphemeris: unicore.onEphemeris.on,
    onState: unicore.onState.on,
    onTime: unicore.onTime.on,
    onSatellites: unicore.onSatellites.on,
  }
}
