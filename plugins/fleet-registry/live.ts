import { PassThrough } from 'node:stream'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { entryOf, rowOf } from './schemas.js'
import type { Registry } from './stations/registry.js'

const beat_ms = 1_000
/** A comment keeps proxies from closing a quiet stream. */
const comment_ms = 20_000
const mostClients = 200
/** A page that reads slower is disconnected: it connects again, and reads the list. */
const mostWaiting_bytes = 2 << 20

/** `GET /fleet/live`: changed stations and new entries of the record, once a second, made once for all pages. */
export function liveRoute(ctx: PluginContext, registry: Registry): void {
  const clients = new Set<PassThrough>()
  const changed = new Set<string>()
  let entries: string[] = []
  ctx.on(registry.onStation, ({ serial }) => {
    if (clients.size > 0) changed.add(serial)
  })
  ctx.on(registry.onRecord, (event) => {
    if (clients.size > 0) entries.push(JSON.stringify(entryOf(event)))
  })
  const send = (text: string) => {
    for (const client of clients) {
      if (client.writableLength > mostWaiting_bytes) client.destroy()
      else client.write(text)
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
    if (entries.length > 0) send(`event: record\ndata: [${entries.join(',')}]\n\n`)
    changed.clear()
    entries = []
  })
  ctx.timers.every(comment_ms, () => send(': \n\n'))
  ctx.defer(() => {
    for (const client of clients) client.destroy()
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/live',
    schema: {
      summary: 'Server-sent events: stations (rows that changed, or {serial, gone}) and record (new entries)',
      response: { 200: content('text/event-stream') },
    },
    handler: async (_request, reply) => {
      if (clients.size >= mostClients) throw unavailable(`${mostClients} pages read the live events already`)
      const client = new PassThrough()
      clients.add(client)
      client.on('close', () => clients.delete(client))
      client.on('error', () => {})
      client.write(': connected\n\n')
      return reply.type('text/event-stream').header('cache-control', 'no-store').send(client)
    },
  })
}
