/** What the page reads beside the document: events, addresses, and the history of its plots. */
import type { PluginContext } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { type PageAddress, qrPath } from './address/page-addresses.js'
import type { EventHub } from './events/hub.js'
import type { FigureRecorder } from './history/recorder.js'
import { Addresses, EventsQuery, Series, SeriesQuery, SkyCells, wantedSeries, wantedTopics } from './query.js'

export interface Sources {
  readonly hub: EventHub
  readonly recorder: FigureRecorder
  /** Of the page in the local network. */
  addresses(): readonly PageAddress[]
}

export function addRoutes(ctx: PluginContext, { hub, recorder, addresses }: Sources): void {
  ctx.http.route({
    method: 'GET',
    url: '/events',
    schema: {
      summary:
        'Server-sent events with JSON data: hello once, document and satellites each second, curve and point of a survey-in, log, panels, texts',
      querystring: EventsQuery,
      response: { 200: content('text/event-stream') },
    },
    handler: (request, reply) => {
      const reader = request.role === 'operator' ? 'operator' : 'viewer'
      const acceptsGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
      const topics = new Set(wantedTopics(request.query))
      // As for `GET /get-log-saved`: logs may contain confidential data.
      if (reader === 'viewer') topics.delete('log')
      const { stream } = hub.open({ address: request.ip, reader, acceptsGzip, topics })
      if (acceptsGzip) reply.header('content-encoding', 'gzip')
      return reply
        .type('text/event-stream')
        .header('cache-control', 'no-store')
        .header('vary', 'accept-encoding')
        .send(stream)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/addresses',
    schema: {
      summary: 'Addresses of the page in the local network, as text and as QR code',
      response: { 200: Addresses },
    },
    handler: async () => addresses().map((address) => ({ ...address, ...qrPath(address.url) })),
  })
  ctx.http.route({
    method: 'GET',
    url: '/history',
    schema: { summary: 'Metrics of the last 24 h', querystring: SeriesQuery, response: { 200: Series } },
    handler: async (request) => {
      const { names, step } = wantedSeries(request.query)
      return recorder.series(names, step)
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/history/sky',
    schema: { summary: 'Mean C/N0 by direction', response: { 200: SkyCells } },
    handler: async () => ({ cells: recorder.shading.cells() }),
  })
}
