import { Pages } from 'rtk-base/page'
import { definePlugin } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { rtcmStream, stationPage } from 'rtk-base/services'
import { Type } from 'typebox'
import about from './about.md'
import { RecentEpochs, Totals } from './lib/answers.js'
import { tapHooks } from './lib/hooks.js'
import { Meter } from './lib/meter.js'
import client from './ui/page.tsx?client'
import panel from './ui/panel.tsx?client'

/** Counts epochs and frames that go out of the station, and those epochs that have too few satellites to be of use. */
export default definePlugin({
  name: 'epoch-meter',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream],

  setup(ctx) {
    const least = ctx.config.define('epoch-meter-min-satellites', Type.Integer({ minimum: 0, maximum: 200 }), {
      default: 8,
    })
    const meter = new Meter(() => least.get())

    const block = ctx.info.block('epoch-meter', {
      config: () => ({ min_satellites: least.get() }),
      runtime: () => meter.totals(),
    })
    // Epochs that were poor by another measure are no longer comparable.
    ctx.config.onChange(['epoch-meter-min-satellites'], () => meter.resetPoor())
    const reset = () => {
      meter.reset()
      block.changed()
      return 'epoch meter: all counts are 0'
    }
    ctx.action({ name: 'epoch-meter-reset', summary: 'starts counting epochs and frames anew', run: reset })
    ctx.http.route({
      method: 'GET',
      url: '/epoch-meter',
      schema: { summary: 'The newest epochs that went out', response: { 200: RecentEpochs } },
      handler: async () => meter.recent(),
    })
    ctx.http.route({
      method: 'GET',
      url: '/epoch-meter/about',
      schema: { summary: 'Purpose of this plugin', response: { 200: content('text/markdown') } },
      config: { public: true },
      handler: async (_request, reply) => reply.type('text/markdown; charset=utf-8').send(about),
    })
    new Pages(ctx, {
      client,
      at: '/epoch-meter/page',
      summary: 'The epoch meter as a page of its own',
      text: 'The newest epochs as JSON',
      path: '/epoch-meter',
      pictures: () => '',
    }).register()
    const topic = { address: 'base/{SN}/epoch-meter', summary: 'The totals: on connect, on demand', payload: Totals }
    ctx.mqtt.describe({ ...topic, from: 'station' })
    ctx.mqtt.on('base/{SN}/epoch-meter/get', () => {
      ctx.mqtt.publish('base/{SN}/epoch-meter', JSON.stringify(meter.totals()))
    })
    tapHooks(ctx, meter)
    return meter
  },

  start(ctx, handoff, meter) {
    ctx.services.watch(stationPage, (page) => page?.add({ plugin: ctx.name, title: 'Epoch meter', module: panel }))
    meter.restore(handoff.get('totals', Totals))
    const stream = ctx.services.use(rtcmStream)
    ctx.on(stream.onEpoch, (epoch) => meter.epoch(epoch))
    const began_ms = ctx.clock.monotonic()
    const subscription = stream.subscribe({
      via: 'plugin',
      name: ctx.name,
      ip: '',
      take: (frame) => {
        // A newcomer gets the newest reference messages at once: those went out before.
        if (frame.arrival_ms >= began_ms) meter.frame(frame)
        return true
      },
    })
    ctx.defer(() => subscription.close())
  },

  // A reload continues the counts of the previous version.
  stop: (_reason, meter) => [['totals', meter.totals()]],
})
