import { PassThrough } from 'node:stream'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { fleetAccess } from 'rtk-base/services'
import { type Entry, entryFor, entryOf, rowOf } from './schemas.js'
import type { Registry } from './stations/registry.js'

const beat_ms = 1_000
/** A comment keeps proxies from closing a quiet stream. */
const comment_ms = 20_000
const mostClients = 200
/** A page that reads slower is disconnected: it connects again, and reads the list. */
const mostWaiting_bytes = 2 << 20

/** `GET /fleet/live`: changed stations and new entries of the record, once a second, made once for all pages. */
export function liveRoute(ctx: PluginContext, registry: Registry): void {
  /** And whether an operator reads it. */
  const clients = new Map<PassThrough, boolean>()
  const changed = new Set<string>()
  let entries: Entry[] = []
  ctx.on(registry.onStation, ({ serial }) => {
    if (clients.size > 0) changed.add(serial)
  })
  ctx.on(registry.onRecord, (event) => {
    if (clients.size > 0) entries.push(entryOf(event))
  })
  const send = (text: string, viewersText = text) => {
    for (const [client, isOperator] of clients) {
      if (client.writableLength > mostWaiting_bytes) client.destroy()
      else client.write(isOperator ? text : viewersText)
    }
  }
  ctx.timers.every(beat_ms, () => {
    if (changed.size > 0) {
      const stations = [...changed].map((serial) => {
        const station = registry.station(serial)
        return station ? rowOf(station) : { serial, gone: true }
      })
      send(`event: stations\ndata: ${JSON.stringify(stations)}\n\n`)
    }
    const record = (isOperator: boolean) =>
      `event: record\ndata: ${JSON.stringify(entries.map((entry) => entryFor(entry, isOperator)))}\n\n`
    if (entries.length > 0) send(record(true), record(false))
    changed.clear()
    entries = []
  })
  ctx.timers.every(comment_ms, () => send(': \n\n'))
  ctx.defer(() => {
    for (const client of clients.keys()) client.destroy()
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/live',
    schema: {
      summary: 'Server-sent events: stations (rows that changed, or {serial, gone}) and record (new entries)',
      response: { 200: content('text/event-stream') },
    },
    handler: async (request, reply) => {
      if (clients.size >= mostClients) throw unavailable(`${mostClients} pages read the live events already`)
      const client = new PassThrough()
      clients.set(client, ctx.services.use(fleetAccess).may(request, 'operator'))
      client.on('close', () => clients.delete(client))
      client.on('error', () => {})
      client.write(': connected\n\n')
      return reply.type('text/event-stream').header('cache-control', 'no-store').send(client)
    },
  })
}
