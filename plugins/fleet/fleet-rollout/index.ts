import { definePlugin } from 'rtk-base/plugin'
import { fleet, fleetAccess, fleetBroker, fleetDatabase } from 'rtk-base/services'
import { Type } from 'typebox'
import { Engine } from './engine.js'
import { rolloutRoutes } from './routes.js'

/** Changes and updates of many stations, in waves, each of which must prove itself before the next one begins. */
export default definePlugin({
  name: 'fleet-rollout',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleetBroker, fleetDatabase, fleetAccess, fleet],
  options: Type.Object({}, { additionalProperties: false }),

  setup(ctx) {
    rolloutRoutes(ctx)
    return new Engine(ctx)
  },

  start: (_ctx, _handoff, engine) => engine.start(),
})
