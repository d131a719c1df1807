import { definePlugin } from 'rtk-base/plugin'
import { fleet, fleetAccess, fleetBroker, fleetDatabase, fleetJobs, fleetNet } from 'rtk-base/services'
import { Acceptances } from './acceptance/acceptances.js'
import { acceptanceRoutes } from './acceptance/routes.js'
import { Judgements } from './judgement/judgements.js'
import { addMetrics, watchPairs } from './metrics.js'
import { NetOptions } from './options.js'
import { Planner } from './pairs/planner.js'
import { netRoutes } from './routes.js'
import { tables } from './store/tables.js'
import { BaselineThreads } from './threads/threads.js'
import { Windows } from './windows/windows.js'

/** Finds stations that announce a wrong position, by the vectors to their neighbours. */
export default definePlugin({
  name: 'fleet-net',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleetBroker, fleetDatabase, fleetJobs, fleet, fleetAccess],
  provides: [fleetNet],
  options: NetOptions,

  setup(ctx, settings) {
    const planner = new Planner(ctx, settings.reach_km)
    const solver = new BaselineThreads({
      ended: (reason) => ctx.log.warn({ reason }, 'a thread that computes vectors ended: another one takes its place'),
      after: (ms, fn) => ctx.timers.after(ms, fn),
    })
    const windows = new Windows(ctx, settings, addMetrics(ctx), solver)
    const judgements = new Judgements(ctx, settings)
    const acceptances = new Acceptances(ctx, settings)
    watchPairs(ctx, windows, judgements)
    ctx.services.provide(fleetNet, judgements)
    netRoutes(ctx, judgements)
    acceptanceRoutes(ctx, acceptances)
    return { planner, windows, judgements, acceptances }
  },

  start(ctx, _handoff, { planner, windows, judgements, acceptances }) {
    void ctx.services
      .use(fleetDatabase)
      .migrate('fleet-net', tables)
      .then(() => {
        planner.start()
        windows.start()
        judgements.start()
        acceptances.start()
      })
  },

  stop: (_reason, { windows }) => windows.stop(),
})
