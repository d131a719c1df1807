import { definePlugin } from 'rtk-base/plugin'
import Type from 'typebox'
import { Broker } from './broker.js'

/** An MQTT broker for a desk: it asks nobody for a password, so it is part of the simulator variant only. */
export default definePlugin({
  name: 'mqtt-broker',
  version: '1.0.0',
  api: '^1.0.0',
  options: Type.Object({
    host: Type.String({ default: '127.0.0.1' }),
    port: Type.Integer({ minimum: 0, maximum: 65_535, default: 1_883, description: '0: any free one' }),
  }),

  setup: (ctx, options) => new Broker(ctx, { host: options.host ?? '127.0.0.1', port: options.port ?? 1_883 }),
  start: (_ctx, _handoff, broker) => broker.start(),
  stop: (_reason, broker) => broker.stop(),
})
