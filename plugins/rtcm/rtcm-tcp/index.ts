import { definePlugin } from 'rtk-base/plugin'
import type { RtcmTcpInfo } from 'rtk-base/schemas'
import { localNetwork, rtcmStream } from 'rtk-base/services'
import { Type } from 'typebox'
import { Clients } from './clients.js'
import { nameOf, Target, TcpPushes } from './pushes.js'

/** The gated stream over plain TCP: for connecting clients, and to configured addresses. */
export default definePlugin({
  name: 'rtcm-tcp',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [rtcmStream, localNetwork],
  options: Type.Object(
    {
      host: Type.String({ default: '0.0.0.0', description: 'Address to listen on' }),
      maxClients: Type.Integer({ default: 64, minimum: 1, maximum: 10_000, description: 'Connections in all' }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, options) {
    const port = ctx.config.define(
      'rtcm-tcp-port',
      Type.Integer({ minimum: 0, maximum: 65_535, description: '0: closed' }),
      { default: 0, title: 'RTCM over TCP: port' },
    )
    const legacy = ctx.config.define(
      'rtcm-tcp-legacy',
      Type.Boolean({ description: 'For old rovers: 1004 and 1012 instead of MSM' }),
      { default: false, title: 'RTCM over TCP: clients are old rovers' },
    )
    const targets = ctx.config.define(
      'rtcm-tcp-push',
      Type.Array(Target, { maxItems: 8, description: 'E.g. host 192.168.1.7, port 5000. Empty: none' }),
      {
        default: [],
        title: 'RTCM over TCP: addresses to connect to',
      },
    )
    ctx.config.rule([targets.name], (get) => {
      const names = (get(targets.name) as Target[]).map(nameOf)
      const twice = names.find((name, index) => names.indexOf(name) !== index)
      return twice && `names ${twice} twice`
    })
    const clients = new Clients(ctx, options.host ?? '0.0.0.0', options.maxClients ?? 64, () => legacy.get())
    const outputs = new TcpPushes(ctx)
    ctx.config.onChange([port.name], () => clients.apply(port.get()))
    ctx.config.onChange([legacy.name], () => clients.restart())
    ctx.config.onChange([targets.name], () => outputs.apply(targets.get()))
    const block = (): RtcmTcpInfo => ({ port: clients.port, connected: clients.connected, push: outputs.block() })
    ctx.info.block('rtcm_tcp', block)
    ctx.banner('RTCM', () => (clients.port ? `TCP port ${clients.port}` : ''))
    return { port, targets, clients, outputs }
  },

  async start(ctx, _handoff, { port, targets, clients, outputs }) {
    outputs.start(ctx.services.use(rtcmStream), targets.get())
    await clients.apply(port.get())
  },

  stop: (_reason, { outputs }) => {
    outputs.stop()
  },
})
