import { definePlugin, unavailable } from 'rtk-base/plugin'
import { network, simulatedNetwork, uplinks } from 'rtk-base/services'
import { NetworkManager } from './networkmanager/index.js'
import { NetworkOptions } from './options.js'
import { SimulatedMachine } from './simulator/index.js'
import { UplinkService } from './uplinks/index.js'

/** The interfaces of the machine, over NetworkManager or simulated, and the ways out that follow from them. */
export default definePlugin({
  name: 'network',
  version: '1.0.0',
  api: '^1.1.0',
  options: NetworkOptions,
  provides: [network, uplinks, simulatedNetwork],
  system: { packages: ['network-manager'] },

  setup(ctx, options) {
    const machine = options.backend === 'simulator' ? new SimulatedMachine(ctx, options.simulator) : undefined
    const backend = machine ?? new NetworkManager(ctx, options.bus)
    const ways = new UplinkService(ctx, backend)
    ctx.services.provide(network, backend)
    ctx.services.provide(uplinks, ways)
    ctx.services.provide(simulatedNetwork, {
      command: (line) => {
        if (!machine) throw unavailable('the network is not simulated: its option backend names a real one')
        return machine.command(line)
      },
    })
    if (machine) {
      ctx.commands.add(
        'sim-network',
        'sim-network=help lists what can happen to the simulated network',
        ({ arg = '' }) => machine.command(arg),
      )
    }
    return { backend, ways }
  },

  async start(ctx, _handoff, { backend, ways }) {
    const show = () => ctx.status(backend.ready ? describe(backend.interfaces) : backend.failure)
    ctx.on(backend.onChange, show)
    ways.start()
    await backend.start()
    show()
  },

  async stop(_reason, { backend }) {
    await backend.stop()
  },
})

const describe = (interfaces: readonly { name: string; state: string }[]) =>
  interfaces.map(({ name, state }) => `${name} ${state}`).join(', ') || 'no network interface'
