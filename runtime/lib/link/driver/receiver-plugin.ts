import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { BytePort } from '../../../../schemas/byte-port.js'
import { receiver } from '../../../../schemas/services/receiver.js'
import { receiverSettings } from '../../../../schemas/services/reception.js'
import { simulatedReceiver } from '../../../../schemas/services/simulator.js'
import { station } from '../../../../schemas/services/station.js'
import { definePlugin, type PluginContext } from '../../../plugin.js'
import { portFrom } from '../port/port-from.js'
import { SimulatedLine } from '../port/simulated-line.js'
import type { DriverOptions, ReceiverDriver } from './receiver-driver.js'

const Interval = (fallback: number, description: string) =>
  Type.Integer({ default: fallback, minimum: 1, maximum: 255, description })

/** The argument of `receiverPlugin`. */
export interface ReceiverPlugin<P extends TProperties> {
  readonly name: string
  readonly version: string
  /** Default of the option `port` (a device path), and a description of it (`what`). */
  readonly port: { readonly default: string; readonly what: string }
  /** Usual line rates; the first is the default of the option `baud`. */
  readonly bauds: readonly [number, ...number[]]
  /** Further options, for this family only. */
  readonly own: P
  create(
    ctx: PluginContext,
    line: BytePort,
    driver: DriverOptions,
    own: Static<TObject<P>>,
  ): Pick<ReceiverDriver<never>, keyof ReceiverDriver<never>>
}

const baseOptions = ({ port, bauds }: Pick<ReceiverPlugin<TProperties>, 'port' | 'bauds'>) => ({
  port: Type.String({
    default: port.default,
    pattern: '^(simulator|tcp://.+:\\d{1,5}|/.+)$',
    description: `A device path (best below /dev/serial/by-id; the default is ${port.what}), tcp://host:port or simulator`,
  }),
  baud: Type.Integer({
    default: bauds[0],
    minimum: 9_600,
    maximum: 921_600,
    description: 'Line rate of a serial port, tried before the usual ones',
  }),
  msm: Type.Union([Type.Literal(4), Type.Literal(7)], { default: 7, description: 'MSM type of all constellations' }),
  msmInterval_s: Interval(1, 'Seconds between two observations'),
  referenceInterval_s: Interval(1, 'Seconds between two 1005'),
  biasInterval_s: Interval(10, 'Seconds between two 1230'),
})

/**
 * Makes the plugin of a family of receivers: its options, the line to the receiver, and the driver as the service
 * `receiver`.
 */
export function receiverPlugin<P extends TProperties>({ name, version, own, create, ...place }: ReceiverPlugin<P>) {
  const options = baseOptions(place)
  return definePlugin({
    name,
    version,
    api: '^1.0.0',
    needs: [station],
    options: Type.Object({ ...own, ...options }, { additionalProperties: false }),
    provides: [receiver],

    setup(ctx, given) {
      const { port, baud, msm, msmInterval_s, ...intervals } = given as Static<TObject<typeof options>>
      const isSimulated = port === 'simulator'
      // The last known one, also while the plugin that has it is reloaded.
      let stationId = 0
      const line = isSimulated ? new SimulatedLine(ctx) : portFrom(port, { pace: 0, loop: false, delay: 0 }, ctx)
      const { referenceInterval_s, biasInterval_s } = intervals
      const base = { msm, observationInterval_s: msmInterval_s, referenceInterval_s, biasInterval_s }
      const driver = create(
        ctx,
        line,
        {
          base: { ...base, elevationMask_deg: undefined, constellations: undefined },
          bauds: [baud, ...place.bauds.filter((usual) => usual !== baud)],
          stationId() {
            stationId = ctx.services.find(receiverSettings)?.stationId ?? stationId
            return stationId
          },
        },
        given as Static<TObject<P>>,
      )
      ctx.services.provide(receiver, driver)
      return { driver, isSimulated }
    },

    start(ctx, _handoff, { driver, isSimulated }) {
      if (isSimulated)
        ctx.services.watch(simulatedReceiver, (there) => {
          ctx.errors.while('receiver-simulator', !there && { setting: `${name}.port` })
        })
      ctx.on(ctx.services.use(station).onCountersReset, () => driver.resetCounters())
      driver.start()
    },

    async stop(_reason, { driver }) {
      await driver.stop()
    },
  })
}
