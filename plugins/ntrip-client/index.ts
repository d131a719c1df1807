import { definePlugin } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { NtripClient } from './client.js'
import { sourceRoutes } from './routes.js'
import { Source } from './source.js'

/** Corrections of a caster for `rtcm-in`, so that a survey-in can be corrected from a public network. */
export default definePlugin({
  name: 'ntrip-client',
  version: '1.0.0',
  api: '^1.1.0',
  needs: [device],

  setup(ctx) {
    const source = ctx.config.define('ntrip-client', Source, {
      default: { host: '' },
      secret: true,
      title: 'Caster for corrections',
    })
    const client = new NtripClient(ctx)
    ctx.config.onChange([source.name], () => client.apply(source.get()))
    ctx.info.block('ntrip.client', () => client.block())
    sourceRoutes(ctx, source, () => client.here)
    return { client, source }
  },

  start(_ctx, _handoff, { client, source }) {
    client.start(source.get())
  },

  stop: (_reason, { client }) => {
    client.stop()
  },
})
