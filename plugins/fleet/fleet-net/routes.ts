import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type Enu, fleet, fleetDatabase } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { curveOf } from './judgement/days.js'
import type { Judgements } from './judgement/judgements.js'
import type { StoredBase } from './judgement/step.js'

const most = 1_000

const Serial = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Serial number of the station' })
const State = Type.Enum(['agrees', 'contradicts', 'unknown'], {
  description: 'Whether the neighbours confirm the announced position',
})
export const EnuMetres = Type.Object(
  { east: Type.Number(), north: Type.Number(), up: Type.Number() },
  { description: 'Metres' },
)
const Cause = Type.Object({
  kind: Type.String({ description: 'A code; empty: there is none' }),
  values: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  text: Type.String(),
})
export const Judgement = Type.Object({
  serial: Serial,
  state: State,
  reason: Type.String({ description: 'Why, as a code; pending: contradicted by one window, the next one decides' }),
  offset: EnuMetres,
  sigma: EnuMetres,
  vectors: Type.Integer({ description: 'Neighbours that the judgement is based on' }),
  since: Type.Integer({ description: 'Since when it has this state, UTC seconds' }),
  cause: Cause,
})
const Pair = Type.Object({
  one: Serial,
  other: Serial,
  status: Type.Enum(['fixed', 'float', 'none', ''], { description: 'Status of the last window; empty: none yet' }),
  reason: Type.String({ description: 'Why there is no better vector' }),
  tried: Type.Integer({ description: 'End of the last window, UTC seconds; 0: none yet' }),
})
const Day = Type.Object({ t: Type.Integer({ description: 'UTC seconds' }), offset: EnuMetres, sigma: EnuMetres })

export const rounded = ({ east, north, up }: Enu): Enu => ({
  east: Number(east.toFixed(4)),
  north: Number(north.toFixed(4)),
  up: Number(up.toFixed(4)),
})

const shown = ({
  serial,
  state,
  reason,
  offset,
  sigma,
  vectors,
  since_s,
  cause,
}: StoredBase): Static<typeof Judgement> => ({
  ...{ serial, state, reason, vectors, since: since_s },
  cause: { kind: cause.kind, values: { ...cause.values }, text: cause.text },
  offset: rounded(offset),
  sigma: rounded(sigma),
})

interface PairRow {
  readonly one: string
  readonly other: string
  readonly status: 'fixed' | 'float' | 'none' | ''
  readonly reason: string
  readonly tried: Date | null
}
const pairOf = ({ tried, ...row }: PairRow): Static<typeof Pair> => ({
  ...row,
  tried: Math.floor((tried?.getTime() ?? 0) / 1_000),
})

const NetQuery = Type.Object(
  {
    group: Type.Optional(Type.String({ maxLength: 64, description: 'Only stations of this group; default: all' })),
    after: Type.Optional(Serial),
  },
  { additionalProperties: false },
)

export function netRoutes(ctx: PluginContext, judgements: Judgements): void {
  const config = { role: 'viewer' } as const
  ctx.http.route({
    method: 'GET',
    url: '/fleet/net',
    config,
    schema: {
      summary: `Judgements and pairs of the stations in order of their serial numbers, ${most} at a time`,
      querystring: NetQuery,
      response: {
        200: Type.Object({
          stations: Type.Array(Judgement),
          pairs: Type.Array(Pair, { description: 'Those whose lesser serial number is of these stations' }),
          next: Type.String({ description: 'Give it as `after` for the next stations; empty: these were the last' }),
        }),
      },
    },
    handler: async (request) => {
      const { group, after = '' } = request.query as Static<typeof NetQuery>
      const all = [...ctx.services.use(fleet).stations()]
        .filter((station) => station.serial > after && (group === undefined || station.group === group))
        .map(({ serial }) => serial)
        .sort((one, other) => (one < other ? -1 : 1))
      const some = all.slice(0, most)
      const pairs = await ctx.services
        .use(fleetDatabase)
        .query<PairRow>(
          'select one, other, status, reason, tried from fleet_net_pair where one = any($1) order by one, other',
          [some],
        )
      return {
        stations: some.flatMap((serial) => judgements.base(serial) ?? []).map(shown),
        pairs: pairs.map(pairOf),
        next: all.length > most ? (some.at(-1) ?? '') : '',
      }
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/fleet/net/stations/:serial',
    config,
    schema: {
      summary: 'The judgement of a station, its pairs, and its daily offsets',
      params: Type.Object({ serial: Serial }),
      response: {
        200: Type.Object({
          judgement: Type.Union([Judgement, Type.Null()], { description: 'null: it was never judged' }),
          pairs: Type.Array(Pair),
          days: Type.Array(Day, { description: 'Measured minus the position that is announced now' }),
        }),
      },
    },
    handler: async (request) => {
      const { serial } = request.params as { serial: string }
      const station = ctx.services.use(fleet).station(serial)
      if (!station) throw new RtkError('RTK_ERR_NOT_FOUND', `the fleet does not know a station ${serial}`)
      const database = ctx.services.use(fleetDatabase)
      const pairs = await database.query<PairRow>(
        'select one, other, status, reason, tried from fleet_net_pair where one = $1 or other = $1 order by one, other',
        [serial],
      )
      const except = judgements.contradicted
      except.delete(serial)
      const days = station.arp ? await curveOf(database, serial, { arp: station.arp, except }) : []
      const found = judgements.base(serial)
      return {
        judgement: found ? shown(found) : null,
        pairs: pairs.map(pairOf),
        days: days.map(({ t_s, offset, sigma }) => ({ t: t_s, offset: rounded(offset), sigma: rounded(sigma) })),
      }
    },
  })
}
