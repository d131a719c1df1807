import { ecefToGeodetic } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { fleetAccess } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { type Acceptance, type Acceptances, missing, mostListed } from './acceptances.js'
import { Evidence } from './evidence.js'

const Serial = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Serial number of the station' })
const Begin = Type.Object(
  {
    serial: Serial,
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 71, description: 'Length of the test, hours; default: 24' }),
    ),
  },
  { additionalProperties: false },
)
const Id = Type.Object({ id: Type.String({ pattern: '^\\d{1,12}$' }) })
const Summary = Type.Object({
  id: Type.Integer(),
  serial: Serial,
  begun: Type.Integer({ description: 'UTC seconds' }),
  until: Type.Integer({ description: 'UTC seconds' }),
  ended: Type.Integer({ description: 'UTC seconds; 0: it runs' }),
  by: Type.String({ description: 'Person who started it' }),
  version: Type.String({ description: 'Version of the station at the start' }),
  position: Type.Object(
    {
      ...{ x: Type.Number(), y: Type.Number(), z: Type.Number() },
      ...{ lat: Type.Number(), lon: Type.Number(), alt: Type.Number() },
    },
    { description: 'The announced position under test: ECEF metres, degrees, ellipsoidal height in metres' },
  ),
  outcome: Type.Enum(['running', 'accepted', 'rejected', 'undecided', 'cancelled']),
  reason: Type.String({ description: 'Reason of the outcome, in words' }),
})
const WithEvidence = Type.Object({
  ...Summary.properties,
  evidence: Type.Union([Evidence, Type.Null()], { description: 'While it runs: until now' }),
})

const summaryOf = (test: Acceptance): Static<typeof Summary> => {
  const { lat, lon, alt } = ecefToGeodetic(test.arp)
  return {
    ...{ id: test.id, serial: test.serial, begun: test.begun_s, until: test.until_s, ended: test.ended_s },
    ...{ by: test.by, version: test.version, outcome: test.outcome, reason: test.reason },
    position: { ...test.arp, lat: Number(lat.toFixed(9)), lon: Number(lon.toFixed(9)), alt: Number(alt.toFixed(4)) },
  }
}

export function acceptanceRoutes(ctx: PluginContext, acceptances: Acceptances): void {
  const config = { role: 'viewer' } as const
  ctx.http.route({
    method: 'POST',
    url: '/fleet/net/acceptance',
    config,
    schema: { summary: 'Starts the acceptance test of a station', body: Begin, response: { 200: Summary } },
    handler: async (request) => {
      const by = ctx.services.use(fleetAccess).demand(request, 'operator')
      const { serial, hours = 24 } = request.body as Static<typeof Begin>
      return summaryOf(await acceptances.begin(serial, hours, by))
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/net/acceptance',
    config,
    schema: {
      summary: `Acceptance tests of all stations or of one, the newest first, ${mostListed} at a time`,
      querystring: Type.Object(
        {
          serial: Type.Optional(Serial),
          before: Type.Optional(Type.String({ pattern: '^\\d{1,12}$', description: '`id` of the last one before' })),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Array(Summary) },
    },
    handler: async (request) => {
      const { serial, before = '0' } = request.query as { serial?: string; before?: string }
      return (await acceptances.list({ serial, before: Number(before) })).map(summaryOf)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/net/acceptance/:id',
    config,
    schema: {
      summary: 'An acceptance test with its evidence',
      params: Id,
      response: { 200: WithEvidence },
    },
    handler: async (request) => {
      const id = Number((request.params as { id: string }).id)
      const found = await acceptances.one(id)
      if (!found) throw missing(id)
      return { ...summaryOf(found), evidence: found.evidence ?? null }
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url: '/fleet/net/acceptance/:id',
    config,
    schema: { summary: 'Cancels an acceptance test that is running', params: Id, response: { 200: Summary } },
    handler: async (request) => {
      const by = ctx.services.use(fleetAccess).demand(request, 'operator')
      return summaryOf(await acceptances.cancel(Number((request.params as { id: string }).id), by))
    },
  })
}
