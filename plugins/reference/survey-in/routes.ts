/** HTTP: the list of positions, and the procedure with its states. */
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { station } from 'rtk-base/services'
import { Type } from 'typebox'
import { states, table } from './procedure/table.js'
import { isSurveyed, NamedPosition, Position, PositionName, surveyedReference } from './reference/positions.js'
import type { ReferenceStation } from './reference-station.js'

const Params = Type.Object({
  id: Type.String({ pattern: '^\\d{1,9}$', description: 'a number of at most nine digits' }),
})
const idOf = ({ params }: { params: unknown }) => Number((params as { id: string }).id)

/** Positions are kept without being used, and used on demand. */
export function positionRoutes(ctx: PluginContext, base: ReferenceStation): void {
  const { references } = base
  const url = '/positions/:id'
  ctx.http.route({
    method: 'GET',
    url: '/positions',
    schema: {
      summary: 'The positions of the station: saved ones, and every reference that was used, with its history',
      response: {
        200: Type.Object({
          active: Type.Integer({ description: 'The entry that is the reference; 0: there is no reference' }),
          entries: Type.Array(Position),
        }),
      },
    },
    handler: async () => {
      const { active, entries } = references.positions
      return { active, entries }
    },
  })
  ctx.http.route({
    method: 'POST',
    url: '/positions',
    schema: {
      summary: 'Saves a position of the antenna reference point under a name, without using it',
      body: NamedPosition,
      response: { 200: Position },
    },
    handler: ({ body }) => references.edit((positions, t) => positions.save(body as NamedPosition, t, 'http')),
  })
  ctx.http.route({
    method: 'PUT',
    url,
    schema: { summary: 'Names a position', params: Params, body: PositionName, response: { 200: Position } },
    handler: (request) => {
      const { name } = request.body as { name: string }
      return references.edit((positions) => positions.rename(idOf(request), name))
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url,
    schema: {
      summary: 'Deletes a saved position; one that was used only loses its name, and the reference stays',
      params: Params,
      response: { 200: Type.Object({ deleted: Type.Integer() }) },
    },
    handler: async (request) => {
      const id = idOf(request)
      await references.edit((positions) => positions.remove(id))
      return { deleted: id }
    },
  })
  ctx.http.route({
    method: 'POST',
    url,
    schema: { summary: 'Makes a position the reference', params: Params, response: { 200: ChangeAnswer } },
    handler: async (request) => {
      const position = references.positions.find(idOf(request))
      if (base.listening) throw unavailable('the receiver is only listened to: its reference is not set from here')
      const choose = (values: object) =>
        ctx.services.use(station).change(values, { source: 'http', address: request.ip })
      // The start-up check comes before it is used.
      return isSurveyed(position)
        ? base.reuse(surveyedReference(position), () => choose({ 'gnss-ref-chosen': 'survey' }))
        : choose(manualValues(position))
    },
  })
}

/** The change that makes a position of the reference point the chosen manual reference. */
function manualValues({ x, y, z, acc, corr, frame, provenance, source = '' }: Position) {
  return {
    'gnss-ref-manual-x': x,
    'gnss-ref-manual-y': y,
    'gnss-ref-manual-z': z,
    'gnss-ref-manual-lat': null,
    'gnss-ref-manual-lon': null,
    'gnss-ref-manual-alt': null,
    'gnss-ref-manual-hp': true,
    'gnss-ref-manual-acc': acc,
    'gnss-ref-manual-corr': corr,
    'gnss-ref-manual-point': 'arp',
    'gnss-ref-manual-provenance': provenance,
    'gnss-ref-manual-source': source,
    'gnss-ref-frame': frame.name,
    'gnss-ref-epoch': frame.epoch,
    'gnss-ref-chosen': 'manual',
  }
}

const text = Type.String()
const Procedure = Type.Object({
  state: Type.String({ description: 'The state now' }),
  since: Type.Number({ description: 'Seconds in it' }),
  states: Type.Array(
    Type.Object({
      name: text,
      status: Type.String({ description: '`gnss.state.status` in it' }),
      waits: Type.String({ description: 'What it waits for' }),
    }),
  ),
  table: Type.Array(Type.Object({ from: text, on: text, to: text, actions: Type.Array(text) })),
})

export function procedureRoute(ctx: PluginContext, base: ReferenceStation): void {
  ctx.http.route({
    method: 'GET',
    url: '/procedure',
    schema: { summary: 'The states of the GNSS procedure, as a table', response: { 200: Procedure } },
    handler: async () => {
      if (base.listening) throw unavailable('the receiver is in listening mode: no procedure is running')
      return {
        state: base.state,
        since: base.since_s,
        states: Object.entries(states).map(([name, { status, waits }]) => ({ name, status, waits })),
        table,
      }
    },
  })
}
