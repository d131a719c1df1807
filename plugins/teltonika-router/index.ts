import { definePlugin } from 'rtk-base/plugin'
import { cellularModem, cellularRouter, routerFirmware, simulatedRouter, station } from 'rtk-base/services'
import { addCommands } from './commands.js'
import { addConsoleGroup } from './console.js'
import { routerBlock } from './document.js'
import { clearImages, firmwareService } from './firmware.js'
import { modemService } from './modem-service.js'
import { makersDefaults, RouterOptions } from './options.js'
import { Router } from './router.js'
import { addRutRoute } from './rut.js'
import { Simulation } from './simulated.js'

/** The cellular router: its link, credentials and certificate, what is known of it, and the modem inside it for the plugin `modem`. */
export default definePlugin({
  name: 'teltonika-router',
  version: '1.0.0',
  api: '^1.1.0',
  options: RouterOptions,
  needs: [station],
  provides: [cellularRouter, cellularModem, routerFirmware, simulatedRouter],

  setup(ctx, options) {
    const simulation = new Simulation(ctx, options)
    const defaults = options.defaults ?? (simulation.wanted ? [simulation.credentials] : makersDefaults)
    const router = new Router(ctx, { ...options, defaults })
    ctx.services.provide(cellularRouter, {
      get state() {
        return router.state
      },
      onState: router.onState.on,
      get macaddr() {
        return router.macaddr
      },
      get address() {
        return router.address
      },
      reboot: () => router.reboot(),
    })
    ctx.services.provide(cellularModem, modemService(router))
    ctx.services.provide(routerFirmware, firmwareService(ctx, router))

    const block = routerBlock(ctx, router)
    router.facts.onChange = () => block.changed()
    addCommands(ctx, router)
    addConsoleGroup(ctx, router)
    addRutRoute(ctx, router)
    ctx.services.provide(simulatedRouter, simulation)
    if (simulation.wanted) {
      ctx.commands.add('sim-router', 'sim-router=help lists what can happen to the simulated router', ({ arg = '' }) =>
        simulation.command(arg),
      )
    }
    return { router, block, simulation, url: options.url }
  },

  async start(ctx, _handoff, { router, block, simulation, url }) {
    ctx.on(router.onState.on, () => {
      block.changed()
      ctx.status(router.error === '' ? router.state : `${router.state}: ${router.error}`)
    })
    await clearImages(ctx)
    await router.start(simulation.wanted ? await simulation.start() : url)
  },

  async stop(_reason, { simulation }) {
    await simulation.stop()
  },
})
