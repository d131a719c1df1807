import { definePlugin } from 'rtk-base/plugin'
import { network, uplinks } from 'rtk-base/services'
import { NetworkManager } from './networkmanager/index.js'
import { NetworkOptions } from './options.js'
import { SimulatedBackend } from './simulated.js'
import { UplinkService } from './uplinks/index.js'

/** The interfaces of the machine, over NetworkManager or simulated, and the ways out that follow from them. */
export default definePlugin({
  name: 'network',
  version: '1.0.0',
  api: '^1.1.0',
  options: NetworkOptions,
  provides: [network, uplinks],
  system: { packages: ['network-manager'] },

  setup(ctx, options) {
    const backend = options.backend === 'simulator' ? new SimulatedBackend(ctx) : new NetworkManager(ctx, options.bus)
    const ways = new UplinkService(ctx, backend)
    ctx.services.provide(network, backend)
    ctx.services.provide(uplinks, ways)
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
