/** HTTP: the neighbours without their passwords, their change, and the curves. */
import { asSent } from 'rtk-base/ntrip'
import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { station } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Curves } from './curve.js'
import { completed, isNtrip, NeighbourList, type NeighbourSetting, nameOf, sourceOf } from './setting.js'

const Shown = Type.Array(
  Type.Object({
    name: Type.Optional(Type.String()),
    host: Type.Optional(Type.String()),
    port: Type.Optional(Type.Integer()),
    mount: Type.Optional(Type.String()),
    user: Type.Optional(Type.String()),
    version: Type.Optional(Type.Integer()),
    tls: Type.Optional(Type.Boolean()),
    gga: Type.Optional(Type.Boolean()),
    serial: Type.Optional(Type.String({ description: 'Only of a neighbour over MQTT' })),
    set: Type.Boolean({ description: 'A password is stored' }),
  }),
)
const Sent = Type.Object({ neighbours: NeighbourList }, { additionalProperties: false })

const Axes = (description: string) =>
  Type.Object({ east: Type.Number(), north: Type.Number(), up: Type.Number() }, { description })
const CurveAnswer = Type.Object({
  curves: Type.Array(
    Type.Object({
      name: Type.String(),
      text: Type.String({ description: 'Significant movement; empty: none' }),
      days: Type.Array(
        Type.Object({
          t: Type.Integer({ description: 'Begin of the day, UTC seconds' }),
          offset: Axes('Movement of this station relative to the neighbour since the begin of the curve, metres'),
          sigma: Axes('Standard deviations, metres'),
        }),
        { description: 'Medians of the days that are over, oldest first, at most 400' },
      ),
    }),
  ),
})

function shown(one: NeighbourSetting): Static<typeof Shown>[number] {
  if (!isNtrip(one)) return { ...one, set: false }
  const { password, ...open } = one
  return { ...open, set: password !== undefined && password !== '' }
}

export function addRoutes(
  ctx: PluginContext,
  list: Pick<ConfigKey<NeighbourSetting[]>, 'name' | 'get'>,
  curves: Curves,
): void {
  ctx.http.route({
    method: 'GET',
    url: '/neighbours',
    schema: {
      summary: 'The neighbouring bases, without passwords',
      response: { 200: Type.Object({ neighbours: Shown }) },
    },
    handler: async () => ({ neighbours: list.get().map(shown) }),
  })
  ctx.http.route({
    method: 'PUT',
    url: '/neighbours',
    schema: {
      summary: 'Sets the neighbouring bases',
      description:
        'A missing password keeps the stored one of the same host and port, but not in plain text after TLS.',
      body: Sent,
      response: { 200: ChangeAnswer },
    },
    handler: async (request) => {
      const { neighbours } = request.body as Static<typeof Sent>
      const value = completed(neighbours, list.get())
      const by = { source: 'http', address: request.ip } as const
      return asSent(await ctx.services.use(station).change({ [list.name]: value }, by), { [list.name]: neighbours })
    },
  })
  ctx.http.route({
    method: 'GET',
    url: '/neighbours/curve',
    schema: {
      summary: 'Movement of this station relative to each neighbour, by day',
      response: { 200: CurveAnswer },
    },
    handler: async () => ({
      curves: list.get().map((one) => ({
        name: nameOf(one),
        text: curves.moveOf(sourceOf(one)),
        days: curves.of(sourceOf(one)).map(({ t_s, offset, sigma }) => ({ t: t_s, offset, sigma })),
      })),
    }),
  })
}
