import { type ConfigKey, definePlugin } from 'rtk-base/plugin'
import { network } from 'rtk-base/services'
import { Type } from 'typebox'
import { describe, identity, state } from './document.js'
import { Port, reaches } from './port.js'

/** The Ethernet port: `eth`, `eth-en`. */
export default definePlugin({
  name: 'eth',
  version: '1.0.0',
  api: '^1.1.0',
  needs: [network],
  options: Type.Object(
    {
      interface: Type.String({
        default: '',
        pattern: '^[A-Za-z0-9._-]{0,15}$',
        description: 'Its name, e.g. eth0; empty: the first Ethernet interface of the machine',
      }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, options) {
    const enabled: ConfigKey<number> = ctx.config.define('eth-en', switchSchema, {
      default: 1,
      title: 'Cable',
      trial: { reaches: (caller) => reaches(port.interface, enabled.get() === 1, caller) },
    })
    const port = new Port(ctx, options.interface, () => enabled.get() === 1)
    const block = ctx.info.block('eth', {
      static: () => identity(port.interface),
      runtime: () => state(port.interface, port.neighbours),
      config: () => ({ enabled: enabled.get() === 1 && port.interface !== undefined }),
    })
    ctx.config.onChange([enabled.name], () => port.apply())
    return { port, block }
  },

  start(ctx, _handoff, { port, block }) {
    port.start(ctx.services.use(network), () => {
      block.changed()
      ctx.status(describe(port))
    })
  },
})

const switchSchema = Type.Integer({
  minimum: 0,
  maximum: 1,
  description: '0: the port is down, and is taken down again if another program brings it up',
})
