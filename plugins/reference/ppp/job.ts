import { createHash } from 'node:crypto'
import { frameNames } from 'rtk-base/gnss'
import { type PluginContext, RtkError, Undelivered } from 'rtk-base/plugin'
import { device, rawData } from 'rtk-base/services'
import { iso, waitAfter_ms } from 'rtk-base/time'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { blocked_ms, type Csrs } from './csrs.js'
import type { Covariance, Determined } from './determined.js'
import { readSum } from './sum.js'

const hour_ms = 3_600_000
/** Waits after failures: the service asks its users to be polite. */
const waits = { first_ms: 300_000, longest_ms: 6 * hour_ms }
const mostRetries = 7
const mostBlocked = 4
const poll_ms = 30_000
const look_ms = 10_000
/** The service has rapid orbits of a day so long after its end. */
const rapidOrbits_ms = 18 * hour_ms
/** A job of the service takes minutes; one that takes a day is lost. */
const longest_ms = 24 * hour_ms
/** Two submissions are at least so far apart. */
const between_ms = hour_ms
const shortest_s = 3_600
const day_ms = 24 * hour_ms
const longestSpan_ms = day_ms + 60_000
/** Ten years of months. */
const mostResults = 120

const Session = Type.Object({
  from: Type.Integer({ description: 'UTC milliseconds' }),
  to: Type.Integer({ description: 'UTC milliseconds' }),
  epochs: Type.Integer(),
  missing: Type.Integer({ description: 'Epochs that are missing between the first and the last' }),
  antenna: Type.String({ description: 'IGS code in the header, empty: unknown' }),
  calibrated: Type.Optional(
    Type.Boolean({ description: 'The table of antennas has this antenna. Absent: there was no table' }),
  ),
  height: Type.Number({ description: 'Antenna reference point above the marker, metres' }),
  rinex: Type.String({ description: 'Name of the submitted file' }),
  sha256: Type.String({ description: 'Digest of the submitted file' }),
})
export type Session = Static<typeof Session>

export const Job = Type.Object({
  state: Type.Enum(['converting', 'submitting', 'waiting', 'failed'], {
    description: 'failed: it has ended. There is no job while none was asked for, and after a result',
  }),
  from: Type.Integer({ description: 'UTC milliseconds' }),
  to: Type.Integer({ description: 'UTC milliseconds' }),
  text: Type.String({ description: 'What went wrong last, for people; empty: nothing' }),
  next: Type.Integer({ description: 'UTC milliseconds of the next step' }),
  since: Type.Integer({ description: 'UTC milliseconds of the submission, 0: not yet' }),
  tries: Type.Integer(),
  key: Type.String({ description: 'Key of the service, empty: none yet' }),
  session: Type.Optional(Session),
})
export type Job = Static<typeof Job>

export const Result = Type.Object({
  id: Type.Integer(),
  t: Type.Integer({ description: 'UTC seconds: when it came' }),
  source: Type.String({ description: '`csrs-ppp`, or `import`' }),
  key: Type.String(),
  x: Type.Number({ description: 'Position of the marker, metres' }),
  y: Type.Number(),
  z: Type.Number(),
  // An array: tuples of TypeBox are not the ones of OpenAPI 3.1.
  covariance: Type.Unsafe<Covariance>(
    Type.Array(Type.Number(), {
      minItems: 6,
      maxItems: 6,
      description: 'xx, xy, xz, yy, yz and zz, square metres',
    }),
  ),
  frame: Type.Enum([...frameNames]),
  epoch: Type.Number({ description: 'Decimal year' }),
  height: Type.Number({ description: 'Antenna reference point above the marker, metres' }),
  product: Type.Optional(Type.String({ description: 'Orbits: `final`, `rapid` or `ultra-rapid`' })),
  session: Type.Optional(Session),
})
export type Result = Static<typeof Result>

/** Notes of the archive that make a position of their time worthless. */
const worthless = new Set(['moved', 'antenna-open', 'antenna-short'])

const refused = (text: string) => new RtkError('RTK_ERR_UNAVAILABLE', text)

export interface JobDeps {
  readonly ctx: PluginContext
  readonly service: Csrs
  readonly account: () => string
  /** A session is submitted by itself so often; undefined: never. */
  readonly repeat_ms: () => number | undefined
}

/**
 * One job at a time, from the recorded data to the result. Its state is durable at each step: after a restart it continues where it was, and
 * a file that may have been submitted is not submitted again within the hour.
 */
export class PppJobs {
  readonly #deps: JobDeps
  #job: Job | undefined
  #results: Result[] = []
  #submittedAt_ms = 0
  #isWorking = false
  /** The day of a repeat, so that there is one attempt a day. */
  #triedDay = 0

  constructor(deps: JobDeps) {
    this.#deps = deps
  }

  async start(): Promise<void> {
    const { ctx } = this.#deps
    const job = await ctx.store.get('job')
    const results = await ctx.store.get('results')
    const submittedAt_ms = await ctx.store.get('submittedAt')
    if (Value.Check(Job, job)) this.#job = job
    if (Array.isArray(results)) this.#results = results.filter((one): one is Result => Value.Check(Result, one))
    if (typeof submittedAt_ms === 'number') this.#submittedAt_ms = submittedAt_ms
    ctx.timers.every(look_ms, () => this.#look())
  }

  get job(): Job | undefined {
    return this.#job
  }

  /** Newest first. */
  get results(): readonly Result[] {
    return this.#results
  }

  /** @throws RTK_ERR_UNAVAILABLE with the reason */
  async begin(from_ms: number, to_ms: number): Promise<void> {
    const { account, ctx } = this.#deps
    if (account() === '') throw refused('no account: set ppp-account to the e-mail address of your account at CSRS-PPP')
    if (this.#job && this.#job.state !== 'failed')
      throw refused('another job is in progress: wait for it, or cancel it')
    const raw = ctx.services.find(rawData)
    if (!raw) throw refused('no raw data is recorded: the plugin raw is missing')
    if (!(to_ms - from_ms <= longestSpan_ms)) throw refused('a session may last 24 h at most')
    const bad = (await raw.notes(from_ms, to_ms)).find(({ what }) => worthless.has(what))
    if (bad) throw refused(`the session has '${bad.what}' at ${iso(bad.t)}: its position would be worthless`)
    await this.#keep({ state: 'converting', from: from_ms, to: to_ms, text: '', next: 0, since: 0, tries: 0, key: '' })
  }

  async cancel(): Promise<void> {
    await this.#keep(undefined)
  }

  /** A position that was determined elsewhere. */
  async add(found: Determined, source: string, height: number, job?: Job): Promise<Result> {
    const { ctx } = this.#deps
    const { covariance, epoch, frame, position, product } = found
    const result: Result = {
      id: (this.#results[0]?.id ?? 0) + 1,
      t: Math.floor(ctx.services.use(device).utc_ms() / 1000),
      ...{ source, key: job?.key ?? '', ...position, covariance: [...covariance], frame, epoch, height },
      ...(product !== undefined && { product }),
      ...(job?.session && { session: job.session }),
    }
    this.#results = [result, ...this.#results].slice(0, mostResults)
    await ctx.store.batch({ results: this.#results, ...(job && { job: undefined }) })
    if (job) this.#job = undefined
    return result
  }

  async remove(id: number): Promise<boolean> {
    const kept = this.#results.filter((one) => one.id !== id)
    if (kept.length === this.#results.length) return false
    this.#results = kept
    await this.#deps.ctx.store.set('results', kept)
    return true
  }

  async #keep(job: Job | undefined): Promise<void> {
    await this.#deps.ctx.store.set('job', job)
    this.#job = job
  }

  #now_ms(): number {
    return this.#deps.ctx.services.use(device).utc_ms()
  }

  #look(): void {
    const job = this.#job
    const now_ms = this.#now_ms()
    if (now_ms === 0 || this.#isWorking) return
    if (!job || job.state === 'failed') {
      this.#repeat(now_ms)
      return
    }
    if (now_ms < job.next) return
    this.#isWorking = true
    void this.#step(job, now_ms)
      .catch((error: Error) => this.#failed(job, error))
      .catch((error: Error) => this.#deps.ctx.log.warn({ err: error }, 'the state of the PPP job is not stored'))
      .finally(() => {
        this.#isWorking = false
      })
  }

  /**
   * Submits the previous day when the newest result is old enough. A day that cannot be used, or that failed, is passed over: the next one may
   * be better.
   */
  #repeat(now_ms: number): void {
    const repeat_ms = this.#deps.repeat_ms()
    const day = Math.floor(now_ms / day_ms)
    const isEarly = now_ms - day * day_ms < rapidOrbits_ms
    if (repeat_ms === undefined || this.#deps.account() === '' || isEarly || day === this.#triedDay) return
    const newest_ms = Math.max(0, ...this.#results.map(({ t }) => t * 1000))
    // A clock that was far ahead once does not end the repeats.
    if (newest_ms <= now_ms && now_ms - newest_ms < repeat_ms - day_ms / 2) return
    this.#triedDay = day
    this.begin((day - 1) * day_ms, day * day_ms).catch((error: Error) =>
      this.#deps.ctx.log.info(`no PPP session of yesterday: ${error.message}`),
    )
  }

  async #step(job: Job, now_ms: number): Promise<void> {
    if (job.state === 'waiting') return this.#poll(job, now_ms)
    const { account, ctx, service } = this.#deps
    // Also a submission of which a power cut hid the answer.
    const wait_ms = this.#submittedAt_ms + between_ms - now_ms
    if (wait_ms > 0 && wait_ms <= between_ms) {
      return this.#keep({ ...job, next: now_ms + wait_ms, text: 'the last submission was less than an hour ago' })
    }
    const rinex = await ctx.services.use(rawData).rinex(job.from, job.to, 'csrs-ppp')
    if (this.#job !== job) return
    if (!rinex || rinex.span_s < shortest_s) throw new Undelivered('refused', 'less than an hour was recorded')
    if (rinex.missing > rinex.epochs) throw new Undelivered('refused', 'more than half of the observations are missing')
    const session: Session = {
      ...{ from: job.from, to: job.to, epochs: rinex.epochs, missing: rinex.missing, antenna: rinex.antenna },
      ...(rinex.isCalibrated !== undefined && { calibrated: rinex.isCalibrated }),
      ...{ height: rinex.antennaHeight_m, rinex: rinex.name },
      sha256: createHash('sha256').update(rinex.bytes).digest('hex'),
    }
    const submitting: Job = { ...job, state: 'submitting', session, text: '' }
    await ctx.store.batch({ job: submitting, submittedAt: now_ms })
    this.#job = submitting
    this.#submittedAt_ms = now_ms
    const key = await service.submit(account(), rinex.name, rinex.bytes)
    if (this.#job !== submitting) return
    await this.#keep({ ...submitting, state: 'waiting', key, tries: 0, since: now_ms, next: now_ms + poll_ms })
  }

  async #poll(job: Job, now_ms: number): Promise<void> {
    const { service } = this.#deps
    const status = await service.status(job.key)
    if (this.#job !== job) return
    if (status === 'error') throw new Undelivered('refused', 'the service could not process the file')
    if (status === 'processing') {
      if (now_ms - job.since > longest_ms) throw new Undelivered('refused', 'the service has not finished within a day')
      return this.#keep({ ...job, tries: 0, text: '', next: now_ms + poll_ms })
    }
    const found = readSum(await service.report(job.key))
    if (this.#job !== job) return
    if (typeof found === 'string')
      throw new Undelivered('refused', `the report of the service cannot be used: ${found}`)
    const height = job.session?.height ?? 0
    if (found.height_m !== undefined && Math.abs(found.height_m - height) > 0.001) {
      throw new Undelivered('refused', `the service used an antenna height of ${found.height_m} m, not ${height} m`)
    }
    await this.add(found, 'csrs-ppp', height, job)
  }

  async #failed(before: Job, error: Error): Promise<void> {
    const job = this.#job
    if (!job || job.from !== before.from) return
    const { wait_ms: asked_ms, why } = error instanceof Undelivered ? error : { wait_ms: 0, why: 'later' }
    const wait_ms = waitAfter_ms(job.tries + 1, waits, asked_ms)
    const isBlocked = asked_ms >= blocked_ms
    if (why === 'refused' || job.tries >= mostRetries || (isBlocked && job.tries >= mostBlocked)) {
      return this.#keep({ ...job, state: 'failed', text: error.message })
    }
    const state = job.state === 'submitting' ? 'converting' : job.state
    await this.#keep({ ...job, state, tries: job.tries + 1, text: error.message, next: this.#now_ms() + wait_ms })
  }
}
