/** HTTP: the reference history with its way back to an earlier reference, and the procedure with its states. */
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { station } from 'rtk-base/services'
import { Type } from 'typebox'
import { states, table } from './procedure/table.js'
import type { HistoryEntry } from './reference/history.js'
import { NamedPosition, NewName, SavedPosition } from './reference/saved.js'
import type { ReferenceStation } from './reference-station.js'
import { historyEntry } from './stored-values.js'

const Params = Type.Object({
  id: Type.String({ pattern: '^\\d{1,9}$', description: 'a number of at most nine digits' }),
})
const idOf = ({ params }: { params: unknown }) => Number((params as { id: string }).id)

function throwIfListening({ listening }: ReferenceStation): void {
  if (listening) throw unavailable('the receiver is only listened to: its reference is not set from here')
}

export function historyRoutes(ctx: PluginContext, base: ReferenceStation): void {
  ctx.http.route({
    method: 'GET',
    url: '/reference/history',
    schema: {
      summary: 'Every reference that was used',
      response: { 200: Type.Object({ entries: Type.Array(historyEntry) }) },
    },
    handler: async () => ({ entries: base.references.history.entries }),
  })
  ctx.http.route({
    method: 'POST',
    url: '/reference/history/:id',
    schema: {
      summary: 'Chooses a reference of the history again',
      response: { 200: ChangeAnswer },
      params: Params,
    },
    handler: async (request) => {
      const id = idOf(request)
      const entry = base.references.history.find(id)
      if (!entry) throw new RtkError('RTK_ERR_NOT_FOUND', `the history has no entry ${id}`)
      throwIfListening(base)
      return goBack(ctx, base, entry)
    },
  })
}

/** Positions with a name: kept without being used, and used on demand. */
export function savedRoutes(ctx: PluginContext, base: ReferenceStation): void {
  const { references } = base
  const url = '/reference/saved/:id'
  ctx.http.route({
    method: 'GET',
    url: '/reference/saved',
    schema: {
      summary: 'The saved positions, by name',
      response: { 200: Type.Object({ entries: Type.Array(SavedPosition) }) },
    },
    handler: async () => ({ entries: references.saved.entries }),
  })
  ctx.http.route({
    method: 'POST',
    url: '/reference/saved',
    schema: {
      summary: 'Saves a position of the antenna reference point under a name, without using it',
      body: NamedPosition,
      response: { 200: SavedPosition },
    },
    handler: async ({ body }) => references.save((saved, t) => saved.add(body as NamedPosition, t)),
  })
  ctx.http.route({
    method: 'PUT',
    url,
    schema: { summary: 'Renames a saved position', params: Params, body: NewName, response: { 200: SavedPosition } },
    handler: async (request) => {
      const { name } = request.body as { name: string }
      return references.save((saved) => saved.rename(idOf(request), name))
    },
  })
  ctx.http.route({
    method: 'DELETE',
    url,
    schema: {
      summary: 'Deletes a saved position; a reference that is in use stays',
      params: Params,
      response: { 200: Type.Object({ deleted: Type.Integer() }) },
    },
    handler: async (request) => {
      const id = idOf(request)
      await references.save((saved) => saved.remove(id))
      return { deleted: id }
    },
  })
  ctx.http.route({
    method: 'POST',
    url,
    schema: { summary: 'Makes a saved position the reference', params: Params, response: { 200: ChangeAnswer } },
    handler: async (request) => {
      const entry = references.saved.find(idOf(request))
      throwIfListening(base)
      return ctx.services.use(station).change(manualValues(entry), { source: 'http', address: request.ip })
    },
  })
}

type Place = Pick<HistoryEntry, 'x' | 'y' | 'z' | 'acc' | 'corr' | 'frame' | 'epoch' | 'source'>

/** The change that makes a position of the reference point the chosen manual reference. */
function manualValues({ x, y, z, acc, corr, frame = '', epoch = '', source = '' }: Place) {
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
    'gnss-ref-manual-source': source,
    'gnss-ref-frame': frame,
    'gnss-ref-epoch': epoch,
    'gnss-ref-chosen': 'manual',
  }
}

/** Chooses the reference of an entry again. The start-up check comes before it is used. */
async function goBack(ctx: PluginContext, base: ReferenceStation, entry: HistoryEntry) {
  const { method, x, y, z, acc, corr, frame = '', epoch = '' } = entry
  const values = method === 'manual' ? manualValues(entry) : { 'gnss-ref-chosen': method }
  const answer = await ctx.services.use(station).change(values, { source: 'http' })
  if (method === 'survey' && answer.result === 'ok') {
    const { samples, elapsed: elapsed_s, determined: t, by } = entry
    const datum = frame && { datum: { frame, epoch } }
    base.reuse({ method, arp: { x, y, z }, acc_m: acc, corr, t, by, samples, elapsed_s, ...datum })
  }
  return answer
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
        table: table.map(([from, on, to, actions]) => ({ from, on, to, actions })),
      }
    },
  })
}
