import { networkInterfaces } from 'node:os'
import { Pages, tileOrigin, tilesFault } from 'rtk-base/page'
import { definePlugin } from 'rtk-base/plugin'
import { device, logs, pluginTexts, procedureStatus, station, stationPage } from 'rtk-base/services'
import { Type } from 'typebox'
import { pageAddresses, qrLines } from './address/page-addresses.js'
import { EventHub } from './events/hub.js'
import { FigureRecorder } from './history/recorder.js'
import { SurveyCurve, surveyFactsOf } from './history/survey-curve.js'
import { Panels } from './panels.js'
import { addRoutes } from './routes.js'
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

    addRoutes(ctx, { hub, recorder, addresses })
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
