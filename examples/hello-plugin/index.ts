import { definePlugin } from 'rtk-base/plugin'
import { Type } from 'typebox'

export default definePlugin({
  name: 'mast',
  version: '1.0.0',
  api: '^1.0.0',

  setup(ctx) {
    const height = ctx.config.define('mast-height', Type.Number({ minimum: 0, maximum: 100 }), { default: 2 })
    let seen_ms = ctx.clock.monotonic()
    ctx.info.block('mast', {
      config: () => ({ height_m: height.get() }),
      runtime: () => ({ inspected_s: Math.round((ctx.clock.monotonic() - seen_ms) / 1000) }),
    })
    ctx.action({
      name: 'mast-inspected',
      summary: 'mast-inspected=<name> records an inspection of the mast',
      input: { name: Type.String({ minLength: 1 }) },
      run({ input }) {
        seen_ms = ctx.clock.monotonic()
        return `thank you, ${input.name}`
      },
    })
  },
})
