import { definePlugin } from 'rtk-base/plugin'
import { network } from 'rtk-base/services'
import { Type } from 'typebox'
import { describe, identity, state } from './document.js'
import { defineParameters, type Parameters } from './parameters.js'
import { Port } from './port.js'

/** The Ethernet port: its block, its switch and its address. */
export default definePlugin({
  name: 'eth',
  version: '1.0.0',
  api: '^1.0.0',
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
    const parameters: Parameters = defineParameters(ctx, {
      reaches: (caller) => port.reaches(caller),
      others: () => port.others,
    })
    const port = new Port(ctx, options.interface, parameters)
    const block = ctx.info.block('eth', {
      static: () => identity(port.interface),
      runtime: () => state(port.interface, port.neighbours),
      config: () => ({ enabled: parameters.isEnabled() && port.interface !== undefined }),
    })
    ctx.config.onChange(parameters.names, () => port.apply())
    return { port, block }
  },

  start(ctx, _handoff, { port, block }) {
    port.start(ctx.services.use(network), () => {
      block.changed()
      ctx.status(describe(port))
    })
  },
})
