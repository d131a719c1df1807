import { definePlugin } from 'rtk-base/plugin'
import { cellularModem, cellularRouter, routerFirmware, station } from 'rtk-base/services'
import { addCommands } from './commands.js'
import { addConsoleGroup } from './console.js'
import { routerBlock } from './document.js'
import { firmwareService } from './firmware.js'
import { modemService } from './modem-service.js'
import { RouterOptions } from './options.js'
import { Router } from './router.js'
import { addRutRoute } from './rut.js'

/** The cellular router: its link, credentials and certificate, what is known of it, and the modem inside it for the plugin `modem`. */
export default definePlugin({
  name: 'teltonika-router',
  version: '1.0.0',
  api: '^1.1.0',
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
    return { router, block, url: options.url }
  },

  async start(ctx, _handoff, { router, block, url }) {
    ctx.on(router.onState.on, () => {
      block.changed()
      ctx.status(router.error === '' ? router.state : `${router.state}: ${router.error}`)
    })
    await router.start(url)
  },
})
