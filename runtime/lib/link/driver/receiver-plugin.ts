import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { BytePort } from '../../../../schemas/byte-port.js'
import { receiver } from '../../../../schemas/services/receiver.js'
import { receiverSettings } from '../../../../schemas/services/reception.js'
import { simulatedReceiver } from '../../../../schemas/services/simulator.js'
import { station } from '../../../../schemas/services/station.js'
import { definePlugin, type PluginContext } from '../../../plugin.js'
import { portFrom } from '../port/port-from.js'
import type { ReplayOptions } from '../port/replay.js'
import { SimulatedLine } from '../port/simulated-line.js'
import { type DriverOptions, DriverSnapshot, type ReceiverDriver, type StationSettings } from './receiver-driver.js'

const Interval = (fallback: number, description: string) =>
  Type.Integer({ default: fallback, minimum: 1, maximum: 255, description })

/** Driver that `create` makes. */
type AnyDriver = Pick<ReceiverDriver<never>, keyof ReceiverDriver<never>>

/** The argument of `driverPlugin`. */
export interface DriverPlugin<O extends TObject> {
  readonly name: string
  readonly version: string
  /** Names of the actions that `create` registers. */
  readonly commands?: readonly string[]
  /** Schema of all options of the plugin. */
  readonly options: O
  /** Reads the options of the line and the driver. */
  settings(
    options: Static<O>,
  ): Omit<DriverOptions, 'settings'> & { readonly port: string; readonly replay: ReplayOptions }
  create(ctx: PluginContext, line: BytePort, driver: DriverOptions, options: Static<O>): AnyDriver
}

/** Makes the plugin of a receiver: the line to the receiver, and the driver as the service `receiver`. */
export function driverPlugin<O extends TObject>({ name, version, commands = [], options, ...family }: DriverPlugin<O>) {
  return definePlugin({
    name,
    version,
    api: '^1.0.0',
    commands,
    needs: [station],
    options,
    provides: [receiver],

    setup(ctx, entered) {
      const { port, replay, ...driver } = family.settings(entered as Static<O>)
      const isSimulated = port === 'simulator'
      // The last known ones, also while the plugin that has them is reloaded.
      let settings: StationSettings = { stationId: 0, correctionMaxAge_s: 30 }
      const line = isSimulated ? new SimulatedLine(ctx) : portFrom(port, replay, ctx)
      const made = family.create(
        ctx,
        line,
        {
          ...driver,
          settings() {
            settings = ctx.services.find(receiverSettings) ?? settings
            return settings
          },
        },
        entered as Static<O>,
      )
      ctx.services.provide(receiver, made)
      return { driver: made, isSimulated }
    },

    async start(ctx, handoff, { driver, isSimulated }) {
      if (isSimulated)
        ctx.services.watch(simulatedReceiver, (there) => {
          ctx.errors.while('receiver-simulator', !there && { setting: `${name}.port` })
        })
      ctx.services.watch(receiverSettings, (there) => there && ctx.on(there.onChange, () => driver.settingsChanged()))
      ctx.on(ctx.services.use(station).onCountersReset, () => driver.resetCounters())
      const before = handoff.get('receiver', DriverSnapshot)
      if (before) driver.restore(before)
      await driver.start()
    },

    async stop(_reason, { driver }) {
      return [['receiver', await driver.stop()]]
    },
  })
}

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
  create(ctx: PluginContext, line: BytePort, driver: DriverOptions, own: Static<TObject<P>>): AnyDriver
}

const usualOptions = ({ port, bauds }: Pick<ReceiverPlugin<TProperties>, 'port' | 'bauds'>) => ({
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

/** Makes the plugin of a family of receivers with the options that most families have, and those of the family. */
export function receiverPlugin<P extends TProperties>({ name, version, own, create, ...place }: ReceiverPlugin<P>) {
  const usual = usualOptions(place)
  return driverPlugin({
    name,
    version,
    options: Type.Object({ ...own, ...usual }, { additionalProperties: false }),
    settings(options) {
      const { port, baud, msm, msmInterval_s, ...intervals } = options as Static<TObject<typeof usual>>
      const { referenceInterval_s, biasInterval_s } = intervals
      const rtcm = { msm, observationInterval_s: msmInterval_s, referenceInterval_s, biasInterval_s }
      return {
        port,
        replay: { pace: 0, loop: false, delay: 0 },
        configure: true,
        bauds: [baud, ...place.bauds.filter((other) => other !== baud)],
        base: { ...rtcm, elevationMask_deg: undefined, constellations: undefined },
      }
    },
    create: (ctx, line, driver, options) => create(ctx, line, driver, options as Static<TObject<P>>),
  })
}
