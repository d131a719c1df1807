import { type EventSource, type PluginContext, unavailable } from 'rtk-base/plugin'
import {
  type Fleet,
  type FleetBroker,
  type FleetDatabase,
  type FleetEvent,
  type FleetMessage,
  type FleetStation,
  fleetBroker,
  fleetDatabase,
} from 'rtk-base/services'
import { type Given, StationStore, type StoredStation } from '../store/station-store.js'
import {
  documentMark,
  type Facts,
  parseObject,
  readDocument,
  readState,
  storable,
  verdictOf,
  withoutSecrets,
} from './reading.js'
import { Requests } from './requests.js'
import { StationBudgets } from './station-budgets.js'
import { isSameStation } from './transitions.js'

const channel = 'fleet_station'
const look_ms = 10_000
/** A station without the topic `state` is asked for its document this often, and any other one this often. */
const asked_s = { document: 600, state: 3_600 } as const
/** A verdict from a document is worth nothing after this time. */
const trusted_s = 1_500
/** Requests for documents in one look: the answers of ten thousand stations at once would be 200 MB. */
const mostAsked = 100
/** A station whose verdict changes all the time is asked for the reason at most this often. */
const askedAgain_s = 10
/** Documents of one station: so many at once, then one a second. To read one of 140 kB takes milliseconds. */
const documentBurst = 20
/** A station is told about in the record at most once in this time for things that are refused. */
const refusedAgain_ms = 3_600_000
const mostRefused = 1_000
/** Of an entry of the record. */
const mostText = 1_000

const serialPattern = /^[A-Za-z0-9_-]{1,64}$/
const statuses: Readonly<Record<string, FleetStation['online']>> = {
  y: 'online',
  r: 'offline',
  q: 'offline',
  L: 'offline',
}

const unheard: Omit<FleetStation, 'serial' | 'firstSeen_s' | 'seen_s'> = {
  name: '',
  group: '',
  labels: {},
  online: 'unknown',
  onlineSince_s: 0,
  verdict: 'unknown',
  cause: 'not-heard',
  why: '',
  verdictSince_s: 0,
  source: 'none',
  arp: undefined,
  place: undefined,
  reference: '',
  version: '',
  variant: '',
  rtcm: { signed: false, rate_s: 1 },
  rovers: 0,
  uplink: '',
  certificateUntil_s: 0,
  update: { state: '', failed: false },
  errors: [],
  document_s: 0,
}

/** Every station that was ever heard, as it is now. Each instance has the whole picture, the leader stores it. */
export class Registry implements Fleet {
  readonly #ctx: PluginContext
  readonly #most: number
  readonly #all = new Map<string, FleetStation>()
  readonly #given = new Map<string, Given>()
  /** Names that stations give themselves. */
  readonly #ownNames = new Map<string, string>()
  readonly #forgotten = new Set<string>()
  readonly #changed: EventSource<{
    serial: string
    station: FleetStation | undefined
    before: FleetStation | undefined
  }>
  readonly #recorded: EventSource<FleetEvent>
  readonly #store: StationStore
  readonly #requests: Requests
  readonly #asked = new Map<string, number>()
  readonly #refused = new Map<string, number>()
  readonly #documents = new StationBudgets(documentBurst, 1)
  /** Stations whose verdict is not explained, and that could not be asked yet. */
  readonly #unexplained = new Set<string>()
  /** For explanations since the last look. */
  #explained = 0
  #next = 0
  ignored = 0

  constructor(ctx: PluginContext, { most, retention_days }: { most: number; retention_days: number }) {
    this.#ctx = ctx
    this.#most = most
    this.#changed = ctx.event()
    this.#recorded = ctx.event()
    this.#store = new StationStore(ctx, (serial) => this.#all.get(serial), retention_days)
    this.#requests = new Requests(ctx)
  }

  get #broker(): FleetBroker {
    return this.#ctx.services.use(fleetBroker)
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  start(): void {
    const { log, timers } = this.#ctx
    const topics: Readonly<Record<string, (message: FleetMessage) => void>> = {
      'base/+/online': (message) => this.#heardOnline(message),
      'base/+/state': (message) => this.#heardState(message),
      'base/+/info': (message) => this.#heardDocument(message),
    }
    for (const [topic, take] of Object.entries(topics)) this.#ctx.defer(this.#broker.subscribe(topic, take))
    this.#requests.start()
    this.#store
      .start((stations) => this.#load(stations))
      .then(async () => {
        for (const serial of await this.#store.forgotten()) this.#forget(serial)
        this.#ctx.defer(this.#database.listen(channel, (serial) => this.#givenChanged(serial)))
      })
      .catch((error: Error) => log.error({ err: error }, 'the stations cannot be read from the database'))
    timers.every(look_ms, () => this.#look())
  }

  stop(): Promise<void> {
    return this.#store.flush()
  }

  // ── what stations say ─────────────────────────────────────────────────────────────────────────────────────────────

  #heardOnline(message: FleetMessage): void {
    const { serial, payload } = message
    const online = statuses[payload.toString('latin1').slice(0, 2)]
    if (online === undefined) {
      this.#refuse(serial, 'its message on `online` is none of y, r, q and L')
      return
    }
    this.#heard(message, (station) => ({
      online,
      ...(station.online !== online && { onlineSince_s: this.#now_s() }),
    }))
  }

  #heardState(message: FleetMessage): void {
    const { serial, payload } = message
    if (payload.length === 0) return
    const facts = readState(payload)
    if (!facts) {
      this.#refuse(serial, 'its message on `state` cannot be read')
      return
    }
    // A node of a cluster may keep an older state than the others after an outage.
    const known = this.#all.get(serial)
    if (message.retained && known && isOlder({ ...facts, source: 'state' }, known)) return
    this.#heard(message, (station) => ({
      ...facts,
      why: facts.cause === station.cause ? station.why : '',
      // Without a clock the station does not know since when.
      ...(!facts.verdictSince_s && { verdictSince_s: sinceOf(station, facts, this.#now_s()) }),
    }))
    // The document explains the verdict.
    const station = this.#all.get(serial)
    if (station && isUnexplained(station) && this.#database.leads) this.#askWhy(serial)
  }

  /** At once if possible. The states of all stations come after an outage of the broker, and must not cause all documents. */
  #askWhy(serial: string): void {
    const isRecent = this.#now_s() - (this.#asked.get(serial) ?? 0) < askedAgain_s
    if (isRecent || this.#explained >= mostAsked) {
      this.#unexplained.add(serial)
      return
    }
    this.#explained += 1
    this.ask(serial)
  }

  #heardDocument(message: FleetMessage): void {
    const { serial, payload, retained } = message
    if (retained) return
    if (!this.#documents.admits(serial, this.#ctx.clock.monotonic())) {
      this.#refuse(serial, `it sent more than ${documentBurst} documents at once: further ones are ignored`)
      return
    }
    const document = parseObject(payload)
    if (!document) {
      this.#refuse(serial, 'its document is not a JSON object')
      return
    }
    const named = (document.esp as { serial?: unknown } | undefined)?.serial
    if (typeof named === 'string' && named !== serial) {
      this.#refuse(serial, `its document says that it is ${named.replace(/\p{Cc}/gu, ' ').slice(0, 64)}`)
      return
    }
    const clean = withoutSecrets(document) as Record<string, unknown>
    const { name = '', arp, place, why = '', ...facts } = readDocument(clean)
    const isKnown = this.#heard(message, (station) => {
      this.#ownNames.set(serial, name)
      const hasState = station.source === 'state'
      const own = hasState ? { ...(isOwnVerdict(clean, station) && { why }) } : verdictOf(clean)
      return {
        ...facts,
        ...own,
        // The topic `state` has the position as announced, the document as it was determined.
        ...(!hasState && { source: 'document', arp, place, verdictSince_s: sinceOf(station, own, this.#now_s()) }),
        document_s: this.#now_s(),
      }
    })
    if (isKnown) this.#store.document(serial, clean, documentMark(clean))
  }

  /** @returns false: not a station that is kept */
  #heard({ serial, retained }: FleetMessage, facts: (station: FleetStation) => Facts): boolean {
    if (!serialPattern.test(serial)) {
      this.ignored += 1
      return false
    }
    if (this.#forgotten.size > 0) {
      if (retained && this.#forgotten.has(serial)) return false
      this.#forgotten.delete(serial)
    }
    const now_s = this.#now_s()
    const before = this.#all.get(serial)
    if (!before && this.#all.size >= this.#most) {
      this.ignored += 1
      this.#ctx.errors.raise('fleet-full', {
        text: `the fleet has ${this.#most} stations: further ones are ignored`,
        advice: 'forget stations that are gone, or raise fleet-registry.most',
        values: { most: this.#most },
      })
      return false
    }
    const station: FleetStation = before ?? { ...unheard, serial, firstSeen_s: now_s, seen_s: now_s }
    this.#put({ ...station, ...facts(station), seen_s: now_s }, before)
    return true
  }

  #put(next: FleetStation, before: FleetStation | undefined): void {
    const { serial } = next
    const given = this.#given.get(serial)
    const named: FleetStation = {
      ...next,
      name: given?.name || this.#ownNames.get(serial) || '',
      group: given?.group ?? '',
      labels: given?.labels ?? {},
    }
    this.#all.set(serial, named)
    if (before && isSameStation(before, named)) return
    this.#store.changed(serial)
    this.#changed.emit({ serial, station: named, before })
  }

  /** Something that a station must not do, or cannot mean: counted, and in the record once an hour. */
  #refuse(serial: string, what: string): void {
    this.ignored += 1
    const now_ms = this.#ctx.clock.monotonic()
    const last_ms = this.#refused.get(serial)
    if (!this.#all.has(serial) || (last_ms !== undefined && now_ms - last_ms < refusedAgain_ms)) return
    this.#refused.delete(serial)
    this.#refused.set(serial, now_ms)
    if (this.#refused.size > mostRefused) this.#refused.delete(this.#refused.keys().next().value as string)
    if (this.#database.leads) this.record({ serial, kind: 'refused', text: what, by: '' })
  }

  // ── what people set ───────────────────────────────────────────────────────────────────────────────────────────────

  #load(stations: readonly StoredStation[]): void {
    for (const { station, given } of stations) {
      const { serial } = station
      this.#given.set(serial, given)
      if (given.name === '' && !this.#ownNames.has(serial)) this.#ownNames.set(serial, station.name)
      // A stored `online` may be of any age.
      const stored: FleetStation = { ...unheard, ...station, online: 'unknown' }
      const known = this.#all.get(serial)
      if (known) this.#put({ ...stored, ...heardIn(known, station), firstSeen_s: station.firstSeen_s }, known)
      else this.#all.set(serial, stored)
    }
  }

  async #givenChanged(serial: string | undefined): Promise<void> {
    if (serial === undefined) {
      for (const { station, given } of await this.#store.load()) this.#give(station.serial, given)
      return
    }
    const stored = await this.#store.loadOne(serial)
    if (stored) {
      this.#give(serial, stored.given)
      return
    }
    this.#forget(serial)
  }

  #forget(serial: string): void {
    const before = this.#all.get(serial)
    this.#forgotten.add(serial)
    this.#all.delete(serial)
    this.#given.delete(serial)
    this.#asked.delete(serial)
    this.#ctx.errors.clear('fleet-full')
    if (before) this.#changed.emit({ serial, station: undefined, before })
  }

  #give(serial: string, given: Given): void {
    this.#given.set(serial, given)
    const station = this.#all.get(serial)
    if (station) this.#put(station, station)
  }

  /** @returns false: there is no such station */
  async name(serial: string, given: Partial<Given>): Promise<boolean> {
    const changed = await this.#database.query(
      `update fleet_station set name = coalesce($2, name), station_group = coalesce($3, station_group),
         labels = coalesce($4::jsonb, labels) where serial = $1 returning serial`,
      [serial, given.name ?? null, given.group ?? null, given.labels ? JSON.stringify(given.labels) : null],
    )
    if (changed.length > 0) await this.#database.notify(channel, serial)
    return changed.length > 0
  }

  /** A station that is heard again is there again; what the broker kept of it does not count. @returns false: there is no such station */
  async forget(serial: string): Promise<boolean> {
    const isGone = await this.#store.forget(serial)
    if (isGone) await this.#database.notify(channel, serial)
    return isGone
  }

  // ── regularly ─────────────────────────────────────────────────────────────────────────────────────────────────────

  #look(): void {
    const now_s = this.#now_s()
    for (const station of this.#all.values()) {
      if (station.source !== 'document' || station.verdict === 'unknown' || now_s - station.document_s < trusted_s)
        continue
      this.#put({ ...station, verdict: 'unknown', cause: 'silent', why: 'its document is too old' }, station)
    }
    this.#explained = 0
    if (!this.#database.leads || !this.#broker.connected) return
    this.#askUnexplained()
    this.#askSome(now_s)
  }

  #askUnexplained(): void {
    for (const serial of this.#unexplained) {
      if (this.#explained >= mostAsked) return
      this.#unexplained.delete(serial)
      const station = this.#all.get(serial)
      if (!station || !isUnexplained(station)) continue
      this.#explained += 1
      this.ask(serial)
    }
  }

  /** Goes around all stations, some in each look. */
  #askSome(now_s: number): void {
    const all = [...this.#all.values()]
    const next = all.length === 0 ? 0 : this.#next % all.length
    let asked = 0
    for (const [looked, station] of [...all.slice(next), ...all.slice(0, next)].entries()) {
      const wanted_s = asked_s[station.source === 'state' ? 'state' : 'document']
      const age_s = now_s - Math.max(station.document_s, this.#asked.get(station.serial) ?? 0)
      if (station.online !== 'online' || age_s < wanted_s) continue
      this.ask(station.serial)
      asked += 1
      this.#next = next + looked + 1
      if (asked >= mostAsked) return
    }
  }

  #now_s(): number {
    return Math.floor(this.#ctx.clock.now() / 1000)
  }

  // ── the service ───────────────────────────────────────────────────────────────────────────────────────────────────

  stations(): IterableIterator<FleetStation> {
    return this.#all.values()
  }

  get size(): number {
    return this.#all.size
  }

  station(serial: string): FleetStation | undefined {
    return this.#all.get(serial)
  }

  /** `verdict online` → how many. */
  get counts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { verdict, online } of this.#all.values()) {
      const key = `${verdict} ${online}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return counts
  }

  get onStation(): Fleet['onStation'] {
    return this.#changed.on
  }

  get onRecord(): Fleet['onRecord'] {
    return this.#recorded.on
  }

  ask(serial: string): void {
    this.#asked.set(serial, this.#now_s())
    this.#broker.publish(`base/${serial}/info/get`, '')
  }

  async change(serial: string, values: Readonly<Record<string, unknown>>, by: string) {
    this.#demandOnline(serial)
    const answer = await this.#requests.change(serial, values)
    const names = Object.keys(values).join(', ').slice(0, 300)
    this.record({ serial, kind: 'change', text: `${names}: ${answer.result}`, by })
    this.ask(serial)
    return answer
  }

  async command(serial: string, text: string, by: string): Promise<string> {
    this.#demandOnline(serial)
    const answer = await this.#requests.command(serial, text)
    this.record({ serial, kind: 'command', text: `${text}: ${answer || 'sent'}`.slice(0, 500), by })
    return answer
  }

  #demandOnline(serial: string): void {
    const station = this.#all.get(serial)
    if (!station) throw unavailable(`the fleet does not know a station ${serial}`)
    if (station.online !== 'online') throw unavailable(`${serial} is ${station.online}: try again when it is online`)
  }

  async document(serial: string): Promise<Record<string, unknown> | undefined> {
    const [row] = await this.#database.query<{ document: Record<string, unknown> | null }>(
      'select document from fleet_station where serial = $1',
      [serial],
    )
    return row?.document ?? undefined
  }

  record(event: Omit<FleetEvent, 't_s'>): void {
    const stamped = { t_s: this.#now_s(), ...event, text: storable(event.text.slice(0, mostText)) }
    this.#store.record(stamped)
    this.#recorded.emit(stamped)
  }
}

/** What the topic `state` says. */
const ofState = ['verdict', 'cause', 'why', 'verdictSince_s', 'source', 'arp', 'place', 'reference', 'version']

/** Both come from the topic `state`, by a clock that is set, and the one is of an earlier time. */
const isOlder = (one: Facts, other: Facts): boolean =>
  one.source === 'state' &&
  other.source === 'state' &&
  (one.verdictSince_s ?? 0) > 0 &&
  (one.verdictSince_s ?? 0) < (other.verdictSince_s ?? 0)

/** What was heard of a station since the start, unless it is older than what is stored: whatever differs from one that was never heard. */
const heardIn = (station: FleetStation, stored: FleetStation): Partial<FleetStation> => {
  const skipped = isOlder(station, stored) ? ofState : []
  return Object.fromEntries(
    Object.entries(station).filter(
      ([name, value]) => value !== (unheard as Readonly<Record<string, unknown>>)[name] && !skipped.includes(name),
    ),
  )
}

const isUnexplained = ({ why, cause }: FleetStation): boolean => why === '' && cause !== 'ok'

const sinceOf = (station: FleetStation, { verdict, cause }: Facts, now_s: number): number =>
  station.verdict === verdict && station.cause === cause ? station.verdictSince_s : now_s

/** The document explains the verdict that the station has now. */
const isOwnVerdict = (document: Record<string, unknown>, { cause }: FleetStation): boolean =>
  verdictOf(document).cause === cause
