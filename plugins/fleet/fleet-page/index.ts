import { Pages, tileOrigin } from 'rtk-base/page'
import { definePlugin, RtkError } from 'rtk-base/plugin'
import { device, fleet, fleetAccess, station } from 'rtk-base/services'
import { Type } from 'typebox'
import client from './ui/main.tsx?client'

const Options = Type.Object(
  {
    tiles: Type.String({
      default: '',
      maxLength: 300,
      pattern: '^($|https?://[^\\s;,\'"]+$)',
      description: 'URL of map tiles with {z}, {x} and {y}; empty: the map has no tiles and needs no internet',
    }),
    attribution: Type.String({
      default: '',
      maxLength: 120,
      description: 'Text under the map that the licence of the tiles asks for',
    }),
  },
  { additionalProperties: false },
)

/** Parts of the page that it shows only where their plugin runs. */
const parts = ['fleet-rollout', 'fleet-caster', 'fleet-net', 'alerts'] as const

const About = Type.Object({
  version: Type.String({ description: 'Version of rtk-base' }),
  tiles: Type.String({ description: 'URL of map tiles; empty: none' }),
  attribution: Type.String(),
  parts: Type.Array(Type.String(), {
    description: `Running plugins that the page has a part for: ${parts.join(', ')}`,
  }),
})

/** The page of a fleet: its stations, what happened to them, and everything that people do with them. */
export default definePlugin({
  name: 'fleet-page',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [device, station, fleet, fleetAccess],
  options: Options,

  setup(ctx, { tiles, attribution }) {
    const pictures = tileOrigin(tiles)
    if (tiles !== '' && pictures === '')
      throw new RtkError(
        'RTK_ERR_PLUGIN_OPTIONS',
        'fleet-page.tiles is one server, a / and the rest, without * or login',
      )
    new Pages(ctx, {
      client,
      summary: 'The page of the fleet',
      text: 'The stations as text',
      path: '/fleet/stations',
      pictures: () => pictures,
    }).register()
    ctx.banner('page', () => '{http}/')
    ctx.http.route({
      method: 'GET',
      url: '/fleet/page',
      schema: { summary: 'What the page of the fleet shows', response: { 200: About } },
      handler: async () => {
        const running = ctx.services.use(station).plugins()
        const isRunning = (part: string) => running.some(({ name, state }) => name === part && state === 'running')
        return { version: ctx.services.use(device).version, tiles, attribution, parts: parts.filter(isRunning) }
      },
    })
  },
})
