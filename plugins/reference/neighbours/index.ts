import { definePlugin } from 'rtk-base/plugin'
import { device, neighbourCheck, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { addMetrics, blockOf } from './block.js'
import { Curves } from './curve.js'
import { HeldFile, Kept } from './held-file.js'
import { addRoutes } from './routes.js'
import { isNtrip, mostNeighbours, NeighbourList, problemOf, topicOf } from './setting.js'
import { NeighbourWatch } from './watch.js'

/** Compares the announced position with those of neighbouring bases: a base alone cannot see that it was wrong from the first day. */
export default definePlugin({
  name: 'neighbours',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device, station],
  provides: [neighbourCheck],

  setup(ctx) {
    const list = ctx.config.define('neighbours', NeighbourList, {
      default: [],
      secret: true,
      title: 'Neighbouring bases to compare with',
    })
    const effect = ctx.config.define(
      'neighbours-effect',
      Type.Union([
        Type.Literal('note', { title: 'only report it' }),
        Type.Literal('degraded', { title: 'report a problem of the station' }),
        Type.Literal('hold', { title: 'send no corrections' }),
      ]),
      { default: 'degraded', title: 'If neighbouring bases contradict the position' },
    )
    ctx.config.rule([list.name], (get) => problemOf(get(list.name) as ReturnType<typeof list.get>, ctx.serial))

    const curves = new Curves(
      () => ctx.dataDir(),
      (text) => ctx.log.warn(text),
    )
    const held = new HeldFile(
      () => ctx.dataDir(),
      (text) => ctx.log.warn(text),
    )
    const watch = new NeighbourWatch({ ctx, curves, held, effect: () => effect.get() })
    list.onChange((now) => watch.apply(now))
    effect.onChange(() => watch.judge())
    for (let place = 0; place < mostNeighbours; place++) {
      const topic = () => {
        const one = list.get()[place]
        return one && !isNtrip(one) ? topicOf(one.serial) : ''
      }
      ctx.mqtt.on(topic, (message) => watch.message(place, message))
    }

    ctx.services.provide(neighbourCheck, watch)
    ctx.info.block('gnss.neighbours', () => blockOf(watch, curves, ctx.clock.monotonic()))
    addMetrics(ctx, watch)
    addRoutes(ctx, list, curves)
    return { curves, held, list, watch }
  },

  async start(ctx, handoff, { curves, held, list, watch }) {
    await curves.read()
    watch.start(list.get(), handoff.get('kept', Kept), await held.read())
    const report = () => {
      ctx.status(watch.text)
      const { advice, effect, text, values } = watch
      const seen = effect === 'holds' && { ...values, _finding: text, _advice: advice }
      ctx.errors.while('neighbours-contradict', seen, { severity: 'silences' })
    }
    ctx.on(watch.onChange, report)
    report()
  },

  async stop(_reason, { curves, held, watch }) {
    const kept = watch.stop()
    await Promise.all([curves.stop(watch.sources), held.written])
    return kept ? [['kept', kept]] : []
  },
})
