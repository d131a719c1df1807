import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import {
  cellularModem,
  cellularRouter,
  routerErrors,
  routerFirmware,
  type SimulatedRouter,
  simulatedRouter,
  station,
  updateErrors,
} from 'rtk-base/services'
import { addCommands } from './commands.js'
import { addConsoleGroup } from './console.js'
import { routerBlock } from './document.js'
import { clearImages, firmwareService } from './firmware.js'
import { modemService } from './modem-service.js'
import { makersDefaults, RouterOptions } from './options.js'
import { Router } from './router.js'
import { addRutRoute } from './rut.js'

/** The cellular router: its link, credentials, certificate and state, and its modem for the plugin `modem`. */
export default definePlugin({
  name: 'teltonika-router',
  version: '1.0.0',
  api: '^1.0.0',
  errors: { ...routerErrors, ...updateErrors },
  commands: ['reboot-router', 'factory-router', 'pull-vendor-data', 'pair-vendor-repeater', 'get-router-qr'],
  options: RouterOptions,
  needs: [station],
  provides: [cellularRouter, cellularModem, routerFirmware],

  setup(ctx, options) {
    const router = new Router(ctx, options)
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
    return { router, block, options }
  },

  async start(ctx, _handoff, { router, block, options: { url, defaults } }) {
    ctx.on(router.onState.on, () => {
      block.changed()
      ctx.status(router.error === '' ? router.state : `${router.state}: ${router.error}`)
    })
    await clearImages(ctx)
    if (url === 'simulator')
      await whenSimulated(ctx, (simulated) => router.start(simulated.url, defaults ?? [simulated.credentials]))
    else await router.start(url, defaults ?? makersDefaults)
  },
})

/** Begins as soon as there is a simulated router, once: it keeps its address over a reload. */
async function whenSimulated(ctx: PluginContext, begin: (router: SimulatedRouter) => Promise<void>): Promise<void> {
  let begun: Promise<void> | undefined
  ctx.services.watch(simulatedRouter, (there) => {
    const entry = ctx.errors.while('router-simulator', !there)
    if (there) {
      begun ??= begin(there)
      begun.catch((error: unknown) => ctx.log.error({ err: error }, 'the simulated router cannot be used'))
    } else ctx.status(entry?.why ?? '')
  })
  await begun
}
