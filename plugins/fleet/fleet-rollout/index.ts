import { definePlugin } from 'rtk-base/plugin'
import { fleet, fleetAccess, fleetBroker, fleetDatabase, fleetJobs } from 'rtk-base/services'
import { Type } from 'typebox'
import { Engine } from './engine.js'
import { rolloutRoutes } from './routes.js'

/** Changes and updates of many stations, in waves, each of which must prove itself before the next one begins. */
export default definePlugin({
  name: 'fleet-rollout',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleetBroker, fleetDatabase, fleetJobs, fleetAccess, fleet],
  options: Type.Object(
    {
      retention_days: Type.Integer({
        default: 400,
        minimum: 1,
        maximum: 36_500,
        description: 'Rollouts are kept for so long after their end',
      }),
    },
    { additionalProperties: false },
  ),

  setup(ctx, { retention_days }) {
    rolloutRoutes(ctx)
    return new Engine(ctx, retention_days)
  },

  start: (_ctx, _handoff, engine) => engine.start(),
})
