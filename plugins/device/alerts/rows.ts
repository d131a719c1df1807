/** The state of the alerts of a fleet, as rows of its database: all instances read them, the one that leads writes differences. */
import type { FleetDatabase } from 'rtk-base/services'
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { StoredNotice } from './channels/outbox.js'
import { Batch, Overflow, SentTimes } from './rules/batches.js'
import { type Acknowledgement, type AlertFilter, Entry } from './rules/ledger.js'
import { batchBy, entryBy, noticeBy, type State } from './state.js'

/**
 * An alert has the columns by which it is found. What waits to be told is kept by its kind: notices, batches and the like.
 * Times in a value are monotonic ones before `at`, which is by the clock of the database.
 */
export const tables = [
  `create table alerts_entry (
     key text collate "C" primary key,
     since bigint not null,
     serial text not null,
     kind text not null,
     severity text not null,
     acknowledged jsonb,
     value jsonb not null,
     at timestamptz not null default now());
   create index alerts_entry_since on alerts_entry (since desc, key);
   create index alerts_entry_serial on alerts_entry (serial, since desc, key);
   create index alerts_entry_kind on alerts_entry (kind, since desc, key);
   create index alerts_entry_severity on alerts_entry (severity, since desc, key);
   create table alerts_kept (
     part text not null,
     name text not null,
     value jsonb not null,
     at timestamptz not null default now(),
     primary key (part, name))`,
]
export const acknowledgedChannel = 'alerts_acknowledged'

const age = 'extract(epoch from now() - at)::float8 as age_s'
const entryColumns = `value, acknowledged, ${age}`

interface EntryRow {
  readonly value: unknown
  readonly acknowledged: Acknowledgement | null
  readonly age_s: number
}

type Part = 'notice' | 'batch' | 'overflow' | 'sent'
interface KeptRow {
  readonly part: Part
  readonly name: string
  readonly value: unknown
  readonly age_s: number
}

/** What a row was made of. A row whose content is not known for sure has another object. */
type Written<T extends object> = Map<string, T | typeof unsure>
const unsure = {}

/** Made of `source`; its value is made only if that differs. */
interface Kept {
  readonly part: Part
  readonly name: string
  readonly source: object
  value(): object
}

export class AlertRows {
  readonly #database: FleetDatabase
  #entries: Written<Entry> = new Map()
  #kept: Written<object> = new Map()

  constructor(database: FleetDatabase) {
    this.#database = database
  }

  /** All rows, for an instance that begins to lead. @param monotonic_ms of this service @param damaged a row has another form */
  async load(monotonic_ms: number, damaged: () => void): Promise<State> {
    const { query } = this.#database
    const entryRows = await query<EntryRow & { key: string }>(`select key, ${entryColumns} from alerts_entry`)
    const keptRows = await query<KeptRow>(`select part, name, value, ${age} from alerts_kept`)
    const entries: Entry[] = []
    this.#entries = new Map()
    for (const row of entryRows) {
      const entry = entryOf(row, monotonic_ms)
      this.#entries.set(row.key, entry ?? unsure)
      if (entry) entries.push(entry)
      else damaged()
    }
    // Their values have times of another service: all of them are written again.
    this.#kept = new Map(keptRows.map(({ part, name }) => [`${part} ${name}`, unsure]))
    const ofPart = <S extends TSchema>(part: Part, schema: S) =>
      keptRows.flatMap(({ value, age_s, ...row }) => {
        if (row.part !== part) return []
        if (Value.Check(schema, value)) return [{ value: value as Static<S>, by_ms: monotonic_ms - 1_000 * age_s }]
        damaged()
        return []
      })
    const [overflow] = ofPart('overflow', Overflow)
    const sent = ofPart('sent', SentTimes).flatMap(({ value, by_ms }) => value.sent_ms.map((ms) => ms + by_ms))
    return {
      entries,
      notices: noticesOf(keptRows, monotonic_ms),
      batches: {
        batches: ofPart('batch', Batch).map(({ value, by_ms }) => batchBy(value, by_ms)),
        sent_ms: sent,
        ...(overflow && { overflow: batchBy(overflow.value, overflow.by_ms) }),
      },
    }
  }

  /** Stores what differs from the rows, in one transaction. */
  async save({ entries, notices, batches }: State, monotonic_ms: number): Promise<void> {
    const { overflow, sent_ms } = batches
    const newest = new Map(entries.map((entry) => [entry.alert.key, entry]))
    const kept = new Map(
      [
        ...notices.map((one) => keptOf('notice', one.id, one, () => noticeBy(one, -monotonic_ms))),
        ...batches.batches.map((one) => {
          const { what, kind, severity, group } = one
          return keptOf('batch', `${what} ${kind} ${severity} ${group}`, one, () => batchBy(one, -monotonic_ms))
        }),
        ...(overflow ? [keptOf('overflow', '', overflow, () => batchBy(overflow, -monotonic_ms))] : []),
        ...(sent_ms.length > 0
          ? [keptOf('sent', '', sent_ms, () => ({ sent_ms: sent_ms.map((ms) => ms - monotonic_ms) }))]
          : []),
      ].map((one) => [`${one.part} ${one.name}`, one]),
    )
    const sources = new Map([...kept].map(([name, { source }]) => [name, source]))
    const ofEntries = differences(this.#entries, newest)
    const ofKept = differences(this.#kept, sources)
    if ([ofEntries, ofKept].every(({ put, gone }) => put.length === 0 && gone.length === 0)) return
    try {
      await this.#database.transaction(async (query) => {
        await query('delete from alerts_entry where key = any($1)', [ofEntries.gone])
        await query(
          `insert into alerts_entry as known (key, since, serial, kind, severity, acknowledged, value)
           select key, since, serial, kind, severity, acknowledged, value from jsonb_to_recordset($1::jsonb)
             as row (key text, since bigint, serial text, kind text, severity text, acknowledged jsonb, keeps boolean, value jsonb)
           on conflict (key) do update set since = excluded.since, serial = excluded.serial, kind = excluded.kind,
             severity = excluded.severity, value = excluded.value, at = now(),
             acknowledged = case when known.key = any($2) then known.acknowledged else excluded.acknowledged end`,
          [
            JSON.stringify(ofEntries.put.flatMap((key) => rowOf(newest.get(key), monotonic_ms))),
            // Another instance may have acknowledged it meanwhile.
            ofEntries.put.filter((key) => {
              const before = this.#entries.get(key)
              return before !== undefined && acknowledgedOf(before) === acknowledgedOf(newest.get(key))
            }),
          ],
        )
        await query(`delete from alerts_kept where part || ' ' || name = any($1)`, [ofKept.gone])
        await query(
          `insert into alerts_kept (part, name, value)
           select part, name, value from jsonb_to_recordset($1::jsonb) as row (part text, name text, value jsonb)
           on conflict (part, name) do update set value = excluded.value, at = now()`,
          [JSON.stringify(ofKept.put.map((name) => storedOf(kept.get(name))))],
        )
      })
    } catch (error) {
      // It may have been stored all the same.
      for (const key of [...ofEntries.put, ...ofEntries.gone]) this.#entries.set(key, unsure)
      for (const name of [...ofKept.put, ...ofKept.gone]) this.#kept.set(name, unsure)
      throw error
    }
    this.#entries = newest
    this.#kept = sources
  }

  /** A page of alerts, the newest first: as many rows are read as it has. */
  async page({ serial, kind, severity, before, most }: AlertFilter, monotonic_ms: number): Promise<Entry[]> {
    const values: unknown[] = [most]
    const bind = (value: unknown) => `$${values.push(value)}`
    const conditions = Object.entries({ serial, kind, severity }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} = ${bind(value)}`],
    )
    if (before) {
      const since = bind(before.since_s)
      conditions.push(`(since < ${since} or (since = ${since} and key > ${bind(before.key)}))`, `since <= ${since}`)
    }
    const rows = await this.#database.query<EntryRow>(
      `select ${entryColumns} from alerts_entry ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
       order by since desc, key limit $1`,
      values,
    )
    return rows.flatMap((row) => entryOf(row, monotonic_ms) ?? [])
  }

  /** The oldest first. */
  async notices(monotonic_ms: number): Promise<StoredNotice[]> {
    const rows = await this.#database.query<KeptRow>(
      `select part, name, value, ${age} from alerts_kept where part = 'notice'`,
    )
    return noticesOf(rows, monotonic_ms)
  }

  /** The instance that leads is told of it. @returns false: there is no such alert */
  async acknowledge(key: string, acknowledged: Acknowledgement): Promise<boolean> {
    const rows = await this.#database.query('update alerts_entry set acknowledged = $2 where key = $1 returning key', [
      key,
      JSON.stringify(acknowledged),
    ])
    if (rows.length > 0) await this.#database.notify(acknowledgedChannel, key)
    return rows.length > 0
  }

  async acknowledged(key: string): Promise<Acknowledgement | undefined> {
    const [row] = await this.#database.query<Pick<EntryRow, 'acknowledged'>>(
      'select acknowledged from alerts_entry where key = $1',
      [key],
    )
    return row?.acknowledged ?? undefined
  }
}

/** Objects never change, so one that is another object is another state. */
function differences<T extends object>(before: Written<T>, now: ReadonlyMap<string, T>) {
  return {
    put: [...now].flatMap(([name, one]) => (before.get(name) === one ? [] : [name])),
    gone: [...before.keys()].filter((name) => !now.has(name)),
  }
}

const acknowledgedOf = (entry: Entry | typeof unsure | undefined): Acknowledgement | undefined =>
  entry && 'acknowledged' in entry ? entry.acknowledged : undefined

const keptOf = (part: Part, name: string, source: object, value: Kept['value']): Kept => ({ part, name, source, value })

const storedOf = (kept: Kept | undefined) => kept && { part: kept.part, name: kept.name, value: kept.value() }

function rowOf(entry: Entry | undefined, monotonic_ms: number): object[] {
  if (!entry) return []
  const { acknowledged = null, ...value } = entryBy(entry, -monotonic_ms)
  const { key, serial, kind, severity, since_s } = entry.alert
  return [{ key, since: since_s, serial, kind, severity, acknowledged, value }]
}

function entryOf({ value, acknowledged, age_s }: EntryRow, monotonic_ms: number): Entry | undefined {
  const entry = { ...(value as object), ...(acknowledged && { acknowledged }) }
  return Value.Check(Entry, entry) ? entryBy(entry, monotonic_ms - 1_000 * age_s) : undefined
}

const noticesOf = (rows: readonly KeptRow[], monotonic_ms: number): StoredNotice[] =>
  rows
    .flatMap(({ part, value, age_s }) =>
      part === 'notice' && Value.Check(StoredNotice, value) ? [noticeBy(value, monotonic_ms - 1_000 * age_s)] : [],
    )
    .sort((one, other) => one.made_ms - other.made_ms)
