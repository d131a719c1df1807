import { MountStream } from 'rtk-base/ntrip'
import { definePlugin } from 'rtk-base/plugin'
import { correctionInput, correctionStatus, device, procedureStatus, receiver } from 'rtk-base/services'
import { sourceRoutes } from './routes.js'
import { Source } from './source.js'

/** Corrections of a caster for `rtcm-in`, so that a survey-in can be corrected from a public network. */
export default definePlugin({
  name: 'ntrip-client',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device],

  setup(ctx) {
    const source = ctx.config.define('ntrip-client', Source, {
      default: { host: '' },
      secret: true,
      title: 'Caster for corrections',
    })
    const { services } = ctx
    /** Where the station is, as far as it knows. */
    const here = () => {
      const fix = services.find(receiver)?.fix
      return fix?.ok ? fix.position : services.find(procedureStatus)?.reference
    }
    const client = new MountStream(ctx, 'ntrip-client', {
      here,
      wanted: () =>
        services.find(correctionStatus)?.input === 'on' || services.find(procedureStatus)?.wantsCorrections === true,
      frame: (bytes, remote, host) => services.find(correctionInput)?.take(bytes, remote, host),
      changed: (state, text) => ctx.status(text || state),
    })
    ctx.config.onChange([source.name], () => client.apply(source.get()))
    ctx.info.block('ntrip.client', () => client.block())
    sourceRoutes(ctx, source, here)
    return { client, source }
  },

  start(_ctx, _handoff, { client, source }) {
    client.start(source.get())
  },

  stop: (_reason, { client }) => {
    client.stop()
  },
})
