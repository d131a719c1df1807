/** A station with the router's plugin, on a manual clock that only goes on while nothing is under way. */
import type { Test } from 'tap'
import teltonika from '../../../../plugins/network/teltonika-router/index.js'
import httpApi from '../../../../plugins/page/http-api/index.js'
import type { AnyPlugin, PluginContext } from '../../../../runtime/plugin.js'
import { metrics } from '../../../../schemas/services.js'
import { drive, pass } from '../../../harness/drive.js'
import {
  createTestStation,
  fakeProcesses,
  type ManualClock,
  probe,
  type TestStation,
  type TestStationOptions,
} from '../../../harness/index.js'
import type { MemoryStore } from '../../../harness/memory-store.js'

export interface Rig {
  station: TestStation
  clock: ManualClock
  ctx: PluginContext
  /** Goes on by `ms`, in steps; before each one everything that is under way ends. */
  pass(ms: number, step_ms?: number): Promise<void>
  /** Goes on until the link is in a state. */
  reach(link: string, most_ms?: number): Promise<void>
  link(): string
  command(text: string): Promise<{ status: number; text: string }>
  /** Confirms the certificate that the router shows now, as the station says. */
  confirm(): Promise<{ status: number; text: string }>
  errors(): string[]
  metric(name: string): Promise<number>
}

export interface RigOptions {
  url: string
  options?: Record<string, unknown>
  store?: MemoryStore
  clock?: ManualClock
  plugins?: TestStationOptions['plugins']
  changes?: Record<string, unknown>
  http?: Record<string, unknown>
  /** The data folder of an earlier station. */
  data?: string
  /** MAC address by IP address, as the kernel knows its neighbours. */
  neighbours?: Record<string, string>
}

export async function startRig(t: Test, given: RigOptions): Promise<Rig> {
  const { url, options, store, clock: givenClock, plugins, changes, http, data, neighbours = {} } = given
  let ctx: PluginContext | undefined
  const look = probe([metrics], (found) => {
    ctx = found
  })
  const station = await createTestStation({
    ...(store && { store }),
    ...(givenClock && { clock: givenClock }),
    ...(data !== undefined && { data }),
    variant: { ...(changes && { changes }), ...(http && { http: { host: '127.0.0.1', port: 0, ...http } }) },
    processes: fakeProcesses({
      ip: (args) => {
        const mac = neighbours[args.at(-1) ?? '']
        return { stdout: mac ? `${args.at(-1)} dev eth0 lladdr ${mac} REACHABLE\n` : '' }
      },
    }),
    plugins: {
      'http-api': httpApi as AnyPlugin,
      'teltonika-router': [teltonika as AnyPlugin, { url, ...options }],
      probe: look,
      ...plugins,
    },
  })
  t.teardown(() => station.stop())
  const { clock } = station
  const text = () => (ctx as PluginContext).services.use(metrics).text()
  const metric = async (name: string) => {
    const values = [...(await text()).matchAll(new RegExp(`^rtk_base_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))]
    return values.reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const link = () => String(station.field('router.state.link'))
  const rig: Rig = {
    station,
    clock,
    ctx: ctx as unknown as PluginContext,
    pass: (ms, step_ms) => pass(clock, ms, step_ms),
    link,
    metric,
    async reach(state, most_ms = 120_000) {
      const end_ms = clock.monotonic() + most_ms
      await drive(clock, () => link() === state || clock.monotonic() > end_ms, `the link is ${state}`)
      if (link() !== state)
        throw new Error(`the link is ${link()} (${station.field('router.state.error')}), not ${state}`)
    },
    async confirm() {
      const { text: shown } = await rig.command('router-certificate')
      return rig.command(/router-certificate=accept \S+/.exec(shown)?.[0] ?? 'router-certificate=accept')
    },
    command: (line) => station.station.command(line, { source: 'console' }),
    errors: () => ((station.field('base.state.errors') ?? []) as { code: string }[]).map(({ code }) => code),
  }
  return rig
}
