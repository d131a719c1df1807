/** A station with the plugin `network` on a simulated machine, on a manual clock. */

import {
  type Network,
  network,
  type SimulatedNetwork,
  simulatedNetwork,
  type Uplinks,
  uplinks,
} from 'rtk-base/services'
import { createTestStation, ManualClock, probe, type TestStation, type TestStationOptions } from 'rtk-base/testing'
import type { Test } from 'tap'
import networkPlugin from '../../../plugins/network/network/index.js'
import type { AnyPlugin, PluginContext } from '../../../runtime/plugin.js'

export interface Rig {
  station: TestStation
  clock: ManualClock
  ctx: PluginContext
  network: Network
  uplinks: Uplinks
  sim: SimulatedNetwork
}

export async function startRig(
  t: Test,
  { options = {}, plugins = {}, ...rest }: TestStationOptions & { options?: Record<string, unknown> } = {},
): Promise<Rig> {
  const clock = (rest.clock as ManualClock | undefined) ?? new ManualClock()
  const isReal = options.backend === 'networkmanager'
  let found: PluginContext | undefined
  const station = await createTestStation({
    ...rest,
    clock,
    plugins: {
      network: [networkPlugin as AnyPlugin, { backend: 'simulator', ...options }],
      probe: probe([network, uplinks, ...(isReal ? [] : [simulatedNetwork])], (ctx) => {
        found = ctx
      }),
      ...plugins,
    },
  })
  t.teardown(() => station.stop())
  if (!found) throw new Error('the probe did not start')
  const { services } = found
  return {
    station,
    clock,
    ctx: found,
    network: services.use(network),
    uplinks: services.use(uplinks),
    sim: isReal ? ({} as SimulatedNetwork) : services.use(simulatedNetwork),
  }
}
