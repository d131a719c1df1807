import { definePlugin } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { Type } from 'typebox'
import { Alerts } from './alerts.js'
import { alertRoutes } from './routes.js'
import { alertSettings } from './settings.js'

const hour_ms = 3_600_000

/** Notices by e-mail and webhooks, of a station or of a fleet. */
export default definePlugin({
  name: 'alerts',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device],
  options: Type.Object(
    {
      hold_s: Type.Integer({
        default: 60,
        minimum: 0,
        maximum: 86_400,
        description: 'An alert, or its end, must hold for so long, seconds',
      }),
      group_s: Type.Integer({
        default: 30,
        minimum: 0,
        maximum: 3_600,
        description: 'What begins within this time, of one kind, goes into one notice, seconds',
      }),
      repeat_h: Type.Integer({
        default: 24,
        minimum: 1,
        maximum: 8_760,
        description: 'Critical alerts that nobody acknowledged are told again, hours',
      }),
      hourly: Type.Integer({ default: 12, minimum: 1, maximum: 500, description: 'Notices an hour at most' }),
      most: Type.Integer({ default: 20_000, minimum: 1, maximum: 100_000, description: 'Alerts at one time' }),
      privateTargets: Type.Boolean({
        default: false,
        description: 'Webhooks may have addresses of the local network, but for the router and link-local ones',
      }),
      ca: Type.String({
        default: '',
        maxLength: 65_536,
        description: 'An authority that is trusted beside the public ones: PEM text, or the path of a PEM file',
      }),
    },
    { additionalProperties: false },
  ),

  setup(
    ctx,
    { hold_s = 60, group_s = 30, repeat_h = 24, hourly = 12, most = 20_000, ca = '', privateTargets = false },
  ) {
    const settings = alertSettings(ctx, ca, privateTargets)
    const alerts = new Alerts(ctx, settings, {
      ...{ hold_ms: hold_s * 1_000, repeat_ms: repeat_h * hour_ms, group_ms: group_s * 1_000 },
      ...{ most, hourly },
    })
    ctx.config.onChange(settings.names, () => alerts.apply())
    alertRoutes(ctx, alerts)
    ctx.metrics.gauge({
      name: 'alerts_active',
      help: 'Alerts that hold, by severity.',
      labels: ['severity'],
      collect: (gauge) => {
        for (const severity of ['warning', 'critical'])
          gauge.set(alerts.entries.filter(({ alert }) => alert.severity === severity).length, { severity })
      },
    })
    return alerts
  },

  start: (_ctx, _handoff, alerts) => alerts.start(),
  stop: (_reason, alerts) => alerts.stop(),
})
