import { definePlugin } from 'rtk-base/plugin'
import { network, radio } from 'rtk-base/services'
import { Type } from 'typebox'
import { defineParameters } from './parameters.js'
import { scanList, scanText, Uplink } from './uplink.js'

const Networks = Type.Array(
  Type.Object({
    ssid: Type.String({ description: 'Empty: hidden. Untrusted text' }),
    bssid: Type.String(),
    channel: Type.Integer(),
    signal_dbm: Type.Number(),
    auth: Type.String({ description: 'open, wep, wpa-psk, wpa2-psk, wpa3-sae or wpa-eap' }),
    canJoin: Type.Boolean({ description: 'The station can join it with a name and a password' }),
  }),
  { maxItems: 64 },
)

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
    ctx.commands.add(
      'wifi-sta-scan',
      'lists the WiFi networks in range, strongest first; takes up to 15 s',
      async ({ signal }) => scanText(await ctx.services.use(radio).scan(signal)),
      { value: false },
    )
    ctx.http.route({
      // It may disturb the radio for a moment: no page of another site may ask for it.
      method: 'POST',
      url: '/wifi/scan',
      config: { role: 'operator' },
      schema: { summary: 'The WiFi networks in range, strongest first; takes up to 15 s', response: { 200: Networks } },
      handler: async () => scanList(await ctx.services.use(radio).scan(ctx.signal)),
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
