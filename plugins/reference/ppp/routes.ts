import { frameNamed } from 'rtk-base/gnss'
import { badValue, type PluginContext, RtkError } from 'rtk-base/plugin'
import { ChangeAnswer } from 'rtk-base/schemas'
import { device, station } from 'rtk-base/services'
import { rangeOf } from 'rtk-base/time'
import Type, { type Static } from 'typebox'
import { type Determined, readGiven } from './determined.js'
import { Job, type PppJobs, Result } from './job.js'
import { antennaOf, type Doubt, doubtNames, type Preview } from './result.js'
import type { SeriesPoint } from './series.js'
import { isSinex, readSinex } from './sinex.js'
import { readSum } from './sum.js'

const day_ms = 86_400_000
const mostReport = 900_000
/** JSON writes the end of a line as two characters. */
const mostBody_bytes = 2 * mostReport + 65_536

const Enu = Type.Object({ east: Type.Number(), north: Type.Number(), up: Type.Number() })
const Shown = Type.Object({
  ...Result.properties,
  preview: Type.Object(
    {
      x: Type.Number({ description: 'Position of the antenna reference point, metres' }),
      y: Type.Number(),
      z: Type.Number(),
      frame: Type.String(),
      epoch: Type.Number(),
      acc: Type.Number({ description: '3D, 1 sigma, metres, with 3 cm for the frame' }),
      offset: Type.Optional(Enu),
      doubts: Type.Array(Type.Enum([...doubtNames]), {
        description: 'Reasons to look twice, see the README of the plugin',
      }),
      drift: Type.Optional(Type.Number({ description: 'How fast these coordinates become wrong, mm a year' })),
    },
    { description: 'As the reference that applying it would make' },
  ),
})
const State = Type.Object({
  job: Type.Optional(Job),
  results: Type.Array(Shown),
  series: Type.Array(
    Type.Object({
      epoch: Type.Number({ description: 'Decimal year of the observations' }),
      offset: Enu,
      sigma: Enu,
    }),
    {
      description: 'The motion of the point from the oldest result, oldest first, metres. Without that of `gnss-plate`',
    },
  ),
})
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) })
const Import = Type.Object(
  {
    text: Type.Optional(Type.String({ maxLength: mostReport, description: 'A report: `.sum` of CSRS-PPP, or SINEX' })),
    site: Type.Optional(Type.String({ maxLength: 4, description: 'SINEX: code of the site' })),
    position: Type.Optional(
      Type.Object(
        {
          x: Type.Number({ description: 'ECEF of the marker, metres' }),
          y: Type.Number(),
          z: Type.Number(),
          epoch: Type.Number({ minimum: 1980, maximum: 2100, description: 'Decimal year' }),
          acc: Type.Number({ exclusiveMinimum: 0, maximum: 1_000, description: '3D, 1 sigma, metres' }),
        },
        { additionalProperties: false, description: 'Instead of a report' },
      ),
    ),
    frame: Type.Optional(Type.String({ maxLength: 32, description: 'For SINEX and `position`, e.g. ITRF2020' })),
    height: Type.Optional(
      Type.Number({ minimum: 0, maximum: 100, description: 'Antenna reference point above the marker, metres' }),
    ),
  },
  { additionalProperties: false },
)

export interface Deps {
  readonly ctx: PluginContext
  readonly jobs: PppJobs
  /** By the station as it is now. */
  readonly previews: () => (result: Result) => Preview
  readonly series: () => SeriesPoint[]
  /** As entered. */
  readonly correctionFrame: () => string | undefined
}

export function addRoutes({ correctionFrame, ctx, jobs, previews, series }: Deps): void {
  const shown = (result: Result, preview = previews()) => {
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
  const allShown = () => {
    const preview = previews()
    return jobs.results.map((result) => shown(result, preview))
  }
  const state = () => ({ ...(jobs.job && { job: jobs.job }), results: allShown(), series: series() })
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
    bodyLimit: mostBody_bytes,
    schema: {
      summary: 'Imports a determined position: the report of CSRS-PPP (.sum), SINEX, or coordinates',
      body: Import,
      response: { 200: Shown },
    },
    handler: async (request) => {
      const body = request.body as Static<typeof Import>
      const found = readImport(body)
      if (typeof found === 'string') throw badValue(`this position cannot be used: ${found}`)
      const { height_m = body.height } = found
      if (height_m === undefined)
        throw badValue('the report does not name the height of the antenna: send height, 0 if there is no marker')
      if (body.height !== undefined && Math.abs(body.height - height_m) > 0.001)
        throw badValue(`the report was made with an antenna height of ${height_m} m, not ${body.height} m`)
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
      const previewed = previews()(result)
      if (previewed.doubts.length > 0 && (request.body as { force?: boolean }).force !== true)
        throw badValue(`the position is doubtful: ${doubtText(previewed)}. Send force to use it nevertheless`)
      const change = changeOf(result, previewed, correctionFrame())
      return ctx.services.use(station).change(change, { source: 'http', address: request.ip })
    },
  })
}

/** @returns a text that says what is wrong with it */
function readImport({ frame, position, site, text }: Static<typeof Import>): Determined | string {
  if ((text === undefined) === (position === undefined)) return 'send either text or position'
  if (position) return frame === undefined ? 'send frame, e.g. ITRF2020' : readGiven({ ...position, frame })
  const report = text ?? ''
  if (!isSinex(report)) return readSum(report)
  return frame === undefined
    ? 'SINEX does not name its frame: send frame, e.g. ITRF2020'
    : readSinex(report, frame, site)
}

function doubtText({ doubts, frame, offset }: Preview): string {
  const away_m = offset ? Math.hypot(offset.east, offset.north, offset.up) : 0
  const reasons: Readonly<Record<Doubt, string>> = {
    distance: `it is ${away_m.toFixed(2)} m from the present reference, which the accuracies do not explain`,
    frame: `the present reference is in another frame, and this position in ${frame}: rovers will be shifted`,
    plate: 'plate and frame do not move together: one of them is of another place',
    antenna:
      'gnss-antenna-descriptor was empty, or is not in the table of antennas, so the position may be that of the phase centre',
  }
  return doubts.map((doubt) => reasons[doubt]).join('; ')
}

/** In the frame of the determination: the station transforms it to the one that it announces. */
function changeOf(result: Result, { acc_m, frame }: Preview, correctionFrame: string | undefined) {
  const { epoch, height, session, source, x, y, z } = result
  const antenna = antennaOf({ position: { x, y, z }, frame: result.frame, epoch, height_m: height }, height)
  const round = (axis: number) => Math.round(axis * 10_000) / 10_000
  const evidence = session ? `${source} ${session.rinex.slice(0, 60)} sha256 ${session.sha256.slice(0, 16)}` : source
  return {
    'gnss-ref-manual-x': round(antenna.position.x),
    'gnss-ref-manual-y': round(antenna.position.y),
    'gnss-ref-manual-z': round(antenna.position.z),
    'gnss-ref-manual-hp': true,
    'gnss-ref-manual-acc': Math.round(acc_m * 1_000) / 1_000,
    // Only then its distance to an RTK position is that of the antenna.
    'gnss-ref-manual-corr': frameNamed(correctionFrame ?? '') === frame,
    'gnss-ref-manual-point': 'arp',
    'gnss-ref-manual-provenance': 'ppp',
    'gnss-ref-manual-source': evidence,
    'gnss-ref-frame': result.frame,
    'gnss-ref-epoch': epoch.toFixed(3),
    'gnss-ref-chosen': 'manual',
  }
}
