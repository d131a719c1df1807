import { networkInterfaces } from 'node:os'
import { Pages, tileOrigin, tilesFault } from 'rtk-base/page'
import { definePlugin } from 'rtk-base/plugin'
import { content } from 'rtk-base/schemas'
import { device, logs, pluginTexts, procedureStatus, station, stationPage } from 'rtk-base/services'
import { Type } from 'typebox'
import { pageAddresses, qrLines, qrPath } from './address/page-addresses.js'
import { EventHub } from './events/hub.js'
import { FigureRecorder } from './history/recorder.js'
import { SurveyCurve, surveyFactsOf } from './history/survey-curve.js'
import { Panels } from './panels.js'
import { Addresses, EventsQuery, Series, SeriesQuery, SkyCells, wantedSeries, wantedTopics } from './query.js'
import { addTexts } from './texts.js'
import client from './ui/main.tsx?client'

const Position = Type.Object({ x: Type.Number(), y: Type.Number(), z: Type.Number() })
const Curve = Type.Array(Type.Object({ t: Type.Number(), now: Position, mean: Position, acc: Type.Number() }))

const Options = Type.Object(
  {
    tiles: Type.String({
      default: '',
      maxLength: 300,
      pattern: '^($|https?://[^\\s;,\'"]+$)',
      description: 'Default of the parameter map-tiles; http is allowed here too, for a server in the local network',
    }),
  },
  { additionalProperties: false },
)

const TilesSchema = Type.String({
  maxLength: 300,
  pattern: '^[^\\s;,\'"]*$',
  description: 'https address of the map tiles, with {z}, {x} and {y}; empty: a drawing without a map',
})

const AttributionSchema = Type.String({
  maxLength: 120,
  description: 'Text under the map that the licence of the tiles requires, such as © OpenStreetMap contributors',
})

/** The page that a person sees: whether this base can be trusted, and everything that can be set and sent. */
export default definePlugin({
  name: 'dashboard',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [station, device, logs, pluginTexts],
  provides: [stationPage],
  options: Options,

  setup(ctx, { tiles }) {
    const recorder = new FigureRecorder(ctx)
    // The whole document is not made each second for a curve that does not grow.
    const isSurveying = () => {
      const { asked, status } = ctx.services.find(procedureStatus) ?? {}
      return status === 'survey' || asked === 'survey'
    }
    const survey = new SurveyCurve(() =>
      isSurveying() ? surveyFactsOf(ctx.services.use(station).document()) : undefined,
    )
    const panels = new Panels(ctx)
    ctx.services.provide(stationPage, panels)
    const map = ctx.config.define('map-tiles', TilesSchema, { default: tiles, title: 'Map under the rovers' })
    ctx.config.rule([map.name], (get) => {
      const wanted = String(get(map.name))
      return wanted === tiles ? undefined : tilesFault(wanted)
    })
    const attribution = ctx.config.define('map-attribution', AttributionSchema, {
      default: '',
      title: 'Provider of the map',
    })
    const hub = new EventHub(ctx, survey, panels, () => ({ tiles: map.get(), attribution: attribution.get() }))
    new Pages(ctx, {
      client,
      summary: 'The page of the station',
      text: 'The figures as text',
      path: '/get-info',
      pictures: () => tileOrigin(map.get()),
    }).register()
    panels.register()
    addTexts(ctx)
    const addresses = () => pageAddresses(ctx.services.use(device).http, networkInterfaces())
    ctx.banner('page', () => '{http}/')
    // For a phone in front of the screen. A log has no use for it.
    ctx.banner(
      'phone',
      () => {
        const [address] = addresses()
        return address ? `${address.url}\n${qrLines(address.url)}` : ''
      },
      { onTerminal: true },
    )

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
    return { recorder, survey, hub }
  },

  async start(_ctx, handoff, { recorder, survey, hub }) {
    survey.restore(handoff.get('curve', Curve) ?? [])
    await recorder.start()
    hub.start()
  },

  async stop(_reason, { recorder, survey, hub }) {
    hub.stop()
    await recorder.save()
    return [['curve', survey.points]]
  },
})
