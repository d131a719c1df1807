import { PassThrough } from 'node:stream'
import { type PluginContext, unavailable } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { fleetAccess } from 'rtk-base/services'
import { entryFor, entryOf, rowOf } from './schemas.js'
import type { Registry } from './stations/registry.js'

const beat_ms = 1_000
/** A comment keeps proxies from closing a quiet stream. */
const comment_ms = 20_000
const mostClients = 200
/** Beyond this nothing is written to a page that reads slowly: changes of one station wait as one. */
const mostWaiting_bytes = 256 << 10
/** Stations in one event, of about 300 bytes each. */
const mostStations = 500
/** Entries that wait for a page: of more it gets the newest. It shows 200, and reads the others from the record. */
const mostEntries = 500

interface Client {
  readonly stream: PassThrough
  readonly isOperator: boolean
  /** Stations that changed since the page was told of them. */
  readonly changed: Set<string>
  /** New entries of the record, as the page may read them: JSON. */
  entries: string[]
}

/** `GET /fleet/live`: changed stations and new entries of the record, once a second. */
export function liveRoute(ctx: PluginContext, registry: Registry): void {
  const clients = new Set<Client>()
  /** Rows as text, made once for all pages. */
  const texts = new Map<string, string>()
  ctx.on(registry.onStation, ({ serial }) => {
    texts.delete(serial)
    for (const { changed } of clients) changed.add(serial)
  })
  ctx.on(registry.onRecord, (event) => {
    if (clients.size === 0) return
    const [forOperators, forViewers] = [true, false].map((isOperator) =>
      JSON.stringify(entryFor(entryOf(event), isOperator)),
    ) as [string, string]
    for (const { entries, isOperator } of clients) entries.push(isOperator ? forOperators : forViewers)
  })
  const textOf = (serial: string) => {
    const known = texts.get(serial)
    if (known !== undefined) return known
    const station = registry.station(serial)
    const text = JSON.stringify(station ? rowOf(station) : { serial, gone: true })
    texts.set(serial, text)
    return text
  }
  const tell = (client: Client) => {
    const { stream, changed } = client
    while (changed.size > 0 && stream.writableLength < mostWaiting_bytes) {
      const some = [...changed].slice(0, mostStations)
      for (const serial of some) changed.delete(serial)
      stream.write(`event: stations\ndata: [${some.map(textOf).join()}]\n\n`)
    }
    client.entries = client.entries.slice(-mostEntries)
    if (client.entries.length === 0 || stream.writableLength >= mostWaiting_bytes) return
    stream.write(`event: record\ndata: [${client.entries.join()}]\n\n`)
    client.entries = []
  }
  ctx.timers.every(beat_ms, () => {
    for (const client of clients) tell(client)
    // Without a page nobody needs them.
    if (clients.size === 0) texts.clear()
  })
  ctx.timers.every(comment_ms, () => {
    for (const { stream } of clients) if (stream.writableLength < mostWaiting_bytes) stream.write(': \n\n')
  })
  ctx.defer(() => {
    for (const { stream } of clients) stream.destroy()
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
      const stream = new PassThrough()
      const isOperator = ctx.services.use(fleetAccess).may(request, 'operator')
      const client: Client = { stream, isOperator, changed: new Set(), entries: [] }
      clients.add(client)
      stream.on('close', () => clients.delete(client))
      stream.on('error', () => {})
      stream.write(': connected\n\n')
      return reply.type('text/event-stream').header('cache-control', 'no-store').send(stream)
    },
  })
}
