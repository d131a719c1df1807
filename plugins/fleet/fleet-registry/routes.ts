import { forViewer, type PluginContext, RtkError } from 'rtk-base/plugin'
import { StationSettings } from 'rtk-base/schemas'
import { type FleetRole, fleetAccess, fleetDatabase } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { detailOf, Entry, entryFor, entryOf, Given, rowOf, Serial, StationDetail, StationRow } from './schemas.js'
import type { Registry } from './stations/registry.js'
import { type EventRow, entries } from './store/events.js'

const mostEntries = 500
const mostStations = 1_000

const eventOf = ({ id, t, serial, kind, text, actor }: EventRow): Entry => ({
  id,
  ...entryOf({ t_s: Math.floor(t.getTime() / 1000), serial, kind, text, by: actor }),
})

const RecordQuery = Type.Object(
  {
    serial: Type.Optional(Serial),
    kind: Type.Optional(Type.String({ pattern: '^[a-z,-]{1,100}$', description: 'One or several, with commas' })),
    before: Type.Optional(Type.String({ pattern: '^\\d{1,12}$', description: 'UTC seconds: only older entries' })),
    beforeId: Type.Optional(
      Type.String({
        pattern: '^\\d{1,15}$',
        description: 'With `before`: also entries of that second with a lower `id`, for the next page',
      }),
    ),
    limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$', description: `At most ${mostEntries}; default: 100` })),
  },
  { additionalProperties: false },
)

const unknown = (serial: string) => new RtkError('RTK_ERR_NOT_FOUND', `the fleet does not know a station ${serial}`)

export function stationRoutes(ctx: PluginContext, registry: Registry): void {
  const config = { role: 'viewer' } as const
  const params = Type.Object({ serial: Serial })
  const serialOf = (request: { params: unknown }) => (request.params as { serial: string }).serial
  const demand = (request: { user: string; role: string }, role: FleetRole) =>
    ctx.services.use(fleetAccess).demand(request, role)
  const isOperator = (request: { user: string; role: string }) => ctx.services.use(fleetAccess).may(request, 'operator')
  const stationOf = (serial: string) => {
    const station = registry.station(serial)
    if (!station) throw unknown(serial)
    return station
  }

  ctx.http.route({
    method: 'GET',
    url: '/fleet/stations',
    schema: {
      summary: `Every station in few fields, in order of the serial numbers, ${mostStations} at a time`,
      querystring: Type.Object(
        { after: Type.Optional(Type.String({ maxLength: 64, description: '`next` of the page before' })) },
        { additionalProperties: false },
      ),
      response: {
        200: Type.Object({
          stations: Type.Array(StationRow),
          next: Type.String({ description: 'Give it as `after` for the next stations; empty: these were the last' }),
        }),
      },
    },
    handler: async (request) => {
      const { after = '' } = request.query as { after?: string }
      const left = [...registry.stations()].filter(({ serial }) => serial > after)
      const page = left.sort((one, other) => (one.serial < other.serial ? -1 : 1)).slice(0, mostStations)
      return { stations: page.map(rowOf), next: left.length > page.length ? (page.at(-1)?.serial ?? '') : '' }
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/stations/:serial',
    schema: { summary: 'A station as it is now', params, response: { 200: StationDetail } },
    handler: async (request) => detailOf(stationOf(serialOf(request))),
  })
  ctx.http.route({
    method: 'PATCH',
    url: '/fleet/stations/:serial',
    config,
    schema: {
      summary: 'Names a station, puts it into a group, labels it',
      params,
      body: Given,
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    handler: async (request) => {
      const by = demand(request, 'operator')
      const serial = serialOf(request)
      const given = request.body as Static<typeof Given>
      if (!(await registry.name(serial, given as Parameters<Registry['name']>[1]))) throw unknown(serial)
      registry.record({ serial, kind: 'given', text: JSON.stringify(given).slice(0, 300), by })
      return { ok: true }
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url: '/fleet/stations/:serial',
    config,
    schema: {
      summary: 'Forgets a station. Its record stays; if it is heard again, it is there again',
      params,
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    handler: async (request) => {
      const by = demand(request, 'admin')
      const serial = serialOf(request)
      if (!(await registry.forget(serial))) throw unknown(serial)
      registry.record({ serial, kind: 'forgotten', text: 'forgotten', by })
      return { ok: true }
    },
  })

  const Document = Type.Record(Type.String(), Type.Unknown(), { description: 'The document, without passwords' })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/stations/:serial/document',
    schema: { summary: 'The newest status document of a station', params, response: { 200: Document } },
    handler: async (request) => {
      const document = await registry.document(stationOf(serialOf(request)).serial)
      if (!document) throw new RtkError('RTK_ERR_NOT_FOUND', 'the station has sent no document yet')
      return isOperator(request) ? document : forViewer(document)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/stations/:serial/documents',
    schema: {
      summary:
        'Former documents of a station: one for each change of its settings, identity or reference, the newest first. About 20, all of a second together',
      params,
      querystring: Type.Object({ before: RecordQuery.properties.before }, { additionalProperties: false }),
      response: { 200: Type.Array(Type.Object({ t: Type.Integer(), document: Document })) },
    },
    handler: async (request) => {
      const { before } = request.query as { before?: string }
      const rows = await ctx.services.use(fleetDatabase).query<{ t: Date; document: Record<string, unknown> }>(
        `select t, document from fleet_document where serial = $1 and t < coalesce(to_timestamp($2), 'infinity')
         order by date_trunc('second', t) desc fetch first 20 rows with ties`,
        [serialOf(request), before ?? null],
      )
      const shown = isOperator(request) ? <T>(document: T) => document : forViewer
      return rows.map(({ t, document }) => ({ t: Math.floor(t.getTime() / 1000), document: shown(document) }))
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/stations/:serial/settings',
    schema: {
      summary: 'What can be set and done on a station, as it published it; without values',
      params,
      response: { 200: StationSettings },
    },
    handler: (request) => registry.settings(stationOf(serialOf(request)).serial),
  })
  ctx.http.route({
    method: 'POST',
    url: '/fleet/stations/:serial/ask',
    config,
    schema: {
      summary: 'Asks a station for a new document, which comes a moment later',
      params,
      response: { 200: Type.Object({ ok: Type.Boolean() }) },
    },
    handler: async (request) => {
      demand(request, 'operator')
      registry.ask(stationOf(serialOf(request)).serial)
      return { ok: true }
    },
  })

  ctx.http.route({
    method: 'POST',
    url: '/fleet/stations/:serial/change',
    config,
    schema: {
      summary: 'Changes parameters of a station, as its own POST /change',
      params,
      body: Type.Record(Type.String(), Type.Unknown(), { maxProperties: 200 }),
      response: {
        200: Type.Object({
          result: Type.String(),
          leftover: Type.Record(Type.String(), Type.Unknown()),
          errors: Type.Optional(Type.Array(Type.Object({ name: Type.String(), message: Type.String() }))),
        }),
      },
    },
    handler: async (request) => {
      const by = demand(request, 'operator')
      return registry.change(stationOf(serialOf(request)).serial, request.body as Record<string, unknown>, by)
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/fleet/stations/:serial/command',
    config,
    schema: {
      summary: 'Runs a command on a station, as its own POST /system',
      description: 'The answer is empty if the broker (MQTT 3.1.1) or the station cannot return it.',
      params,
      body: Type.Object({ command: Type.String({ minLength: 1, maxLength: 1_000 }) }, { additionalProperties: false }),
      response: { 200: Type.Object({ answer: Type.String() }) },
    },
    handler: async (request) => {
      const by = demand(request, 'operator')
      const { command } = request.body as { command: string }
      return { answer: await registry.command(stationOf(serialOf(request)).serial, command, by) }
    },
  })

  ctx.http.route({
    method: 'GET',
    url: '/fleet/record',
    schema: {
      summary: 'What happened, the newest first: reports of stations and actions of people',
      querystring: RecordQuery,
      response: { 200: Type.Array(Entry) },
    },
    handler: async (request) => {
      const { serial, kind, before, beforeId, limit } = request.query as Static<typeof RecordQuery>
      const rows = await entries(ctx.services.use(fleetDatabase), {
        serial,
        kinds: kind?.split(','),
        before_s: before === undefined ? undefined : Number(before),
        beforeId: Number(beforeId ?? 0),
        most: Math.min(mostEntries, Number(limit ?? 100)),
      })
      return rows.map((row) => entryFor(eventOf(row), isOperator(request)))
    },
  })
}
