import type { PluginContext } from 'rtk-base/plugin'
import { type FleetDatabase, type FleetEvent, type FleetStation, fleetDatabase } from 'rtk-base/services'
import { StationBudgets } from '../stations/station-budgets.js'
import { transitions } from '../stations/transitions.js'
import { monthly, partsBefore, partsFor, tables } from './tables.js'

const flush_ms = 1_000
const tidy_ms = 3_600_000
/** Entries of the record that wait for the database. */
const mostWaiting = 10_000
/** Any number, the same in every release. */
const partsLock = 7_262_103
/** Held while a station is forgotten or stations are written: what was heard before must not be written after it. */
const forgettingLock = 7_262_104
/** Rows in one statement. */
const rowsAtOnce = 500
/** A document has 20 kB, at most 140 kB. */
const documentsAtOnce = 50
/** After an outage of the broker, every station sends its document: those that come to the leader while so much waits are not stored. */
const mostDocuments_bytes = 300 << 20
/** Former documents of one station in an hour: one that changes its settings every second must not fill the disk. */
const mostFormer = 12
const former_ms = 3_600_000
/**
 * Entries of one station in the record: so many at once, then one in this time. The difference to the last entry waits. A station that
 * changes its state every second would add 100,000 entries a day.
 */
const entryBurst = 60
const entryEvery_s = 30

/** Name, group and labels that people set for a station; they win over what the station says. */
export interface Given {
  readonly name: string
  readonly group: string
  readonly labels: Readonly<Record<string, string>>
}
export interface StoredStation {
  readonly station: FleetStation
  readonly given: Given
}
interface NewDocument {
  /** JSON */
  readonly text: string
  readonly mark: string
  /** When it came. */
  readonly t_s: number
}
/** The registry as the store uses it. */
export interface Known {
  station(serial: string): FleetStation | undefined
  /** The tables are there: reads what is stored. Called again if it failed. */
  begin(): Promise<void>
  /** Nobody has stored the newest document of this station. */
  missed(serial: string): void
}

interface Row {
  readonly serial: string
  readonly name: string
  readonly station_group: string
  readonly labels: Record<string, string>
  readonly station: FleetStation
  readonly document_at: Date | null
  readonly mark: string
}

/**
 * Writes what the leader hears, once a second: the difference between what is stored and what is known now. An instance that
 * becomes the leader reads what is stored first, so that nothing is written twice, and nothing is lost that is still so.
 */
export class StationStore {
  readonly #ctx: PluginContext
  readonly #known: Known
  readonly #retention_days: number
  /** As in the database; undefined: not read since this instance leads. */
  #stored: Map<string, FleetStation> | undefined
  #marks = new Map<string, string>()
  /**
   * The newest document of each station, by every instance: who becomes the leader finds what the last one has not
   * stored.
   */
  readonly #heardMarks = new Map<string, string>()
  readonly #dirty = new Set<string>()
  /** Stations that were heard again after they were forgotten. Another station that the database has as forgotten is not written. */
  readonly #back = new Set<string>()
  readonly #documents = new Map<string, NewDocument>()
  #documents_bytes = 0
  /** Former documents since `from_ms`, monotonic, of the stations that had some lately. */
  readonly #former = new Map<string, { from_ms: number; count: number }>()
  readonly #budgets = new StationBudgets(entryBurst, entryEvery_s)
  #entries: FleetEvent[] = []
  #hasTables = false
  #hasBegun = false
  #isFlushing = false
  /** Monotonic; undefined: not since this instance leads. */
  #tidied_ms: number | undefined
  lost = 0

  constructor(ctx: PluginContext, known: Known, retention_days: number) {
    this.#ctx = ctx
    this.#known = known
    this.#retention_days = retention_days
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  start(): void {
    this.#ctx.on(this.#database.onLeads, () => {
      this.#stored = undefined
      this.#tidied_ms = undefined
      this.#documents.clear()
      this.#documents_bytes = 0
    })
    this.#ctx.timers.every(flush_ms, () => this.flush())
    void this.#database.migrate('fleet-registry', tables).then(() => {
      this.#hasTables = true
      return this.flush()
    })
  }

  async load(): Promise<StoredStation[]> {
    const rows = await this.#database.query<Row>(
      'select serial, name, station_group, labels, station, document_at, mark from fleet_station',
    )
    return rows.map(storedOf)
  }

  async loadOne(serial: string): Promise<StoredStation | undefined> {
    const [row] = await this.#database.query<Row>(
      'select serial, name, station_group, labels, station, document_at, mark from fleet_station where serial = $1',
      [serial],
    )
    return row && storedOf(row)
  }

  changed(serial: string): void {
    this.#dirty.add(serial)
  }

  /** The leader stores it; the others keep only its mark. */
  document(serial: string, document: unknown, mark: string, t_s: number): void {
    this.#heardMarks.set(serial, mark)
    if (!this.#database.leads) return
    const text = JSON.stringify(document)
    const bytes = this.#documents_bytes + text.length - (this.#documents.get(serial)?.text.length ?? 0)
    if (bytes > mostDocuments_bytes) {
      this.lost += 1
      return
    }
    this.#documents_bytes = bytes
    this.#documents.set(serial, { text, mark, t_s })
  }

  /** Serial numbers of forgotten stations. */
  async forgotten(): Promise<string[]> {
    const rows = await this.#database.query<{ serial: string }>('select serial from fleet_forgotten')
    return rows.map(({ serial }) => serial)
  }

  /** @returns false: there is no such station */
  async forget(serial: string): Promise<boolean> {
    return this.#database.transaction(async (query) => {
      await query('select pg_advisory_xact_lock($1)', [forgettingLock])
      const gone = await query('delete from fleet_station where serial = $1 returning serial', [serial])
      if (gone.length > 0)
        await query('insert into fleet_forgotten (serial) values ($1) on conflict do nothing', [serial])
      return gone.length > 0
    })
  }

  /** Nothing of it is kept, by no instance. */
  forgot(serial: string): void {
    this.#back.delete(serial)
    this.#stored?.delete(serial)
    this.#marks.delete(serial)
    this.#heardMarks.delete(serial)
    this.#former.delete(serial)
    this.#documents_bytes -= this.#documents.get(serial)?.text.length ?? 0
    this.#documents.delete(serial)
  }

  /** It is heard again after it was forgotten. */
  heardAgain(serial: string): void {
    this.#back.add(serial)
  }

  /** By every instance, at once if it can. */
  record(event: FleetEvent): void {
    this.#entries.push(event)
    this.#dropOldest()
  }

  #dropOldest(): void {
    const most = Math.max(0, this.#entries.length - mostWaiting)
    this.#entries.splice(0, most)
    this.lost += most
  }

  async flush(): Promise<void> {
    // When the whole service stops, the database may be gone first.
    if (this.#isFlushing || !this.#hasTables || !this.#ctx.services.find(fleetDatabase)?.connected) return
    this.#isFlushing = true
    try {
      if (!this.#hasBegun) await this.#begin()
      await this.#writeEntries()
      if (this.#database.leads) {
        await this.#tidy()
        await this.#writeStations()
        await this.#writeDocuments()
      }
      this.#ctx.errors.while('fleet-store', false)
    } catch (error) {
      // What is stored is not known any more: it is read again.
      this.#stored = undefined
      this.#ctx.errors.while('fleet-store', { reason: (error as Error).message })
      this.#ctx.log.debug({ err: error }, 'the stations cannot be stored: it is tried again every second')
    } finally {
      this.#isFlushing = false
    }
  }

  async #begin(): Promise<void> {
    await this.#makeParts()
    await this.#known.begin()
    this.#hasBegun = true
  }

  async #writeEntries(): Promise<void> {
    while (this.#entries.length > 0) {
      // Others come, and the oldest are dropped, while these are written.
      const part = this.#entries.splice(0, rowsAtOnce)
      try {
        await this.#insert(this.#database.query, part)
      } catch (error) {
        this.#entries.unshift(...part)
        this.#dropOldest()
        throw error
      }
    }
  }

  async #writeStations(): Promise<void> {
    if (!this.#stored) {
      const rows = await this.#database.query<Row>(
        'select serial, name, station_group, labels, station, document_at, mark from fleet_station',
      )
      this.#stored = new Map(rows.map(({ serial, station }) => [serial, station]))
      this.#marks = new Map(rows.map(({ serial, mark }) => [serial, mark]))
      for (const [serial, mark] of this.#heardMarks)
        if (mark !== this.#marks.get(serial) && !this.#documents.has(serial)) this.#known.missed(serial)
    }
    const serials = [...this.#dirty]
    for (let from = 0; from < serials.length; from += rowsAtOnce) {
      await this.#writeSome(serials.slice(from, from + rowsAtOnce), this.#stored)
    }
  }

  async #writeSome(serials: readonly string[], stored: Map<string, FleetStation>): Promise<void> {
    const stations = serials.map((serial) => this.#known.station(serial)).filter((station) => station !== undefined)
    const t_s = Math.floor(this.#ctx.clock.now() / 1000)
    const now_ms = this.#ctx.clock.monotonic()
    const waiting = new Set<string>()
    const events = stations.flatMap((station) => {
      const entries = transitions(stored.get(station.serial), station)
      if (entries.length === 0 || this.#budgets.admits(station.serial, now_ms, entries.length))
        return entries.map((entry) => ({ ...entry, t_s, by: '' }))
      waiting.add(station.serial)
      return []
    })
    const rows = stations.map((station) => ({ serial: station.serial, station }))
    const back = stations.map(({ serial }) => serial).filter((serial) => this.#back.has(serial))
    await this.#database.transaction(async (query) => {
      await query('select pg_advisory_xact_lock($1)', [forgettingLock])
      if (back.length > 0) await query('delete from fleet_forgotten where serial = any($1)', [back])
      await query(
        `insert into fleet_station (serial, station)
         select serial, station from jsonb_to_recordset($1::jsonb) as row (serial text, station jsonb)
         where serial not in (select serial from fleet_forgotten)
         on conflict (serial) do update set station = excluded.station`,
        [JSON.stringify(rows)],
      )
      if (events.length > 0) await this.#insert(query, events)
    })
    for (const serial of back) this.#back.delete(serial)
    for (const station of stations) {
      // Forgotten meanwhile.
      if (this.#known.station(station.serial) === undefined) continue
      // Compared with the last entry again in the next second.
      if (waiting.has(station.serial)) continue
      stored.set(station.serial, station)
      if (this.#known.station(station.serial) === station) this.#dirty.delete(station.serial)
    }
    for (const serial of serials) if (this.#known.station(serial) === undefined) this.#dirty.delete(serial)
  }

  /** After the stations, and for a second at most: documents are large, and states must not wait for them. */
  async #writeDocuments(): Promise<void> {
    const { clock } = this.#ctx
    const until_ms = clock.monotonic() + flush_ms
    while (this.#documents.size > 0 && clock.monotonic() < until_ms) {
      const some = [...this.#documents].slice(0, documentsAtOnce)
      // A station may have been forgotten meanwhile.
      await this.#writeSomeDocuments(some.filter(([serial]) => this.#known.station(serial) !== undefined))
      for (const [serial, given] of some) {
        if (this.#documents.get(serial) !== given) continue
        this.#documents.delete(serial)
        this.#documents_bytes -= given.text.length
      }
    }
  }

  async #writeSomeDocuments(some: readonly [string, NewDocument][]): Promise<void> {
    const [serials, texts] = [some.map(([serial]) => serial), some.map(([, { text }]) => text)]
    const times = some.map(([, { t_s }]) => t_s)
    // Without its mark, a document is the newest but none of the record; a later one with the same settings is.
    const marks = some.map(([serial, { mark }]) => (this.#hasEnough(serial) ? (this.#marks.get(serial) ?? '') : mark))
    const isNew = some.map(([serial], n) => marks[n] !== this.#marks.get(serial))
    await this.#database.transaction(async (query) => {
      await query(
        `update fleet_station set document = row.document, document_at = to_timestamp(row.t_s), mark = row.mark
         from unnest($1::text[], $2::jsonb[], $3::text[], $4::bigint[]) as row (serial, document, mark, t_s)
         where fleet_station.serial = row.serial`,
        [serials, texts, marks, times],
      )
      if (isNew.includes(true))
        await query(
          `insert into fleet_document (t, serial, document)
           select to_timestamp(t_s), serial, document
           from unnest($1::text[], $2::jsonb[], $3::bigint[]) as row (serial, document, t_s)`,
          [serials, texts, times].map((column) => column.filter((_, n) => isNew[n])),
        )
    })
    for (const [n, serial] of serials.entries()) {
      if (isNew[n]) this.#count(serial)
      this.#marks.set(serial, marks[n] ?? '')
    }
  }

  #hasEnough(serial: string): boolean {
    const { from_ms = 0, count = 0 } = this.#former.get(serial) ?? {}
    return count >= mostFormer && this.#ctx.clock.monotonic() - from_ms < former_ms
  }

  #count(serial: string): void {
    const now_ms = this.#ctx.clock.monotonic()
    const known = this.#former.get(serial)
    if (known && now_ms - known.from_ms < former_ms) known.count += 1
    else this.#former.set(serial, { from_ms: now_ms, count: 1 })
  }

  async #insert(query: FleetDatabase['query'], events: readonly FleetEvent[]): Promise<void> {
    await query(
      `insert into fleet_event (t, serial, kind, text, actor)
       select to_timestamp(t_s), serial, kind, text, by
       from jsonb_to_recordset($1::jsonb) as row (t_s bigint, serial text, kind text, text text, by text)`,
      [JSON.stringify(events)],
    )
  }

  #makeParts(): Promise<void> {
    return this.#database.transaction(async (query) => {
      // Of instances that make the same part at the same moment, all but one would fail.
      await query('select pg_advisory_xact_lock($1)', [partsLock])
      for (const sql of partsFor(new Date(this.#ctx.clock.now()))) await query(sql)
    })
  }

  /** Once an hour: makes the parts of the next month, and drops those that are too old. */
  async #tidy(): Promise<void> {
    const now_ms = this.#ctx.clock.monotonic()
    if (this.#tidied_ms !== undefined && now_ms - this.#tidied_ms < tidy_ms) return
    for (const [serial, { from_ms }] of this.#former) if (now_ms - from_ms >= former_ms) this.#former.delete(serial)
    await this.#makeParts()
    // A clock of this instance that is years ahead must not drop the record.
    const oldest = new Date((await this.#database.now_s()) * 1_000 - this.#retention_days * 86_400_000)
    const { query } = this.#database
    const parts = await query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent::regclass::text = any($1)`,
      [[...monthly]],
    )
    for (const name of partsBefore(
      parts.map(({ name: found }) => found),
      oldest,
    ))
      await query(`drop table ${name}`)
    this.#tidied_ms = now_ms
  }
}

const storedOf = ({ name, station_group, labels, station, document_at }: Row): StoredStation => ({
  station: { ...station, document_s: Math.floor((document_at?.getTime() ?? 0) / 1000) },
  given: { name, group: station_group, labels },
})
