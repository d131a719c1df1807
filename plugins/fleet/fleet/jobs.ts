import { randomBytes } from 'node:crypto'
import { guarded, type PluginContext } from 'rtk-base/plugin'
import type { FleetDatabase, FleetJobKind, FleetJobs, FleetQuery, JobEnd, NewJob } from 'rtk-base/services'
import { waitAfter_ms } from 'rtk-base/time'

const owner = 'fleet-jobs'
const channel = 'fleet_job'
const look_ms = 5_000
/** The end of a job that could not be stored is tried again after this time, as long as the job is leased. */
const endAgain_ms = 5_000
const rowsAtOnce = 5_000

export const tables = [
  `create table fleet_job (
     kind text not null,
     key text not null,
     run_at timestamptz not null,
     place bigint not null default 0,
     urgent boolean not null default false,
     tries int not null default 0,
     locked_until timestamptz not null default 'epoch',
     locked_by text not null default '',
     primary key (kind, key));
   create index fleet_job_due on fleet_job (kind, run_at)`,
]

/** What is to be done is in the database, and the instances share it: each takes as much as it can work at. */
export class Jobs implements FleetJobs {
  readonly #ctx: PluginContext
  readonly #database: FleetDatabase
  readonly #workers = new Map<string, JobWorker>()

  constructor(ctx: PluginContext, database: FleetDatabase) {
    this.#ctx = ctx
    this.#database = database
  }

  start(): void {
    void this.#database.migrate(owner, tables).then(() => {
      this.#ctx.timers.every(look_ms, () => {
        for (const worker of this.#workers.values()) void worker.look()
      })
    })
    this.#ctx.defer(this.#database.listen(channel, (kind) => kind && this.#workers.get(kind)?.look()))
  }

  async put(kind: string, jobs: readonly NewJob[], query: FleetQuery = this.#database.query): Promise<void> {
    for (let at = 0; at < jobs.length; at += rowsAtOnce)
      await query(
        `insert into fleet_job (kind, key, place, run_at)
         select $1, key, coalesce(place, 0), now() + make_interval(secs => coalesce(after_s, 0))
         from jsonb_to_recordset($2::jsonb) as row (key text, place bigint, after_s float8)
         on conflict (kind, key) do update set run_at = excluded.run_at, place = excluded.place, tries = 0,
           locked_until = 'epoch', locked_by = ''`,
        [kind, JSON.stringify(jobs.slice(at, at + rowsAtOnce))],
      )
    if (jobs.some(({ after_s = 0 }) => after_s === 0)) await query('select pg_notify($1, $2)', [channel, kind])
  }

  async drop(kind: string, keys: readonly string[], query: FleetQuery = this.#database.query): Promise<void> {
    await query('delete from fleet_job where kind = $1 and key = any($2)', [kind, [...keys]])
  }

  async prefer(kind: string, keys: readonly string[]): Promise<void> {
    await this.#database.query(
      'update fleet_job set urgent = not urgent where kind = $1 and urgent <> (key = any($2))',
      [kind, [...keys]],
    )
  }

  async waiting(kind: string): Promise<{ count: number; behind_s: number }> {
    const [row] = await this.#database.query<{ count: number; behind_s: number | null }>(
      `select count(*)::int as count,
         extract(epoch from now() - min(run_at) filter (where locked_until <= now()))::float8 as behind_s
       from fleet_job where kind = $1`,
      [kind],
    )
    return { count: row?.count ?? 0, behind_s: Math.max(0, row?.behind_s ?? 0) }
  }

  work(kind: string, options: FleetJobKind): () => Promise<void> {
    const worker = new JobWorker(this.#ctx, this.#database, kind, options)
    this.#workers.set(kind, worker)
    return () => {
      if (this.#workers.get(kind) === worker) this.#workers.delete(kind)
      return worker.stop()
    }
  }
}

type Claimed = { readonly key: string; readonly tries: number }

/** One kind of jobs on this instance. */
class JobWorker {
  readonly #ctx: PluginContext
  readonly #database: FleetDatabase
  readonly #kind: string
  readonly #options: FleetJobKind
  readonly #begin: (job: Claimed, end: JobEnd, done: (error?: unknown) => void) => void
  /** Of this run: a lease of an earlier one ends by itself. */
  readonly #by = randomBytes(9).toString('base64url')
  readonly #running = new Set<string>()
  #isLooking = false
  #isStopped = false
  /** More may be due than this instance had room for. */
  #hasMore = false

  constructor(ctx: PluginContext, database: FleetDatabase, kind: string, options: FleetJobKind) {
    this.#ctx = ctx
    this.#database = database
    this.#kind = kind
    this.#options = options
    // It may take an hour: only its begin is a call of the other plugin that is waited for.
    this.#begin = guarded((job: Claimed, end: JobEnd, done: (error?: unknown) => void) => {
      options.run(job, end).then(() => done(), done)
    })
  }

  async look(): Promise<void> {
    if (this.#isLooking || this.#isStopped || !this.#database.connected || this.#options.mayBegin?.() === false) return
    this.#isLooking = true
    try {
      const room = this.#options.atOnce - this.#running.size
      const claimed = room > 0 ? await this.#claim(room) : []
      this.#hasMore = claimed.length === room
      // They were claimed after the others were released.
      if (this.#isStopped) await this.#release()
      else for (const job of claimed) this.#run(job)
    } catch (error) {
      this.#ctx.log.warn({ err: error, kind: this.#kind }, 'jobs of the fleet cannot be read: it is tried again in 5 s')
    } finally {
      this.#isLooking = false
    }
  }

  /**
   * The oldest hour first, and in it those whose places are near each other. What runs here is not begun beside itself: its lease may have
   * ended, or it was put again. What this worker has claimed and does not run is a claim whose answer was lost with the connection.
   */
  #claim(most: number): Promise<Claimed[]> {
    return this.#database.query<Claimed>(
      `update fleet_job as job set locked_by = $1, locked_until = now() + make_interval(secs => $4), tries = job.tries + 1
       from (select kind, key from fleet_job where kind = $2 and run_at <= now() and (locked_until <= now() or locked_by = $1) and key <> all($5)
             order by urgent desc, date_trunc('hour', run_at), place, key limit $3 for update skip locked) as due
       where job.kind = due.kind and job.key = due.key returning job.key, job.tries`,
      [this.#by, this.#kind, most, this.#options.lease_s, [...this.#running]],
    )
  }

  #run(job: Claimed): void {
    this.#running.add(job.key)
    const until_ms = this.#ctx.clock.monotonic() + 1_000 * this.#options.lease_s
    let isEnded = false
    const end: JobEnd = async (again_s, store) => {
      isEnded = true
      try {
        return await this.#end(job, until_ms, { again_s, isDone: true }, store)
      } catch (error) {
        isEnded = false
        throw error
      }
    }
    this.#begin(job, end, async (error) => {
      if (error !== undefined && !this.#isStopped)
        this.#ctx.log.warn({ err: error, kind: this.#kind, job: job.key }, 'a job of the fleet failed')
      if (!isEnded) await this.#end(job, until_ms, { again_s: this.#nextTry_s(job), isDone: false })
      this.#running.delete(job.key)
      if (this.#hasMore) void this.look()
    })
  }

  /** @returns undefined: it is given up */
  #nextTry_s({ tries }: Claimed): number | undefined {
    const { tries: most = Number.POSITIVE_INFINITY, waits = { first_ms: 15_000, longest_ms: 900_000 } } = this.#options
    return tries < most ? waitAfter_ms(tries, waits) / 1_000 : undefined
  }

  /** Tried again while the database is away; at least once, as long as no other instance took the job. @throws what the database refuses */
  async #end(
    { key }: Claimed,
    until_ms: number,
    { again_s, isDone }: { again_s: number | undefined; isDone: boolean },
    store?: (query: FleetQuery) => Promise<unknown>,
  ): Promise<boolean> {
    const own = 'kind = $1 and key = $2 and locked_by = $3'
    const values = [this.#kind, key, this.#by]
    while (!this.#isStopped) {
      try {
        return await this.#database.transaction(async (query) => {
          const rows =
            again_s === undefined
              ? await query(`delete from fleet_job where ${own} returning key`, values)
              : await query(
                  `update fleet_job set run_at = now() + make_interval(secs => $4), tries = case when $5 then 0 else tries end,
                     locked_by = '', locked_until = 'epoch' where ${own} returning key`,
                  [...values, again_s, isDone],
                )
          if (rows.length > 0) await store?.(query)
          return rows.length > 0
        })
      } catch (error) {
        if (isRefused(error)) throw error
        if (this.#ctx.clock.monotonic() >= until_ms) break
        this.#ctx.log.debug({ err: error, kind: this.#kind, job: key }, 'the end of a job is stored in 5 s')
        await new Promise<void>((resolve) => this.#ctx.timers.after(endAgain_ms, resolve))
      }
    }
    return false
  }

  /** Another instance may take the jobs at once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#release()
  }

  async #release(): Promise<void> {
    // Otherwise the leases end by themselves.
    if (!this.#database.connected) return
    await this.#database
      .query(
        `update fleet_job set locked_by = '', locked_until = 'epoch', tries = greatest(0, tries - 1)
         where kind = $1 and locked_by = $2`,
        [this.#kind, this.#by],
      )
      .catch(() => {})
  }
}

/**
 * The statement itself is wrong, or its values, so that it is refused each time: data exception, integrity constraint violation, syntax
 * error or access rule violation (PostgreSQL documentation, appendix A), and texts that cannot be stored.
 */
const isRefused = (error: unknown): boolean =>
  /^(22|23|42)|^RTK_ERR_COMMAND_VALUE$/.test(String((error as { code?: unknown }).code))
