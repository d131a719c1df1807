import { definePlugin } from 'rtk-base/plugin'
import { network, radio } from 'rtk-base/services'
import { defineParameters } from './parameters.js'
import { scanList, scanText, Uplink } from './uplink.js'

/** The WiFi uplink: the joined network, and the networks in reach. */
export default definePlugin({
  name: 'sta',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['wifi-sta-scan'],
  needs: [network, radio],

  setup(ctx) {
    const parameters = defineParameters(ctx, (caller) => uplink.reaches(caller))
    const uplink: Uplink = new Uplink(ctx, parameters, () => block.changed())
    const block = ctx.info.block('sta', { runtime: () => uplink.block() })
    ctx.config.onChange([parameters.ssid.name, parameters.password.name, parameters.hidden.name], () => uplink.apply())
    ctx.action({
      name: 'wifi-sta-scan',
      summary: 'lists the WiFi networks in range, strongest first; takes up to 15 s',
      async run({ signal }) {
        const networks = await ctx.services.use(radio).scan(signal)
        return { text: scanText(networks), value: scanList(networks) }
      },
    })
    return uplink
  },

  start(ctx, _handoff, uplink) {
    uplink.start(ctx.services.use(radio), ctx.services.use(network))
  },

  stop(reason, uplink) {
    if (reason === 'remove') uplink.end()
  },
})
