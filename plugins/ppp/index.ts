import { decimalYear, frameNames, frameTexts, type PlateName, plates } from 'rtk-base/gnss'
import { badValue, definePlugin, RtkError, rangeOf } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { device, procedureStatus, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { Csrs, csrsUrl, readSum } from './csrs.js'
import { Job, PppJobs, Result } from './job.js'
import { type Doubt, frameNamed, type Preview, previewOf } from './result.js'

const day_ms = 86_400_000
const Enu = Type.Object({ east: Type.Number(), north: Type.Number(), up: Type.Number() })
const Shown = Type.Object({
  ...Result.properties,
  preview: Type.Object(
    {
      x: Type.Number({ description: 'Of the antenna reference point, metres' }),
      y: Type.Number(),
      z: Type.Number(),
      frame: Type.String(),
      epoch: Type.Number(),
      acc: Type.Number({ description: '3D, 1 sigma, metres, with 3 cm for the frame' }),
      offset: Type.Optional(Enu),
      doubts: Type.Array(Type.Enum(['distance', 'frame', 'plate', 'antenna']), {
        description: 'Reasons to look twice, see the README of the plugin',
      }),
      drift: Type.Optional(Type.Number({ description: 'How fast these coordinates become wrong, mm a year' })),
    },
    { description: 'As the reference that applying it would make' },
  ),
})
const State = Type.Object({ job: Type.Optional(Job), results: Type.Array(Shown) })
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) })

/** Positions from a PPP service: submitted, waited for, previewed and applied, or imported from its report. */
export default definePlugin({
  name: 'ppp',
  version: '1.0.0',
  api: '^1.2.0',
  needs: [device, station],
  options: Type.Object(
    { url: Type.String({ default: csrsUrl, description: 'Address of the CSRS-PPP service' }) },
    { additionalProperties: false },
  ),

  setup(ctx, { url = csrsUrl }) {
    const account = ctx.config.define(
      'ppp-account',
      Type.String({
        maxLength: 100,
        pattern: '^$|^[^\\s@,;]+@[^\\s@,;]+$',
        description: 'E-mail address of your account',
      }),
      { default: '', title: 'PPP: account at CSRS-PPP' },
    )
    const frame = ctx.config.define(
      'ppp-frame',
      Type.Enum([...frameNames], {
        description: frameNames.map((name) => `${name}: ${frameTexts[name]}`).join('; '),
      }),
      { default: 'ITRF2020', title: 'PPP: frame of the announced position' },
    )
    const epoch = ctx.config.define(
      'ppp-epoch',
      Type.Union([Type.Null(), Type.Number({ minimum: 1980, maximum: 2100 })], {
        description: 'Decimal year, e.g. 2010.0; null: that of the observations. Needs ppp-plate',
      }),
      { default: null, title: 'PPP: epoch of the announced position' },
    )
    const plate = ctx.config.define(
      'ppp-plate',
      Type.Enum(['', ...(Object.keys(plates) as PlateName[])], {
        description: 'Tectonic plate that carries the station, e.g. EURA, NOAM or AUST; empty: unknown',
      }),
      { default: '', title: 'PPP: tectonic plate' },
    )
    ctx.config.rule([epoch.name, plate.name], (get) =>
      get(epoch.name) !== null && get(plate.name) === ''
        ? 'ppp-epoch needs ppp-plate: between two epochs, the plate moves the station'
        : undefined,
    )
    const jobs = new PppJobs({ ctx, service: new Csrs(ctx, url), account: () => account.get() })

    const parameter = (name: string): string => {
      const found = ctx.services
        .use(station)
        .parameters()
        .find((one) => one.name === name)
      return typeof found?.value === 'string' ? found.value : ''
    }
    const preview = (result: Result): Preview => {
      const from = frameNamed(result.frame)
      if (!from) throw new RtkError('RTK_ERR_UNAVAILABLE', `${result.frame} cannot be transformed`)
      const [sx = 0, sy = 0, sz = 0] = result.sigma
      const position = { x: result.x, y: result.y, z: result.z }
      const procedure = ctx.services.find(procedureStatus)
      const isManual = procedure?.chosen?.method === 'manual'
      const reference = procedure?.reference && {
        position: procedure.reference,
        acc_m: procedure.chosen?.acc_m ?? 0,
        frame: isManual ? parameter('gnss-ref-frame') : '',
      }
      return previewOf(
        { position, sigma_m: [sx, sy, sz], frame: from, epoch: result.epoch, height_m: result.height },
        {
          ...{ height_m: result.height, reference, antenna: result.session?.antenna },
          now: decimalYear(ctx.services.use(device).utc_ms()),
          to: {
            frame: frame.get(),
            epoch: epoch.get() ?? undefined,
            plate: plate.get() || undefined,
          },
        },
      )
    }
    const shown = (result: Result) => {
      const { acc_m, doubts, drift_mm, epoch, frame, offset, position } = preview(result)
      return {
        ...result,
        preview: {
          ...{ ...position, frame, epoch, acc: acc_m, doubts: [...doubts] },
          ...(offset && { offset }),
          ...(drift_mm !== undefined && { drift: drift_mm }),
        },
      }
    }
    const state = () => ({ ...(jobs.job && { job: jobs.job }), results: jobs.results.map(shown) })
    const resultOf = (params: unknown): Result => {
      const { id } = params as { id: number }
      const found = jobs.results.find((one) => one.id === Number(id))
      if (!found) throw new RtkError('RTK_ERR_NOT_FOUND', `there is no result ${id}`)
      return found
    }

    ctx.http.route({
      method: 'GET',
      url: '/ppp',
      schema: { summary: 'The PPP job and the determined positions, newest first', response: { 200: State } },
      handler: async () => state(),
    })
    ctx.http.route({
      method: 'POST',
      url: '/ppp/job',
      schema: {
        summary: 'Submits a session of raw data to CSRS-PPP, `?from=` and `to=`, at most 24 h',
        parameters: ['from', 'to'].map((name) => ({
          ...{ name, in: 'query', schema: { type: 'string' } },
          description: 'ISO time or UTC seconds; default: the last 24 hours',
        })),
        response: { 200: State },
      },
      handler: async (request) => {
        const range = rangeOf(request.query)
        const to_ms = Math.min(range.to_ms, ctx.services.use(device).utc_ms())
        await jobs.begin(range.from_ms === 0 ? to_ms - day_ms : range.from_ms, to_ms)
        return state()
      },
    })
    ctx.http.route({
      method: 'DELETE',
      url: '/ppp/job',
      schema: { summary: 'Cancels the PPP job, or clears one that failed', response: { 200: State } },
      handler: async () => {
        await jobs.cancel()
        return state()
      },
    })
    ctx.http.route({
      method: 'POST',
      url: '/ppp/results',
      schema: {
        summary: 'Imports the report of CSRS-PPP (.sum)',
        body: Type.Object(
          {
            text: Type.String({ maxLength: 262_144 }),
            height: Type.Optional(
              Type.Number({
                minimum: 0,
                maximum: 100,
                description: 'Antenna reference point above the marker, metres',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: Shown },
      },
      handler: async (request) => {
        const { height, text } = request.body as { text: string; height?: number }
        const found = readSum(text)
        if (typeof found === 'string') throw badValue(`this is no report that can be used: ${found}`)
        const { height_m = height } = found
        if (height_m === undefined)
          throw badValue('the report does not name the height of the antenna: send height, 0 if there is no marker')
        if (height !== undefined && Math.abs(height - height_m) > 0.001) {
          throw badValue(`the report was made with an antenna height of ${height_m} m, not ${height} m`)
        }
        return shown(await jobs.add(found, 'import', height_m))
      },
    })
    ctx.http.route({
      method: 'DELETE',
      url: '/ppp/results/:id',
      schema: { summary: 'Deletes a determined position', params: Id, response: { 200: State } },
      handler: async (request) => {
        await jobs.remove(resultOf(request.params).id)
        return state()
      },
    })
    ctx.http.route({
      method: 'POST',
      url: '/ppp/results/:id/apply',
      schema: {
        summary: 'Makes a determined position the reference of the station',
        description:
          'A doubtful one only with `{ "force": true }`. The station then compares the antenna with it, as with any entered position',
        params: Id,
        body: Type.Object({ force: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
        response: { 200: ChangeAnswer },
      },
      handler: async (request) => {
        const result = resultOf(request.params)
        const { acc_m, doubts, epoch, frame, offset, position } = preview(result)
        if (doubts.length > 0 && (request.body as { force?: boolean }).force !== true) {
          const away_m = offset ? Math.hypot(offset.east, offset.north, offset.up) : 0
          const present = parameter('gnss-ref-frame') || 'unknown'
          const reasons: Readonly<Record<Doubt, string>> = {
            distance: `it is ${away_m.toFixed(2)} m from the present reference, which the accuracies do not explain`,
            frame: `the present reference is in ${present}, and this position in ${frame}: rovers will be shifted`,
            plate: 'plate and frame do not move together: one of them is of another place',
            antenna:
              'the antenna was not known, so the position is that of its phase centre: set gnss-antenna-descriptor',
          }
          const text = doubts.map((doubt) => reasons[doubt]).join('; ')
          throw new RtkError(
            'RTK_ERR_UNAVAILABLE',
            `the position is doubtful: ${text}. Send force to use it nevertheless`,
          )
        }
        const round = (axis: number) => Math.round(axis * 10_000) / 10_000
        return ctx.services.use(station).change(
          {
            'gnss-ref-manual-x': round(position.x),
            'gnss-ref-manual-y': round(position.y),
            'gnss-ref-manual-z': round(position.z),
            'gnss-ref-manual-hp': true,
            'gnss-ref-manual-acc': Math.round(acc_m * 1_000) / 1_000,
            // Only then its distance to an RTK position is that of the antenna.
            'gnss-ref-manual-corr': parameter('gnss-recvrtcm-frame') === frame,
            'gnss-ref-manual-point': 'arp',
            'gnss-ref-frame': frame,
            'gnss-ref-epoch': epoch.toFixed(2),
            'gnss-ref-chosen': 'manual',
          },
          { source: 'http', address: request.ip },
        )
      },
    })
    return { jobs }
  },

  async start(_ctx, _handoff, { jobs }) {
    await jobs.start()
  },
})
