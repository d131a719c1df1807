import { pause } from 'rtk-base/link'
import { definePlugin } from 'rtk-base/plugin'
import { network, networkErrors, radio } from 'rtk-base/services'
import { RadioMemory } from './arbitration/memory.js'
import { RadioKeeper, Wishes } from './keeper.js'
import { realMachine, simulatedMachine, watchSimulated } from './machine.js'
import { limitsOf, RadioOptions } from './options.js'
import { Tools } from './tools/tools.js'

/** The WiFi radio: its assignment to access point or uplink, and tools for settings that the network daemon does not cover. */
export default definePlugin({
  name: 'radio',
  version: '1.0.0',
  api: '^1.0.0',
  errors: networkErrors,
  options: RadioOptions,
  needs: [network],
  provides: [radio],
  system: {
    packages: ['wpasupplicant', 'dnsmasq-base', 'iw', 'wireless-regdb'],
    // iw and ip change the radio and the routes.
    unit: ['CapabilityBoundingSet=CAP_NET_ADMIN', 'AmbientCapabilities=CAP_NET_ADMIN'],
  },

  setup(ctx, options) {
    const isSimulated = options.backend === 'simulator'
    const machine = isSimulated ? simulatedMachine(ctx) : realMachine(ctx)
    const tools = new Tools(machine, (ms) => pause(ctx.timers, ms))
    const keeper = new RadioKeeper(ctx, tools, {
      only: options.interface,
      both: options.both === 'auto',
      limits: limitsOf(options),
    })
    ctx.services.provide(radio, {
      get accessPoint() {
        return keeper.accessPoint
      },
      get station() {
        return keeper.station
      },
      onChange: keeper.onChange.on,
      setAccessPoint: (profile) => keeper.setAccessPoint(profile),
      setStation: (profile) => keeper.setStation(profile),
      restartAccessPoint: () => keeper.restartAccessPoint(),
      scan: (signal) => keeper.scan(signal),
      reportClients: (count) => keeper.setClients(count),
      tools,
      machine,
    })
    return { keeper, isSimulated }
  },

  async start(ctx, handoff, { keeper, isSimulated }) {
    if (isSimulated) watchSimulated(ctx)
    keeper.restore(handoff.get('memory', RadioMemory), handoff.get('wishes', Wishes))
    ctx.on(keeper.onChange.on, () => {
      const { accessPoint, station } = keeper
      ctx.status(`access point ${accessPoint.state}, uplink ${station.state}`)
    })
    keeper.start(ctx.services.use(network))
  },

  async stop(reason, { keeper }) {
    if (reason === 'remove') await keeper.end()
    return [
      ['memory', keeper.memory],
      ['wishes', keeper.wishes],
    ]
  },
})
