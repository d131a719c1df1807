import { definePlugin } from 'rtk-base/plugin'
import { device, type Link, links, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { RecoveryLadder } from './ladder.js'
import { RecoveryMemory } from './memory.js'
import { LinkTable } from './table.js'

/** Maximum links and text length in the document. */
const mostShown = 12
const longestText = 80

/** Monitors all outbound connections. If all are down: switches the uplink, then restarts the modem. */
export default definePlugin({
  name: 'recovery',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device, station],
  provides: [links],

  setup(ctx) {
    const modem = ctx.config.define(
      'recovery-modem',
      Type.Integer({
        minimum: 0,
        maximum: 1,
        description: 'On: the modem is restarted if all other recovery steps fail',
      }),
      { default: 1, title: 'Outage: restart the modem' },
    )
    const most = ctx.config.define(
      'recovery-modem-max',
      Type.Integer({ minimum: 0, maximum: 24, description: 'Maximum number of restarts of the modem in 24 h' }),
      { default: 3, title: 'Outage: modem restarts in 24 h, at most' },
    )
    const wait = ctx.config.define(
      'recovery-wait',
      Type.Integer({
        minimum: 1,
        maximum: 1_440,
        description: 'Minutes without any outbound connection before the station takes the next recovery step',
      }),
      { default: 5, title: 'Outage: minutes before a step' },
    )
    const table = new LinkTable(ctx)
    ctx.services.provide(links, table)
    const ladder = new RecoveryLadder(ctx, table, new RecoveryMemory(ctx), () => ({
      wait_ms: wait.get() * 60_000,
      mayRestartModem: modem.get() === 1,
      mostRestarts: most.get(),
    }))
    ctx.info.block('links', () => {
      const now_ms = ctx.clock.monotonic()
      return { outputs: table.list.slice(0, mostShown).map((link) => shown(link, now_ms)), recovery: ladder.block }
    })
    ctx.metrics.gauge({
      name: 'links_up',
      help: 'Outputs that lead out of the box and are connected.',
      collect: (gauge) => gauge.set(table.list.filter(({ state }) => state === 'up').length),
    })
    return ladder
  },

  start: (_ctx, _handoff, ladder) => ladder.start(),
  stop: (reason, ladder) => (reason === 'reload' ? undefined : ladder.stop()),
})

function shown({ name, state, reason, since_ms, attempts, step, family, next_ms }: Link, now_ms: number) {
  return {
    name: name.slice(0, longestText),
    state,
    reason: reason.slice(0, longestText),
    attempts,
    step,
    family,
    since: Math.max(0, Math.floor((now_ms - since_ms) / 1000)),
    next: next_ms === 0 ? 0 : Math.max(0, Math.ceil((next_ms - now_ms) / 1000)),
  }
}
