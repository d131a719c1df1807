import { definePlugin } from 'rtk-base/plugin'
import { standbyPlugins } from 'rtk-base/services'
import { Type } from 'typebox'
import { Search } from './search.js'

const Options = Type.Object(
  {
    ports: Type.Array(Type.String({ pattern: '^(tcp://.+:\\d{1,5}|/.+)$', maxLength: 256 }), {
      default: [],
      maxItems: 8,
      description: 'Where to look: device paths and tcp://host:port; none: at all serial devices',
    }),
  },
  { additionalProperties: false },
)

/** Finds the receiver of the station, and loads the plugin that drives it. */
export default definePlugin({
  name: 'gnss-auto',
  version: '1.0.0',
  api: '^1.0.0',
  needs: [standbyPlugins],
  options: Options,

  setup: (ctx, { ports }) => new Search(ctx, ports),

  start: (_ctx, handoff, search) => search.begin(handoff.get('port', Type.String())),

  stop: (_reason, search) => (search.port === undefined ? undefined : [['port', search.port]]),
})
