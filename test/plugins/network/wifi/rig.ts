/** A station with network, radio, wap and sta on a simulated machine, on a manual clock. */
import {
  mqttLink,
  network,
  type Radio,
  radio,
  type SimulatedNetwork,
  type SimulatedRadio,
  simulatedNetwork,
  simulatedRadio,
} from 'rtk-base/services'
import {
  createTestStation,
  ManualClock,
  probe,
  type TestStation,
  type TestStationOptions,
  until,
} from 'rtk-base/testing'
import type { Test } from 'tap'
import networkPlugin from '../../../../plugins/network/network/index.js'
import radioPlugin from '../../../../plugins/network/radio/index.js'
import staPlugin from '../../../../plugins/network/sta/index.js'
import wapPlugin from '../../../../plugins/network/wap/index.js'
import httpApi from '../../../../plugins/page/http-api/index.js'
import { type AnyPlugin, definePlugin } from '../../../../runtime/plugin.js'
import { during, pass } from '../../../harness/drive.js'

export interface Rig {
  station: TestStation
  clock: ManualClock
  radio: Radio
  sim: SimulatedNetwork
  simRadio: SimulatedRadio
  /** Holds of the link to the broker: `hold reason` and `release`. */
  holds: string[]
  /** Goes on by seconds, and lets what is ready run. */
  pass(seconds: number): Promise<void>
  change(values: Record<string, unknown>): Promise<{ result: string; errors?: { name: string; message: string }[] }>
  command(text: string): Promise<{ status: number; text: string }>
  field(path: string): unknown
  /** Texts of `base.state.errors` by code. */
  errors(): Record<string, string>
}

export interface RigOptions extends Omit<TestStationOptions, 'plugins' | 'changes' | 'network'> {
  network?: Record<string, unknown>
  radio?: Record<string, unknown>
  wap?: Record<string, unknown>
  changes?: Record<string, unknown>
  /** In place of the simulated network. */
  fake?: AnyPlugin
}

/** The link to the broker, as far as an uplink concerns it. */
const linkPlugin = (holds: string[]) =>
  definePlugin({
    name: 'mqtt-link',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [mqttLink],
    setup(ctx) {
      ctx.services.provide(mqttLink, {
        via: 'sta',
        networkUp: () => holds.push('networkUp'),
        async hold(reason: string) {
          holds.push(`hold: ${reason}`)
          return () => void holds.push('release')
        },
      } as never)
    },
  })

export async function wifiStation(t: Test, options: RigOptions = {}): Promise<Rig> {
  const { network: networkOptions = {}, radio: radioOptions = {}, wap = {}, changes, fake, ...rest } = options
  const clock = (rest.clock as ManualClock | undefined) ?? new ManualClock()
  const holds: string[] = []
  let found: Pick<Rig, 'radio' | 'sim' | 'simRadio'> | undefined
  const system = (await import('../../../../plugins/device/system/index.js')).default as AnyPlugin
  const station = await createTestStation({
    ...rest,
    clock,
    ...(changes && { variant: { changes } }),
    plugins: {
      system,
      'mqtt-link': linkPlugin(holds) as AnyPlugin,
      network: fake ?? [networkPlugin as AnyPlugin, { backend: 'simulator', ...networkOptions }],
      radio: [radioPlugin as AnyPlugin, { backend: 'simulator', ...radioOptions }],
      wap: [wapPlugin as AnyPlugin, wap],
      'http-api': httpApi as AnyPlugin,
      sta: staPlugin as AnyPlugin,
      probe: probe([network, radio, simulatedNetwork, simulatedRadio], ({ services }) => {
        found = {
          radio: services.use(radio),
          sim: services.use(simulatedNetwork),
          simRadio: services.use(simulatedRadio),
        }
      }),
    },
  })
  t.teardown(() => station.stop())
  if (!found) throw new Error(`the probe did not start: ${JSON.stringify(station.station.plugins())}`)
  const rig: Rig = {
    station,
    clock,
    ...found,
    holds,
    pass: (seconds) => pass(clock, seconds * 1_000),
    // A change and a command wait for simulated times.
    change(values) {
      const changed = station.station.change(values, { source: 'plugin' }) as ReturnType<Rig['change']>
      return during(clock, changed, 'the change', 250)
    },
    command: (text) => during(clock, station.station.command(text, { source: 'console' }), text, 250),
    field: (path) => station.field(path),
    errors: () =>
      Object.fromEntries(
        ((station.field('base.state.errors') ?? []) as { code: string; text: string }[])
          // There is no receiver.
          .filter(({ code }) => code !== 'base-degraded')
          .map(({ code, text }) => [code, text]),
      ),
  }
  return rig
}

export const settled = (condition: () => unknown, what: string) => until(condition, what)
