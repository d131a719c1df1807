import { definePlugin } from 'rtk-base/plugin'
import { alertSource, fleet, fleetAccess, fleetBroker, fleetDatabase } from 'rtk-base/services'
import { Type } from 'typebox'
import { FleetAlerts } from './alerts.js'
import { liveRoute } from './live.js'
import { stationRoutes } from './routes.js'
import { Registry } from './stations/registry.js'

const Options = Type.Object(
  {
    most: Type.Integer({ default: 20_000, minimum: 1, maximum: 100_000, description: 'Stations that are kept' }),
    retention_days: Type.Integer({
      default: 400,
      minimum: 31,
      maximum: 3_660,
      description: 'The record and former documents are kept this long, in whole months',
    }),
    offline_s: Type.Integer({
      default: 180,
      minimum: 0,
      maximum: 86_400,
      description: 'A station that is offline for longer is an alert, seconds',
    }),
  },
  { additionalProperties: false },
)

/** The stations of a fleet: what they say now, what they said, and requests to them. */
export default definePlugin({
  name: 'fleet-registry',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [fleetBroker, fleetDatabase, fleetAccess],
  provides: [fleet, alertSource],
  options: Options,

  setup(ctx, { most, offline_s, retention_days }) {
    const registry = new Registry(ctx, { most, retention_days })
    const alerts = new FleetAlerts(ctx, registry, offline_s)
    ctx.services.provide(fleet, registry)
    ctx.services.provide(alertSource, alerts)
    stationRoutes(ctx, registry)
    liveRoute(ctx, registry)
    ctx.metrics.gauge({
      name: 'fleet_stations',
      help: 'Stations of the fleet by verdict and by whether they are online.',
      labels: ['verdict', 'online'],
      collect: (gauge) => {
        for (const [key, count] of registry.counts) {
          const [verdict = '', online = ''] = key.split(' ')
          gauge.set(count, { verdict, online })
        }
      },
    })
    return { alerts, registry }
  },

  start(_ctx, _handoff, { alerts, registry }) {
    registry.start()
    alerts.start()
  },

  stop: (_reason, { registry }) => registry.stop(),
})
