import { definePlugin } from 'rtk-base/plugin'
import { device, station, verdict } from 'rtk-base/services'
import { BaseState } from './base-state.js'
import { VerdictWatch } from './verdict-watch.js'

/** State of the base and its fitness to serve: `base.state.base`, `base.state.verdict`, from services alone. */
export default definePlugin({
  name: 'verdict',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device, station],
  provides: [verdict],

  setup(ctx) {
    const state = new BaseState(ctx)
    const watch = new VerdictWatch(ctx, state)
    ctx.services.provide(verdict, watch)
    // Built before the deeper `base.state.errors` of system, because it can raise one of those errors.
    const block = ctx.info.block('base.state', () => ({ base: watch.base, verdict: watch.verdict }))
    return { watch, block }
  },

  start(ctx, _handoff, { watch, block }) {
    ctx.on(watch.onChange, () => block.changed())
    watch.watch()
  },
})
