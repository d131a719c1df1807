import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { fleetAccess } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Alerts } from './alerts.js'
import { troubleOf } from './channels/outbox.js'

const mostShown = 100
const mostAlerts = 500

const Severity = Type.Enum(['warning', 'critical'])
const AlertRow = Type.Object({
  key: Type.String(),
  serial: Type.String({ description: 'The station; empty: the fleet itself' }),
  name: Type.String(),
  group: Type.String(),
  kind: Type.String({
    description: 'offline, unfit, moved, position, degraded, broker, database, update-failed, certificate, disk',
  }),
  severity: Severity,
  text: Type.String(),
  advice: Type.String(),
  since: Type.Integer({ description: 'UTC seconds; 0 unknown' }),
  state: Type.Enum(['pending', 'lapsed', 'active', 'ending'], {
    description:
      'active: it has held long enough for a notice. pending and lapsed: it has not. ending: its end has not',
  }),
  flaps: Type.Integer({ description: 'How often it came back since it began' }),
  acknowledged: Type.Optional(Type.Object({ by: Type.String(), t: Type.Integer({ description: 'UTC seconds' }) })),
})
const AlertQuery = Type.Object(
  {
    serial: Type.Optional(Type.String({ maxLength: 64 })),
    kind: Type.Optional(Type.String({ maxLength: 64 })),
    severity: Type.Optional(Severity),
    before: Type.Optional(
      Type.String({ pattern: '^\\d{1,12}$', description: '`since` of the last alert of the page before' }),
    ),
    beforeKey: Type.Optional(Type.String({ maxLength: 120, description: 'With `before`: the `key` of that alert' })),
    limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$', description: `At most, and by default: ${mostAlerts}` })),
  },
  { additionalProperties: false },
)
const Sent = Type.Object({
  state: Type.Enum(['waiting', 'delivered', 'failed']),
  tries: Type.Integer(),
  reason: Type.String({ description: 'Why the last attempt failed; empty: it did not' }),
})
const NoticeRow = Type.Object({
  id: Type.String(),
  t: Type.Integer({ description: 'UTC seconds; 0 unknown' }),
  what: Type.Enum(['begin', 'worse', 'repeat', 'end', 'more', 'test']),
  kind: Type.String(),
  severity: Severity,
  count: Type.Integer({ description: 'Alerts that it stands for' }),
  subject: Type.String(),
  text: Type.String(),
  channels: Type.Record(Type.String(), Sent),
})
const ChannelRow = Type.Object({
  name: Type.String(),
  trouble: Type.String({ description: 'Why it fails; empty: it does not' }),
})

export function alertRoutes(ctx: PluginContext, alerts: Alerts): void {
  // In a fleet, its own roles decide.
  const config = { role: 'viewer' } as const
  const demand = (request: { readonly user: string; readonly role: string }): string => {
    const access = ctx.services.find(fleetAccess)
    if (access) return access.demand(request, 'operator')
    if (request.role !== 'operator') throw new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'this needs an operator')
    return request.user || 'operator'
  }

  ctx.http.route({
    method: 'GET',
    url: '/alerts',
    schema: {
      summary: `Alerts that hold now, or did a moment ago, the newest first, at most ${mostAlerts}`,
      querystring: AlertQuery,
      response: { 200: Type.Array(AlertRow) },
    },
    handler: async (request) => {
      const { before, beforeKey = '', limit = `${mostAlerts}`, ...filter } = request.query as Static<typeof AlertQuery>
      const entries = await alerts.page({
        ...filter,
        ...(before !== undefined && { before: { since_s: Number(before), key: beforeKey } }),
        most: Math.min(mostAlerts, Number(limit)),
      })
      return entries.map(({ alert, state, flaps, acknowledged }) => {
        const { since_s, ...rest } = alert
        return {
          ...{ ...rest, since: since_s, state, flaps },
          ...(acknowledged && { acknowledged: { by: acknowledged.by, t: acknowledged.t_s } }),
        }
      })
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/alerts/notices',
    schema: {
      summary: `The last ${mostShown} notices, the newest first, and what became of them`,
      response: { 200: Type.Object({ channels: Type.Array(ChannelRow), notices: Type.Array(NoticeRow) }) },
    },
    handler: async () => {
      const notices = await alerts.notices()
      return {
        channels: alerts.channels.map(({ name }) => ({ name, trouble: troubleOf(notices, name) })),
        notices: notices
          .slice(-mostShown)
          .reverse()
          .map(({ id, t_s, what, kind, severity, count, subject, text, deliveries }) => ({
            ...{ id, t: t_s, what, kind, severity, count, subject, text },
            channels: Object.fromEntries(
              Object.entries(deliveries).map(([name, { state, tries, reason }]) => [name, { state, tries, reason }]),
            ),
          })),
      }
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/alerts/test',
    config: { ...config, timeout_ms: 90_000 },
    schema: {
      summary: 'Sends a test notice through each channel once, and answers what each said',
      response: {
        200: Type.Array(
          Type.Object({
            channel: Type.String(),
            accepted: Type.Boolean(),
            reason: Type.String({ description: 'Why it was not accepted' }),
          }),
        ),
      },
    },
    handler: async (request) => {
      const by = demand(request)
      ctx.log.info({ by }, 'a test notice is sent')
      const answers = await alerts.test()
      return answers.map(({ channel, reason }) => ({ channel, accepted: reason === '', reason }))
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/alerts/:key/acknowledge',
    config,
    schema: {
      summary: 'Acknowledges an alert: it is not repeated',
      params: Type.Object({ key: Type.String({ minLength: 1, maxLength: 120 }) }),
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    handler: async (request) => {
      const by = demand(request)
      const { key } = request.params as { key: string }
      if (!(await alerts.acknowledge(key, by.slice(0, 64))))
        throw new RtkError('RTK_ERR_NOT_FOUND', `there is no alert ${key}`)
      ctx.log.info({ alert: key, by }, 'an alert was acknowledged')
      return { ok: true }
    },
  })
}
