import { definePlugin, unavailable } from 'rtk-base/plugin'
import { rtcmStream } from 'rtk-base/services'
import Type from 'typebox'
import { EpochPublisher } from './publisher.js'

const tick_ms = 1_000

/** RTCM over MQTT: every n seconds the newest epoch and the reference messages in one publication. */
export default definePlugin({
  name: 'mqtt-rtcm',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream],

  setup(ctx) {
    const topic = `base/${ctx.serial}/drtk`
    const rate = ctx.config.define('mqtt-rtcm-rate', Type.Integer({ minimum: 1, maximum: 3_600 }), { default: 1 })
    const sign = ctx.config.define('mqtt-rtcm-sign', Type.Integer({ minimum: 0, maximum: 1 }), { default: 0 })
    ctx.config.rule(['mqtt-rtcm-sign'], (get) =>
      get('mqtt-rtcm-sign') === 1 ? 'this version cannot sign RTCM yet: leave it at 0' : undefined,
    )
    const state = { active: false, publisher: undefined as EpochPublisher | undefined, publish, rate }

    function publish() {
      const payload = state.publisher?.payload()
      if (payload === undefined) return undefined
      const result = ctx.mqtt.publish(topic, payload)
      if (result === 'sent') state.publisher?.published()
      state.active = result === 'sent'
      return result
    }

    ctx.info.block('mqtt.rtcm', {
      config: () => ({ enabled: true, topic, rate: rate.get(), sign: sign.get() === 1 }),
      runtime: () => ({ active: state.active && ctx.services.find(rtcmStream)?.open === true }),
    })
    ctx.commands.add('rtcm-mqtt-force', 'publishes RTCM over MQTT at once', () => {
      const stream = ctx.services.use(rtcmStream)
      if (!stream.open) throw unavailable(`RTCM is held back: ${stream.reason}`)
      const result = publish()
      if (result === undefined) throw unavailable('no epoch came from the receiver yet')
      if (result !== 'sent') throw unavailable(result === 'full' ? 'the outbox is full' : 'the MQTT link is down')
      return `published on ${topic}`
    })
    return state
  },

  start(ctx, _handoff, state) {
    const stream = ctx.services.use(rtcmStream)
    const publisher = new EpochPublisher(stream)
    state.publisher = publisher
    ctx.defer(stream.onEpoch((epoch) => publisher.onEpoch(epoch)))
    let waited_s = 0
    ctx.timers.every(tick_ms, () => {
      waited_s += 1
      if (waited_s < state.rate.get()) return
      if (publisher.fresh) {
        waited_s = 0
        state.publish()
      } else {
        state.active = false
      }
    })
  },
})
