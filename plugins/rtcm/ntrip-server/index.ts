import { selectionTrouble } from 'rtk-base/ntrip'
import { definePlugin } from 'rtk-base/plugin'
import { device, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import { CasterPushes } from './pushes.js'
import { casterRoutes } from './routes.js'
import { nameOf, Target } from './target.js'

const example = 'e.g. [{ "host": "caster.example.org", "port": 2101, "mount": "ROOF1", "password": "…" }]; [] for none'

/** Pushes the gated stream to casters, each with its own messages, queue, state and waits. */
export default definePlugin({
  name: 'ntrip-server',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream, device],

  setup(ctx) {
    const targets = ctx.config.define('ntrip-server', Type.Array(Target, { maxItems: 8, description: example }), {
      default: [],
      secret: true,
      title: 'Casters to push to',
    })
    ctx.config.rule([targets.name], (get) => {
      const all = get(targets.name) as Target[]
      const names = all.map(nameOf)
      const twice = names.find((name, index) => names.indexOf(name) !== index)
      if (twice) return `names ${twice} twice`
      const troubled = all.find(selectionTrouble)
      return troubled && `${nameOf(troubled)} ${selectionTrouble(troubled)}`
    })
    const pushes = new CasterPushes(ctx)
    casterRoutes(ctx, targets, (name) => pushes.isAccepted(name))
    ctx.config.onChange([targets.name], () => pushes.apply(targets.get()))
    ctx.info.block('ntrip.server', () => pushes.block())
    ctx.metrics.gauge({
      name: 'ntrip_server_acknowledged',
      help: 'Casters that acknowledge the stream.',
      collect: (gauge) => gauge.set(pushes.acknowledged),
    })
    return { pushes, targets }
  },

  async start(_ctx, _handoff, { pushes, targets }) {
    await pushes.start(targets.get())
  },

  stop: (_reason, { pushes }) => pushes.stop(),
})
