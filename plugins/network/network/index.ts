import { definePlugin } from 'rtk-base/plugin'
import { network, networkErrors, uplinks } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { NetworkManager } from './networkmanager/network-manager.js'
import { SimulatedBackend } from './simulated.js'
import { UplinkService } from './uplinks/uplinks.js'

/** Deploy-time options of the plugin. */
export const NetworkOptions = Type.Object(
  {
    backend: Type.Union([Type.Literal('networkmanager'), Type.Literal('simulator')], {
      default: 'networkmanager',
      description: 'Manager of the interfaces of the machine; simulator: those of the plugin simulated-machine',
    }),
    bus: Type.String({
      default: '',
      pattern: '^(|(unix|tcp):.+)$',
      description:
        'D-Bus address of NetworkManager; empty: DBUS_SYSTEM_BUS_ADDRESS, else the system bus of the machine',
    }),
  },
  { additionalProperties: false },
)
export type NetworkOptions = Static<typeof NetworkOptions>

/** The interfaces of the machine, over NetworkManager or simulated, and the ways out that follow from them. */
export default definePlugin({
  name: 'network',
  version: '1.0.0',
  api: '^1.0.0',
  errors: networkErrors,
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
