import { definePlugin, unavailable } from 'rtk-base/plugin'
import { topics } from 'rtk-base/schemas'
import { device, mqttLink, rtcmStream } from 'rtk-base/services'
import Type from 'typebox'
import { Ephemerides } from './ephemerides.js'
import { Epochs } from './epochs.js'
import { ListedTopic } from './listed-topic.js'
import { type Outcome, Publisher } from './publisher.js'
import { Sequence, SequenceNumber } from './sequence.js'

/** RTCM over MQTT: every n seconds the newest epoch and the reference messages in one publication, signed on request. */
export default definePlugin({
  name: 'mqtt-rtcm',
  version: '1.0.0',
  api: '^1.0.0',
  commands: ['rtcm-mqtt-force'],
  needs: [rtcmStream, device],

  setup(ctx) {
    const topic = `base/${ctx.serial}/drtk`
    const rate = ctx.config.define('mqtt-rtcm-rate', Type.Integer({ minimum: 1, maximum: 3_600 }), {
      default: 1,
      title: 'RTCM over MQTT: interval of the publications, s',
    })
    const sign = ctx.config.define('mqtt-rtcm-sign', Type.Integer({ minimum: 0, maximum: 1 }), {
      default: 0,
      title: 'RTCM over MQTT: signed',
    })
    const settings = { topic, rate_s: () => rate.get(), signed: () => sign.get() === 1 }
    const ephemerides = new Ephemerides(ctx, `${topic}/eph`)
    const state = { settings, ephemerides, sequence: new Sequence(ctx), publisher: undefined as Publisher | undefined }
    ctx.config.rule(['mqtt-rtcm-sign'], (get) => {
      const link = ctx.services.find(mqttLink)
      const cannot = get('mqtt-rtcm-sign') === 1 && link?.up === true && link.certificate === undefined
      return cannot ? 'needs a certificate, and the station has none: set mqtt-link.cert and key' : undefined
    })

    ctx.info.block('mqtt.rtcm', {
      config: () => ({ topic, rate: rate.get(), sign: settings.signed() }),
      runtime: () => ({
        enabled: ctx.services.find(mqttLink)?.enabled === true,
        active: state.publisher?.active === true && ctx.services.find(rtcmStream)?.flows === true,
      }),
    })
    const force = async () => {
      const stream = ctx.services.use(rtcmStream)
      if (!stream.open) throw unavailable(`RTCM is held back: ${stream.reason?.text}`)
      const outcome = (await state.publisher?.publish()) ?? 'none'
      if (outcome !== 'sent') throw unavailable(reasons[outcome])
      return `published on ${topic}`
    }
    ctx.action({
      name: 'rtcm-mqtt-force',
      summary: 'publishes the newest epoch of RTCM over MQTT immediately',
      run: force,
    })
    ctx.hooks.onMqttConnect.tap(() => {
      ephemerides.connected()
      state.publisher?.publishCertificate()
    })
    rate.onChange(() => state.publisher?.schedule())
    sign.onChange(() => state.publisher?.publishCertificate())

    for (const described of [topics.drtk, topics.drtkSig, topics.drtkCert, topics.drtkEph]) ctx.mqtt.describe(described)
    return state
  },

  async start(ctx, handoff, state) {
    await state.sequence.start(handoff.get('sequence', SequenceNumber))
    const stream = ctx.services.use(rtcmStream)
    const epochs = new Epochs(stream)
    const listed = new ListedTopic(ctx, stream, state.settings.topic)
    const { ephemerides } = state
    const publisher = new Publisher(ctx, state.settings, epochs, state.sequence, { listed, ephemerides })
    ephemerides.listen()
    state.publisher = publisher
    publisher.publishCertificate()
    ctx.on(stream.onState, ({ open }) => {
      if (!open) epochs.forget()
    })
    ctx.on(stream.onEpoch, (epoch) => {
      epochs.onEpoch(epoch)
      publisher.schedule()
    })
  },

  stop: (_reason, { sequence }) => [['sequence', sequence.next]],
})

const reasons: Record<Exclude<Outcome, 'sent'>, string> = {
  offline: 'the MQTT link is down',
  full: 'the outbox is full',
  none: 'the receiver has sent no epoch yet',
  waiting: 'another publication is being signed',
  unsigned: 'the epoch cannot be signed; see base.state.errors',
}
