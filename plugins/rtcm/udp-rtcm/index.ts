import { definePlugin } from 'rtk-base/plugin'
import { localNetwork, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import { PeerRecords } from './peers.js'
import { UdpService } from './service.js'

/** RTCM over UDP: any datagram from the local network subscribes its sender for 60 s, one datagram per frame. */
export default definePlugin({
  name: 'udp-rtcm',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream, localNetwork],
  options: Type.Object({
    host: Type.String({ default: '0.0.0.0', description: 'Address to listen on' }),
    maxSubscribers: Type.Integer({ default: 256, minimum: 1, maximum: 10_000, description: 'Subscribers in all' }),
    maxPerAddress: Type.Integer({ default: 8, minimum: 1, maximum: 10_000, description: 'Subscribers of one address' }),
    allow: Type.Array(Type.String({ minLength: 2, maxLength: 45 }), {
      default: [],
      maxItems: 64,
      description: 'Additional IP addresses served outside the networks of the station’s interfaces',
    }),
    queue_bytes: Type.Integer({
      default: 1_048_576,
      minimum: 16_384,
      maximum: 67_108_864,
      description: 'Limit of unsent bytes in the socket; beyond it frames wait in the stream',
    }),
  }),

  setup(ctx, options) {
    const enabled = ctx.config.define('udp-en', Type.Integer({ minimum: 0, maximum: 1 }), {
      default: 1,
      title: 'RTCM over UDP',
    })
    const port = ctx.config.define('udp-port', Type.Integer({ minimum: 1, maximum: 65_535 }), {
      default: 2102,
      title: 'RTCM over UDP: port',
    })
    const service = new UdpService(ctx, options)
    ctx.config.onChange([enabled.name, port.name], () => service.apply(enabled.get() === 1, port.get()))
    ctx.info.block('udp', { config: () => ({ enabled: enabled.get() === 1, port: port.get() }) })
    ctx.banner('RTCM', () => service.describe())
    return { service, enabled, port }
  },

  async start(ctx, handoff, { service, enabled, port }) {
    service.start(ctx.services.use(rtcmStream), ctx.services.use(localNetwork))
    service.restore(handoff.get('peers', PeerRecords) ?? [])
    await service.open(enabled.get() === 1, port.get())
  },

  stop: async (_reason, { service }) => [['peers', await service.stop()]],
})
