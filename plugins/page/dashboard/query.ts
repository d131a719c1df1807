import { badValue } from 'rtk-base/plugin'
import { Type } from 'typebox'
import { type Topic, topics, topicsOf } from './events/hub.js'
import { figures } from './history/figures.js'

const known = figures.map(({ name }) => name)

/** The queries as described in `/openapi.json`; the functions below parse them. */
export const EventsQuery = Type.Object({
  want: Type.Optional(Type.String({ description: `some of ${topics.join(',')}; left out: all` })),
})
export const SeriesQuery = Type.Object({
  figures: Type.Optional(Type.String({ description: `some of ${known.join(',')}` })),
  step: Type.Optional(Type.String({ description: 'samples of 10 s that are one value; left out: 6' })),
})

/** And of the answers. */
export const Addresses = Type.Array(
  Type.Object({
    interface: Type.String(),
    url: Type.String(),
    size: Type.Integer({ description: 'Modules a side of the QR code' }),
    path: Type.String({ description: 'Its dark modules as an SVG path, one unit each' }),
  }),
  { description: 'The best first' },
)
export const Series = Type.Object({
  t: Type.Integer({ description: 'Time of the newest value, UTC seconds; 0 unknown' }),
  interval_s: Type.Integer({ description: 'Seconds between two values' }),
  units: Type.Record(Type.String(), Type.String()),
  figures: Type.Record(Type.String(), Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description: 'By name, oldest first; null: unknown',
  }),
})
export const SkyCells = Type.Object({
  cells: Type.Array(
    Type.Object({
      az: Type.Number({ description: 'Azimuth, degrees' }),
      el: Type.Number({ description: 'Elevation, degrees' }),
      cno: Type.Number({ description: 'dB-Hz' }),
    }),
  ),
})

type Query = Readonly<Record<string, unknown>>

/** @throws RTK_ERR_COMMAND_VALUE */
export function wantedTopics(query: unknown): ReadonlySet<Topic> {
  const found = topicsOf((query as Query).want)
  if (!found) throw badValue(`want=<${topics.join(',')}>`)
  return found
}

/** Names of figures, and how many samples are one value. @throws RTK_ERR_COMMAND_VALUE */
export function wantedSeries(query: unknown): { names: string[]; step: number } {
  const { figures: wanted = '', step = '6' } = query as Query
  const count = Number(step)
  if (!Number.isInteger(count) || count < 1 || count > 8_640) throw badValue('step=<1 to 8640>, samples of 10 s')
  const names = String(wanted).split(',').filter(Boolean)
  if (!names.every((name) => known.includes(name))) throw badValue(`figures=<some of ${known.join(',')}>`)
  return { names, step: count }
}
