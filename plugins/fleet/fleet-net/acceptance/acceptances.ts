import { inSteps } from 'rtk-base/baseline'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type Ecef, type FleetDatabase, fleet, fleetDatabase, fleetJobs } from 'rtk-base/services'
import { probableCause, rangedOf } from '../judgement/cause.js'
import { referenceOf } from '../judgement/reference.js'
import { judgeRegions } from '../judgement/regions.js'
import { unjudged } from '../judgement/step.js'
import { announcedVectors, isAnnounced, netVectors, pause } from '../judgement/vectors.js'
import type { Settings } from '../options.js'
import { keyOf, pairJob } from '../pairs/pair-store.js'
import * as store from '../store/store.js'
import { type Evidence, evidenceOf } from './evidence.js'
import { type Outcome, outcomeOf } from './outcome.js'

const look_ms = 60_000
/** Acceptance tests in one answer. */
export const mostListed = 200
const mostRunning = 10

export interface Acceptance {
  readonly id: number
  readonly serial: string
  readonly begun_s: number
  readonly until_s: number
  /** 0: it runs. */
  readonly ended_s: number
  readonly by: string
  /** The position under test, ECEF metres. */
  readonly arp: Ecef
  /** The version of the station at the start. */
  readonly version: string
  readonly outcome: Outcome | 'running' | 'cancelled'
  readonly reason: string
  readonly evidence: Evidence | undefined
}

interface Row {
  readonly id: number
  readonly serial: string
  readonly begun: Date
  readonly until: Date
  readonly ended: Date | null
  readonly actor: string
  readonly arp: number[]
  readonly version: string
  readonly outcome: Acceptance['outcome']
  readonly reason: string
  /** Undefined: it was not asked for. */
  readonly evidence?: Evidence | null
}

const summaryColumns = 'id, serial, begun, until, ended, actor, arp, version, outcome, reason'
const columns = `${summaryColumns}, evidence`
const seconds = (t: Date | null) => Math.floor((t?.getTime() ?? 0) / 1_000)
const acceptanceOf = (row: Row): Acceptance => ({
  ...{ id: Number(row.id), serial: row.serial, version: row.version, outcome: row.outcome, reason: row.reason },
  ...{ begun_s: seconds(row.begun), until_s: seconds(row.until), ended_s: seconds(row.ended), by: row.actor },
  arp: store.ecefOf(row.arp),
  evidence: row.evidence ?? undefined,
})

export const missing = (id: number) => new RtkError('RTK_ERR_NOT_FOUND', `there is no acceptance test ${id}`)

/** Acceptance tests of stations. All that is known of one is in the database, and the leading instance decides it. */
export class Acceptances {
  readonly #ctx: PluginContext
  readonly #every_s: number
  #isWorking = false

  constructor(ctx: PluginContext, { every_min, window_min }: Pick<Settings, 'every_min' | 'window_min'>) {
    this.#ctx = ctx
    this.#every_s = 60 * Math.max(every_min, window_min)
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  /** The tables are there. */
  start(): void {
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  /** @throws RTK_ERR_NOT_FOUND, RTK_ERR_CONFLICT */
  async begin(serial: string, hours: number, by: string): Promise<Acceptance> {
    const station = this.#ctx.services.use(fleet).station(serial)
    if (!station) throw new RtkError('RTK_ERR_NOT_FOUND', `the fleet does not know a station ${serial}`)
    if (!station.arp)
      throw new RtkError('RTK_ERR_CONFLICT', `${serial} announces no position yet: enter or survey its position first`)
    const [row] = await this.#database.query<Row>(
      `insert into fleet_net_acceptance (serial, begun, until, actor, arp, version)
       select $1::text, now(), now() + make_interval(hours => $2), $3, $4, $5
       where not exists (select 1 from fleet_net_acceptance where serial = $1::text and outcome = 'running')
         and (select count(*) from fleet_net_acceptance where outcome = 'running') < ${mostRunning}
       on conflict (serial) where outcome = 'running' do nothing
       returning ${columns}`,
      [serial, hours, by, store.listOf(station.arp), station.version],
    )
    if (!row)
      throw new RtkError(
        'RTK_ERR_CONFLICT',
        `a test of ${serial} is running, or ${mostRunning} tests of others: wait for its end, or cancel it`,
      )
    this.#record(serial, `acceptance test begun: ${hours} h`, by)
    return acceptanceOf(row)
  }

  /** @throws RTK_ERR_NOT_FOUND, RTK_ERR_CONFLICT */
  async cancel(id: number, by: string): Promise<Acceptance> {
    const [row] = await this.#database.query<Row>(
      `update fleet_net_acceptance set outcome = 'cancelled', reason = $2, ended = now()
       where id = $1 and outcome = 'running' returning ${columns}`,
      [id, `cancelled by ${by}`],
    )
    if (row) {
      this.#record(row.serial, 'acceptance test cancelled', by)
      return acceptanceOf(row)
    }
    if (await this.one(id)) throw new RtkError('RTK_ERR_CONFLICT', `the acceptance test ${id} has ended already`)
    throw missing(id)
  }

  /** The newest first, without evidence. @param before only those with a lower id; 0: all @param serial of one station; undefined: of all */
  async list({ before, serial }: { before: number; serial: string | undefined }): Promise<Acceptance[]> {
    const rows = await this.#database.query<Row>(
      `select ${summaryColumns} from fleet_net_acceptance
       where ($1::bigint = 0 or id < $1) ${serial === undefined ? '' : 'and serial = $2'} order by id desc limit ${mostListed}`,
      serial === undefined ? [before] : [before, serial],
    )
    return rows.map(acceptanceOf)
  }

  /** With the evidence until now, if it runs. */
  async one(id: number): Promise<Acceptance | undefined> {
    const [row] = await this.#database.query<Row>(`select ${columns} from fleet_net_acceptance where id = $1`, [id])
    const found = row && acceptanceOf(row)
    if (found?.outcome !== 'running') return found
    return { ...found, evidence: (await this.#examine(found)).evidence }
  }

  #record(serial: string, text: string, by: string): void {
    this.#ctx.services.use(fleet).record({ serial, kind: 'position', text: text.slice(0, 300), by })
  }

  async #look(): Promise<void> {
    if (this.#isWorking || !this.#database.connected || !this.#database.leads) return
    this.#isWorking = true
    try {
      const rows = await this.#database.query<Row>(
        `select ${columns} from fleet_net_acceptance where outcome = 'running'`,
      )
      for (const row of rows) await this.#step(acceptanceOf(row))
      const running = rows.map(({ serial }) => serial)
      const pairs =
        running.length === 0
          ? []
          : await this.#database.query<store.Pair>(
              'select one, other from fleet_net_pair where one = any($1) or other = any($1)',
              [running],
            )
      await this.#ctx.services.use(fleetJobs).prefer(pairJob, pairs.map(keyOf))
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'acceptance tests could not be read or stored: it is tried again in a minute')
    } finally {
      this.#isWorking = false
    }
  }

  async #step(test: Acceptance): Promise<void> {
    const { id, serial, arp, until_s } = test
    const isSame = isAnnounced(this.#ctx.services.use(fleet).station(serial), arp)
    if (isSame && (await this.#database.now_s()) < until_s) return
    const { evidence, outcome, reason } = await this.#examine(test)
    const moved = 'the station announces another position, or none: begin a new test'
    const decided = isSame ? { outcome, reason } : { outcome: 'undecided' as const, reason: moved }
    const rows = await this.#database.query(
      `update fleet_net_acceptance set outcome = $2, reason = $3, evidence = $4, ended = now()
       where id = $1 and outcome = 'running' returning id`,
      [id, decided.outcome, decided.reason, JSON.stringify(evidence)],
    )
    if (rows.length === 0) return
    const cause = decided.outcome === 'rejected' ? `: ${evidence.cause}` : ''
    this.#record(serial, `acceptance test ${decided.outcome}: ${decided.reason}${cause}`, '')
  }

  /** By the vectors of its time, of the station and of its neighbours among each other. */
  async #examine({ serial, arp, begun_s, until_s }: Acceptance) {
    const known = this.#ctx.services.use(fleet)
    const vectorsOf = (of: readonly string[]) => store.vectorsSince(this.#database, { since_s: begun_s, of }, pause)
    const announced = (some: readonly store.StoredVector[]) =>
      inSteps(
        announcedVectors(some, (one) => known.station(one)),
        pause,
      )
    const own = await vectorsOf([serial])
    const around = [...new Set(own.flatMap(({ one, other }) => [one, other]))]
    const all = around.length > 0 ? await vectorsOf(around) : []
    const { bases, vectors } = await inSteps(netVectors(await announced(all)), pause)
    const judged = await judgeRegions(bases, vectors, pause)
    const judgement = judged.get(serial) ?? unjudged
    const valid = await announced(own)
    const reference = referenceOf(await known.document(serial), arp)
    const wrong = new Set([...judged].filter(([, { state }]) => state === 'contradicts').map(([one]) => one))
    const facts = { serial, arp, judgement, reference }
    const ranged = await inSteps(rangedOf(all), pause)
    const cause = wrong.has(serial)
      ? probableCause({ ...facts, ranged, wrong, now_ms: this.#ctx.clock.now() }).text
      : ''
    const evidence = evidenceOf({ ...facts, vectors: valid, judged, cause, begun_s, every_s: this.#every_s })
    return { evidence, ...outcomeOf(evidence, judgement, Math.round((until_s - begun_s) / 3_600)) }
  }
}
