/** Proof of delivery by base and day: epochs expected, published, relayed, acknowledged. */
import { Mutex } from 'async-mutex'
import type { FleetDatabase } from 'rtk-base/services'

export const counts = ['expected', 'published', 'refused', 'relayed', 'acknowledged'] as const
export type Counts = Record<(typeof counts)[number], number>
const none = (): Counts => ({ expected: 0, published: 0, refused: 0, relayed: 0, acknowledged: 0 })

/** A longer gap is not one of lost epochs: nobody had subscribed, or the station was off. */
const longestGap_ms = 3_600_000
/** Bases in one answer: a fleet has at most 100,000 stations. */
const mostRead = 100_000

export const deliverySteps: readonly string[] = [
  `create table fleet_caster_delivery (
     day text not null,
     serial text not null,
     ${counts.map((name) => `${name} bigint not null default 0`).join(',\n     ')},
     primary key (day, serial));
   create table fleet_caster_signer (serial text primary key, sequence bigint not null)`,
]

const day_ms = 86_400_000
let newest = { start_ms: Number.NaN, text: '' }

/** `YYYY-MM-DD` in UTC; mostly the same as the last one. */
export function dayOf(utc_ms: number): string {
  if (!(utc_ms >= newest.start_ms && utc_ms < newest.start_ms + day_ms)) {
    const start_ms = Math.floor(utc_ms / day_ms) * day_ms
    newest = { start_ms, text: new Date(start_ms).toISOString().slice(0, 10) }
  }
  return newest.text
}

/** Counts of one base since they were last stored. */
export class BaseDelivery {
  readonly #add: (day: string, name: keyof Counts, value: number) => void
  #last_ms: number | undefined
  #interval_ms = Number.POSITIVE_INFINITY

  constructor(add: (day: string, name: keyof Counts, value: number) => void) {
    this.#add = add
  }

  /** @param epoch_ms UTC of its observations @param rate_s as the station says, 0 if it does not: then the shortest interval seen counts */
  published(epoch_ms: number, rate_s: number): void {
    const day = dayOf(epoch_ms)
    const gap_ms = this.#last_ms === undefined ? 0 : epoch_ms - this.#last_ms
    this.#last_ms = epoch_ms
    if (gap_ms > 0) this.#interval_ms = Math.min(this.#interval_ms, gap_ms)
    const interval_ms = rate_s > 0 ? rate_s * 1_000 : this.#interval_ms
    const expected = gap_ms > 0 && gap_ms < longestGap_ms ? Math.max(1, Math.round(gap_ms / interval_ms)) : 1
    this.#add(day, 'expected', expected)
    this.#add(day, 'published', 1)
  }

  refused(utc_ms: number): void {
    this.#add(dayOf(utc_ms), 'refused', 1)
  }

  relayed(utc_ms: number): void {
    this.#add(dayOf(utc_ms), 'relayed', 1)
  }

  acknowledged(epochs: number, utc_ms: number): void {
    this.#add(dayOf(utc_ms), 'acknowledged', epochs)
  }

  /** Nobody listens from here on: the epochs until the next one are not lost. */
  paused(): void {
    this.#last_ms = undefined
  }
}

/**
 * The counts of all bases of this instance. They are added to those in the database, so that instances need not know each other: an epoch
 * that two instances relay counts twice in each column.
 */
export class Delivery {
  readonly #database: () => FleetDatabase
  /** `day serial` → counts that are not stored yet. */
  #waiting = new Map<string, Counts>()
  /** Counts being stored are neither waiting nor surely in the database: a read would miss them, or count them twice. */
  readonly #turn = new Mutex()

  constructor(database: () => FleetDatabase) {
    this.#database = database
  }

  of(serial: string): BaseDelivery {
    return new BaseDelivery((day, name, value) => (this.#counts(`${day} ${serial}`)[name] += value))
  }

  #counts(key: string): Counts {
    const found = this.#waiting.get(key) ?? none()
    this.#waiting.set(key, found)
    return found
  }

  /** Stores what came since the last call; on an error it waits for the next one. */
  store(): Promise<void> {
    return this.#turn.runExclusive(() => this.#store())
  }

  async #store(): Promise<void> {
    const waiting = this.#waiting
    if (waiting.size === 0) return
    this.#waiting = new Map()
    const rows = [...waiting]
    const split = rows.map(([key]) => key.split(' ') as [string, string])
    const columns = [
      split.map(([day]) => day),
      split.map(([, serial]) => serial),
      ...counts.map((name) => rows.map(([, values]) => values[name])),
    ]
    try {
      await this.#database().query(
        `insert into fleet_caster_delivery as old (day, serial, ${counts.join(', ')})
         select * from unnest($1::text[], $2::text[], ${counts.map((_, index) => `$${index + 3}::bigint[]`).join(', ')})
         on conflict (day, serial) do update set ${counts.map((name) => `${name} = old.${name} + excluded.${name}`).join(', ')}`,
        columns,
      )
    } catch (error) {
      for (const [key, values] of rows) {
        const now = this.#counts(key)
        for (const name of counts) now[name] += values[name]
      }
      throw error
    }
  }

  /**
   * The counts of one day, by base, with those of this instance that are not stored yet. @param only one base;
   * undefined: all
   */
  read(day: string, only?: string): Promise<({ serial: string } & Counts)[]> {
    return this.#turn.runExclusive(() => this.#read(day, only))
  }

  async #read(day: string, only?: string): Promise<({ serial: string } & Counts)[]> {
    const rows = await this.#database().query<{ serial: string } & Counts>(
      `select serial, ${counts.join(', ')} from fleet_caster_delivery
       where day = $1 and ($2::text is null or serial = $2) order by serial limit ${mostRead}`,
      [day, only ?? null],
    )
    const found = new Map(rows.map(({ serial, ...values }) => [serial, numbers(values)]))
    for (const [key, values] of this.#waiting) {
      const [of, serial] = key.split(' ') as [string, string]
      if (of !== day || (only !== undefined && serial !== only)) continue
      const sum = found.get(serial) ?? none()
      for (const name of counts) sum[name] += values[name]
      found.set(serial, sum)
    }
    return [...found].map(([serial, values]) => ({ serial, ...values }))
  }

  /** Rows of days before this one are deleted. */
  async forget(day: string): Promise<void> {
    await this.#database().query('delete from fleet_caster_delivery where day < $1', [day])
  }
}

/** Databases give large integers as numbers, or as bigint. */
const numbers = (values: Counts): Counts =>
  Object.fromEntries(counts.map((name) => [name, Number(values[name])])) as Counts
