import { badValue, type Dispose, type EventSource, guarded, type PluginContext, unavailable } from 'rtk-base/plugin'
import type { FleetDatabase, FleetQuery } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import type { Engine, OpenEngine } from './engine.js'
import { tablesOf, takeOver } from './takeover.js'

/** The connection that listens is asked this often for the lock of the leader, by the leader as well. */
const lead_ms = 5_000
/**
 * A connection that does not answer in this time is given up. With `lead_ms`, a leader that lost its network leads no more before the
 * server frees its lock (25 s).
 */
const answer_ms = 10_000
/** Tables that could not be made are tried again after this time. */
const tablesAgain_ms = 15_000
/** Any number, the same in every release: two instances that start together make the tables one after the other. */
const migrationLock = 7_262_102

type Heard = (payload: string | undefined) => unknown

/** Opens the database that the fleet had before, for owners whose tables are new; undefined: there is none. */
export type OpenFormer = () => Promise<Engine | undefined>

interface Migration {
  readonly owner: string
  readonly steps: readonly string[]
  readonly done: () => void
}

/** The database of the fleet over its connections: opened again with back-off, tables up to date, one instance leads. */
export class Database implements FleetDatabase {
  readonly #ctx: PluginContext
  readonly #open: OpenEngine
  readonly #openFormer: OpenFormer
  readonly #leading: EventSource<boolean>
  readonly #backoff = new Backoff({ first_ms: 500, longest_ms: 15_000, spread: [0.5, 1] })
  readonly #heard = new Map<string, Set<Heard>>()
  #waiting: Migration[] = []
  #engine: Engine | undefined
  /** Ends the present connection. */
  #end: (reason: string) => void = () => {}
  #leads = false
  #isClosed = false
  #isAsking = false
  #isMigrating = false

  constructor(ctx: PluginContext, open: OpenEngine, openFormer: OpenFormer) {
    this.#ctx = ctx
    this.#open = open
    this.#openFormer = openFormer
    this.#leading = ctx.event()
  }

  get connected(): boolean {
    return this.#engine !== undefined
  }

  get leads(): boolean {
    return this.#leads
  }

  get onLeads(): FleetDatabase['onLeads'] {
    return this.#leading.on
  }

  start(): void {
    this.#ctx.timers.every(lead_ms, () => this.#lead())
    void this.#connect()
  }

  async #connect(): Promise<void> {
    let engine: Engine | undefined
    let isOver = false
    /** Once for each connection, however often and from where its end is told. */
    const end = (reason: string) => {
      if (isOver) return
      isOver = true
      if (engine && this.#engine === engine) {
        this.#engine = undefined
        this.#setLeads(false)
      }
      void engine?.close().catch(() => {})
      if (!this.#isClosed) this.#again(reason)
    }
    try {
      engine = await this.#open({
        notified: (channel, payload) => {
          for (const take of this.#heard.get(channel) ?? []) take(payload)
        },
        ended: end,
      })
      if (isOver || this.#isClosed) return await engine.close()
      await engine.transaction(async (query) => {
        await query('select pg_advisory_xact_lock($1)', [migrationLock])
        await query(
          'create table if not exists fleet_migration (owner text, step int, at timestamptz not null default now(), primary key (owner, step))',
        )
      })
      if (isOver) return
      this.#engine = engine
      this.#end = end
      for (const channel of this.#heard.keys()) await engine.listen(channel)
      this.#backoff.reset()
      this.#ctx.errors.while('fleet-database', false)
      this.#ctx.log.info('connected to the database of the fleet')
      await this.#migrateAll()
      await this.#lead()
      // What was said meanwhile was not heard.
      for (const takes of this.#heard.values()) for (const take of takes) take(undefined)
    } catch (error) {
      end((error as Error).message)
    }
  }

  #again(reason: string): void {
    this.#ctx.errors.while('fleet-database', { reason })
    this.#ctx.timers.after(this.#backoff.next(), () => this.#connect())
  }

  readonly query: FleetQuery = (sql, values) => this.#use((engine) => engine.query(sql, values))

  readonly transaction = <T>(work: (query: FleetQuery) => Promise<T>): Promise<T> =>
    this.#use((engine) => engine.transaction(work))

  async #use<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    if (!this.#engine) throw unavailable('the database of the fleet cannot be reached: it is tried again')
    try {
      return await work(this.#engine)
    } catch (error) {
      throw isUnstorable(error)
        ? badValue('a text contains NUL or half of a surrogate pair, which cannot be stored: remove this character')
        : error
    }
  }

  // ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────

  migrate(owner: string, steps: readonly string[]): Promise<void> {
    const finished = new Promise<void>((done) => this.#waiting.push({ owner, steps, done }))
    void this.#migrateAll()
    return finished
  }

  /** Without its tables a plugin cannot work: those that could not be made are tried again. */
  async #migrateAll(): Promise<void> {
    if (!this.#engine || this.#isMigrating) return
    this.#isMigrating = true
    const failed: Migration[] = []
    let reason = ''
    let former: Promise<Engine | undefined> | undefined
    const openFormer = () => {
      former ??= this.#openFormer()
      return former
    }
    // Another plugin may ask while the former database is closed.
    while (this.#waiting.length > 0) {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        try {
          await this.#migrate(next, openFormer)
          next.done()
        } catch (error) {
          failed.push(next)
          reason = (error as Error).message
        }
      }
      await former?.then((engine) => engine?.close()).catch(() => {})
      former = undefined
    }
    this.#isMigrating = false
    this.#waiting.push(...failed)
    if (failed.length === 0) {
      this.#ctx.errors.while('fleet-tables', false)
      return
    }
    // The next connection tries again, and its absence is an error of its own.
    if (!this.#engine) return
    const owners = failed.map(({ owner }) => owner).join(', ')
    this.#ctx.errors.while('fleet-tables', { owners, reason })
    this.#ctx.timers.after(tablesAgain_ms, () => this.#migrateAll())
  }

  async #migrate({ owner, steps }: Migration, openFormer: OpenFormer): Promise<void> {
    // After a crash it opens in minutes: a transaction that waits for it would be ended by the server.
    const isNew = (await stepsOf(this.query, owner)).size === 0
    const former = isNew ? await openFormer() : undefined
    await this.transaction(async (query) => {
      await query('select pg_advisory_xact_lock($1)', [migrationLock])
      const done = await stepsOf(query, owner)
      const before = done.size === 0 ? new Set((await tablesOf(query)).map(({ name }) => name)) : undefined
      if (Math.max(-1, ...done) >= steps.length)
        this.#ctx.log.warn({ owner }, 'the database was made by a newer version: its additional tables are left alone')
      for (const [step, sql] of steps.entries()) {
        if (done.has(step)) continue
        for (const statement of sql.split(/;\s*\n/).filter((part) => part.trim() !== '')) await query(statement)
        await query('insert into fleet_migration (owner, step) values ($1, $2)', [owner, step])
      }
      // Not those that another instance has made meanwhile.
      if (!before || !former) return
      const formerSteps = await stepsOf(former.query, owner)
      if (formerSteps.size === 0) return
      if (formerSteps.size !== steps.length)
        throw new Error(
          `the embedded database has the tables of ${owner} of another version: start this version once without a database address`,
        )
      const made = (await tablesOf(query)).filter(({ name }) => !before.has(name))
      const rows = await takeOver(former, query, made)
      this.#ctx.log.info({ owner, rows }, 'the database takes over what the embedded database has')
    })
  }

  // ── what instances tell each other ────────────────────────────────────────────────────────────────────────────────

  listen(channel: string, take: Heard): Dispose {
    const own = guarded(take)
    const takes = this.#heard.get(channel) ?? new Set()
    const isNew = takes.size === 0
    takes.add(own)
    this.#heard.set(channel, takes)
    const end = this.#end
    if (isNew) void this.#engine?.listen(channel).catch((error: Error) => end(error.message))
    return () => {
      takes.delete(own)
      if (takes.size > 0) return
      this.#heard.delete(channel)
      void this.#engine?.unlisten(channel).catch(() => {})
    }
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query('select pg_notify($1, $2)', [channel, payload])
  }

  async now_s(): Promise<number> {
    const [row] = await this.query<{ now_s: number }>('select extract(epoch from now())::float8 as now_s')
    return row?.now_s ?? 0
  }

  // ── the leader ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The answer also proves that the connection that listens still exists: a network may drop it without telling anybody. */
  async #lead(): Promise<void> {
    const [engine, end] = [this.#engine, this.#end]
    if (!engine || this.#isAsking) return
    this.#isAsking = true
    const late = this.#ctx.timers.after(answer_ms, () => end('the database does not answer'))
    try {
      // A connection that ended meanwhile has lost the lock.
      if ((await engine.lead()) && this.#engine === engine) this.#setLeads(true)
    } catch (error) {
      end((error as Error).message)
    } finally {
      void late()
      this.#isAsking = false
    }
  }

  #setLeads(leads: boolean): void {
    if (this.#leads === leads) return
    this.#leads = leads
    this.#leading.emit(leads)
  }

  async stop(): Promise<void> {
    this.#isClosed = true
    const engine = this.#engine
    this.#engine = undefined
    this.#setLeads(false)
    await engine?.close().catch(() => {})
  }
}

async function stepsOf(query: FleetQuery, owner: string): Promise<Set<number>> {
  const rows = await query<{ step: number }>('select step from fleet_migration where owner = $1', [owner])
  return new Set(rows.map(({ step }) => step))
}

/**
 * Texts from people that PostgreSQL does not take, by its error codes (PostgreSQL documentation, appendix A): NUL in a text
 * (`character_not_in_repertoire`), and NUL or half of a surrogate pair in JSON (`untranslatable_character`, `invalid_text_representation`).
 */
const isUnstorable = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return code === '22021' || code === '22P05' || (code === '22P02' && /type json/.test(message))
}
