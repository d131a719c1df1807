import { definePlugin } from 'rtk-base/plugin'
import { device, localNetwork, network } from 'rtk-base/services'
import { Type } from 'typebox'
import { Announcer } from './announcer.js'
import { udpLinks } from './link.js'

/** Until the HTTP server listens, and where no plugin reports changes of the interfaces. */
const early_ms = 1_000
const look_ms = 30_000

/** The station is found by name in the local network: mDNS (RFC 6762) with `_http._tcp` or `_https._tcp`, and `_rtk-base._tcp`. */
export default definePlugin({
  name: 'mdns',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [localNetwork, device],
  options: Type.Object(
    {
      interfaces: Type.Array(Type.String({ minLength: 1, maxLength: 15 }), {
        default: [],
        maxItems: 16,
        description: 'Where to announce; empty: every interface with a local address but loopback',
      }),
      port: Type.Integer({
        default: 5353,
        minimum: 1,
        maximum: 65_535,
        description: 'UDP port; another one is for tests',
      }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, { interfaces, port }) {
    const announcer = new Announcer(ctx, { interfaces, port, open: udpLinks(ctx.net, port) })
    return announcer
  },

  async start(ctx, _handoff, announcer) {
    ctx.services.watch(network, (service) => service && ctx.on(service.onChange, () => announcer.follow()))
    ctx.timers.every(look_ms, () => announcer.follow())
    const begin = () => (ctx.services.use(device).http ? announcer.follow() : ctx.timers.after(early_ms, begin))
    await begin()
  },

  stop: (_reason, announcer) => announcer.stop(),
})
