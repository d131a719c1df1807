import { isIP } from 'rtk-base/link'
import { definePlugin, RtkError } from 'rtk-base/plugin'
import { embeddedBroker } from 'rtk-base/services'
import Type from 'typebox'
import { BrokerServer } from './broker.js'

/** An MQTT broker for a desk: it accepts everybody, so it is part of the simulator variant only. */
export default definePlugin({
  name: 'mqtt-broker',
  version: '1.0.0',
  api: '^1.0.0',
  options: Type.Object({
    host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on' }),
    exposed: Type.Boolean({ default: false, description: 'allow a host that other machines can reach' }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 1_883, description: '0: any free one' }),
  }),

  provides: [embeddedBroker],

  setup(ctx, { host = '127.0.0.1', port = 1_883, exposed = false }) {
    if (!exposed && !isLoopback(host))
      throw new RtkError(
        'RTK_ERR_PLUGIN_OPTIONS',
        `mqtt-broker.host ${host} can be reached from other machines, and this broker accepts everybody: use 127.0.0.1, or set mqtt-broker.exposed to true`,
      )
    const broker = new BrokerServer(ctx, { host, port })
    ctx.services.provide(embeddedBroker, broker)
    return broker
  },
  start: (_ctx, _handoff, broker) => broker.start(),
  stop: (_reason, broker) => broker.stop(),
})

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
