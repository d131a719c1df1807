import { type DatumWish, decimalYear, type FrameName, type PlateName } from 'rtk-base/gnss'
import { definePlugin } from 'rtk-base/plugin'
import { device, procedureStatus, station } from 'rtk-base/services'
import { Type } from 'typebox'
import { Csrs, csrsUrl } from './csrs.js'
import { PppJobs, type Result } from './job.js'
import { previewOf } from './result.js'
import { addRoutes } from './routes.js'
import { seriesOf } from './series.js'

const day_ms = 86_400_000
const repeats = { off: undefined, weekly: 7 * day_ms, monthly: 30 * day_ms } as const

/** Positions from a PPP service: submitted, waited for, previewed and applied, or imported from its report. */
export default definePlugin({
  name: 'ppp',
  version: '1.0.0',
  api: '^1.0.0',
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
    const repeat = ctx.config.define(
      'ppp-repeat',
      Type.Union(
        [
          Type.Literal('off', { title: 'off' }),
          Type.Literal('weekly', { title: 'weekly' }),
          Type.Literal('monthly', { title: 'monthly' }),
        ],
        { description: 'Submits the previous day automatically' },
      ),
      { default: 'off', title: 'PPP: repeat' },
    )
    const jobs = new PppJobs({
      ...{ ctx, service: new Csrs(ctx, url), account: () => account.get() },
      repeat_ms: () => repeats[repeat.get()],
    })
    const parameter = (name: string) =>
      ctx.services
        .use(station)
        .parameters()
        .find((one) => one.name === name)?.value || undefined
    const wish = (): DatumWish => ({
      frame: parameter('gnss-announce-frame') as FrameName | undefined,
      epoch: parameter('gnss-announce-epoch') as number | undefined,
      plate: parameter('gnss-plate') as PlateName | undefined,
    })
    const reference = () => {
      const procedure = ctx.services.find(procedureStatus)
      const { acc_m = 0, frame = '', method } = procedure?.chosen ?? {}
      return procedure?.reference && { position: procedure.reference, acc_m, frame: method === 'manual' ? frame : '' }
    }
    addRoutes({
      ...{ ctx, jobs },
      previews() {
        const common = { reference: reference(), to: wish(), now: decimalYear(ctx.services.use(device).utc_ms()) }
        return ({ height: height_m, session, ...result }) =>
          previewOf(determinedOf({ ...result, height: height_m }), {
            ...{ ...common, height_m, antenna: session?.antenna, isCalibrated: session?.calibrated },
          })
      },
      series: () =>
        seriesOf(
          jobs.results.map((result) => ({ ...determinedOf(result), height: result.height })),
          wish(),
        ),
      correctionFrame: () => parameter('gnss-recvrtcm-frame') as string | undefined,
    })
    return { jobs }
  },

  async start(_ctx, _handoff, { jobs }) {
    await jobs.start()
  },
})

const determinedOf = ({ covariance, epoch, frame, height: height_m, x, y, z }: Result) => ({
  ...{ position: { x, y, z }, covariance, frame, epoch, height_m },
})
