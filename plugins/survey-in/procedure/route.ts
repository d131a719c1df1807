/** The procedure over HTTP: its states and its table, and where it stands. The document shows the states that people know. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import type { Conductor } from './conductor.js'
import { states, table } from './table.js'

export function procedureRoute(ctx: PluginContext, conductor: Conductor): void {
  ctx.http.route({
    method: 'GET',
    url: '/procedure',
    handler: async () => {
      if (conductor.listening) throw unavailable('the receiver is only listened to: there is no procedure')
      return {
        state: conductor.state,
        since: conductor.since_s,
        states: Object.entries(states).map(([name, { status, waits }]) => ({ name, status, waits })),
        table: table.map(([from, on, to, actions]) => ({ from, on, to, actions })),
      }
    },
  })
}
