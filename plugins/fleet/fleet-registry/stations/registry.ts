import { type EventSource, type PluginContext, unavailable } from 'rtk-base/plugin'
import { type StationSettings, serialPattern } from 'rtk-base/schemas'
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
import { Asking } from './asking.js'
import { PublishedSettings } from './published-settings.js'
import { documentMark, type Facts, parseObject, readDocument, readState, storable, withoutSecrets } from './reading.js'
import { entryOfCommand, Requests } from './requests.js'
import { SignsOfLife } from './signs-of-life.js'
import { StationBudgets } from './station-budgets.js'
import { isSameStation } from './transitions.js'
import {
  decided,
  heardIn,
  isOlder,
  isOwnVerdict,
  isPossible,
  isUnexplained,
  isWorse,
  sinceOf,
  unheard,
  type Verdict,
  verdictIn,
} from './verdicts.js'

const channel = 'fleet_station'
const look_ms = 10_000
/** A verdict from a document is worth nothing after this time. */
const trusted_s = 1_500
/** Documents of one station: so many at once, then one a second. To read one of 140 kB takes milliseconds. */
const documentBurst = 20
/** A repeated trouble of a station is recorded once in this time. */
const troubleEvery_s = 3_600
/** The longest text of an entry of the record. */
const mostText = 1_000

const pattern = new RegExp(serialPattern)
/** The name of the fleet itself at its broker. */
const ownName = 'fleet'
const namesake = {
  ...{ serial: '', kind: 'refused', by: '' },
  text: 'a station calls itself fleet, the name of the fleet at the broker: give it another serial number and certificate',
}
const statuses: Readonly<Record<string, FleetStation['online']>> = {
  y: 'online',
  r: 'offline',
  q: 'offline',
  L: 'offline',
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
  readonly #settings: PublishedSettings
  readonly #life: SignsOfLife
  readonly #asking: Asking
  /** Verdicts that the broker has kept of silent stations, or two of one station: its next document decides. */
  readonly #doubted = new Map<string, Verdict>()
  readonly #troubles = new StationBudgets(1, troubleEvery_s)
  readonly #documents = new StationBudgets(documentBurst, 1)
  ignored = 0

  constructor(ctx: PluginContext, { most, retention_days }: { most: number; retention_days: number }) {
    this.#ctx = ctx
    this.#most = most
    this.#changed = ctx.event()
    this.#recorded = ctx.event()
    const known = {
      station: (serial: string) => this.#all.get(serial),
      begin: () => this.#begin(),
      missed: (serial: string) => this.#asking.missed(serial),
    }
    this.#store = new StationStore(ctx, known, retention_days)
    this.#requests = new Requests(ctx)
    this.#settings = new PublishedSettings(ctx)
    this.#life = new SignsOfLife(ctx)
    this.#asking = new Asking(ctx, this.#life, (serial) => this.#broker.publish(`base/${serial}/info/get`, ''))
  }

  get #broker(): FleetBroker {
    return this.#ctx.services.use(fleetBroker)
  }

  get #database(): FleetDatabase {
    return this.#ctx.services.use(fleetDatabase)
  }

  start(): void {
    this.#life.start(this.#broker)
    const topics: Readonly<Record<string, (message: FleetMessage) => void>> = {
      'base/+/online': (message) => this.#heardOnline(message),
      'base/+/state': (message) => this.#heardState(message),
      'base/+/info': (message) => this.#heardDocument(message),
    }
    for (const [topic, take] of Object.entries(topics)) this.#ctx.defer(this.#broker.subscribe(topic, take))
    this.#requests.start()
    this.#store.start()
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  async #begin(): Promise<void> {
    this.#load(await this.#store.load())
    for (const serial of await this.#store.forgotten()) this.#forget(serial)
    this.#ctx.defer(this.#database.listen(channel, (serial) => this.#givenChanged(serial)))
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
    if (!message.retained && this.#all.get(serial)?.cause === 'silent' && this.#database.leads) this.ask(serial)
  }

  #heardState(message: FleetMessage): void {
    const { serial, payload } = message
    if (payload.length === 0) return
    const facts = readState(payload)
    if (!facts) {
      this.#refuse(serial, 'its message on `state` cannot be read')
      return
    }
    const known = this.#all.get(serial)
    if (message.retained && known) {
      if (known.cause === 'silent') {
        this.#doubted.set(serial, verdictIn(facts))
        return
      }
      // A node of a cluster may keep an older state than the others after an outage. The clock of the station may also have been set back:
      // of two verdicts the worse counts, until a document decides.
      if (isOlder({ ...facts, source: 'state' }, known)) {
        if (!isWorse(facts, known)) return
        this.#doubted.set(serial, verdictIn(facts))
      }
    } else this.#doubted.delete(serial)
    const now_s = this.#now_s()
    this.#heard(message, (station) => ({
      ...facts,
      why: facts.cause === station.cause ? station.why : '',
      ...(!isPossible(facts, station, now_s) && { verdictSince_s: sinceOf(station, facts, now_s) }),
    }))
    if (this.#doubted.has(serial) && this.#database.leads) this.ask(serial)
    // The document explains the verdict.
    const station = this.#all.get(serial)
    if (station && isUnexplained(station) && this.#database.leads) this.#asking.why(serial)
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
    const doubted = this.#doubted.get(serial)
    const isKnown = this.#heard(message, (station) => {
      this.#ownNames.set(serial, name)
      const hasState = station.source === 'state'
      const isDecided = hasState && station.cause !== 'silent' && !doubted
      const own: Partial<Verdict> = isDecided
        ? { ...(isOwnVerdict(clean, station) && { why }) }
        : decided(clean, doubted)
      return {
        ...facts,
        ...own,
        // The topic `state` has the position as announced, the document as it was determined.
        ...(!hasState && { source: 'document', arp, place }),
        ...(own.verdict && { verdictSince_s: sinceOf(station, own, this.#now_s()) }),
        document_s: this.#now_s(),
      }
    })
    if (!isKnown) return
    this.#doubted.delete(serial)
    this.#store.document(serial, clean, documentMark(clean), this.#now_s())
  }

  /** @returns false: not a station that is kept */
  #heard({ serial, retained }: FleetMessage, facts: (station: FleetStation) => Facts): boolean {
    if (!pattern.test(serial)) {
      this.ignored += 1
      if (serial === ownName && this.#database.leads) this.recordRarely(namesake, '')
      return false
    }
    if (this.#forgotten.size > 0) {
      if (retained && this.#forgotten.has(serial)) return false
      if (this.#forgotten.delete(serial)) this.#store.heardAgain(serial)
    }
    const now_s = this.#now_s()
    const before = this.#all.get(serial)
    if (!before && this.#all.size >= this.#most) {
      this.ignored += 1
      this.#ctx.errors.while('fleet-full', { most: this.#most })
      return false
    }
    const station: FleetStation = before ?? { ...unheard, serial, firstSeen_s: now_s, seen_s: now_s }
    if (!retained) this.#life.heard(serial)
    this.#put({ ...station, ...facts(station), seen_s: retained ? station.seen_s : now_s }, before)
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
    if (!this.#all.has(serial) || !this.#database.leads) return
    this.recordRarely({ serial, kind: 'refused', text: what, by: '' }, '')
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
      const { firstSeen_s, seen_s } = station
      const seen = { firstSeen_s, ...(!this.#life.isHeard(serial) && { seen_s }) }
      if (known && isOlder(known, station) && isWorse(known, station)) this.#doubted.set(serial, verdictIn(known))
      if (known) this.#put({ ...stored, ...heardIn(known, station), ...seen }, known)
      else this.#all.set(serial, stored)
    }
  }

  async #givenChanged(serial: string | undefined): Promise<void> {
    if (serial === undefined) {
      for (const { station, given } of await this.#store.load()) this.#give(station.serial, given)
      for (const forgotten of await this.#store.forgotten()) if (this.#all.has(forgotten)) this.#forget(forgotten)
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
    this.#life.forget(serial)
    this.#doubted.delete(serial)
    this.#given.delete(serial)
    this.#ownNames.delete(serial)
    this.#asking.forget(serial)
    this.#store.forgot(serial)
    this.#ctx.errors.while('fleet-full', false)
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
    const isConnected = this.#broker.connected
    for (const station of this.#all.values()) {
      if (station.verdict === 'unknown') continue
      const isOld = station.source === 'document' && now_s - station.document_s >= trusted_s
      if (!isOld && !(isConnected && this.#life.isSilent(station))) continue
      if (station.source === 'state') this.#doubted.set(station.serial, verdictIn(station))
      const why = isOld ? 'its document is too old' : 'it has not said anything itself for too long'
      this.#put({ ...station, verdict: 'unknown', cause: 'silent', why, verdictSince_s: now_s }, station)
    }
    if (this.#database.leads && isConnected) this.#asking.look(this.#all)
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
    this.#asking.ask(serial)
  }

  async change(serial: string, values: Readonly<Record<string, unknown>>, by: string) {
    this.#demandOnline(serial)
    const answer = await this.#requests.change(serial, values)
    const names = Object.keys(values).join(', ').slice(0, 300)
    const unknown = Object.keys(answer.leftover).join(', ').slice(0, 150)
    const said = answer.result === 'ok' && unknown ? `ok, but the station does not know ${unknown}` : answer.result
    this.record({ serial, kind: 'change', text: `${names}: ${said}`, by })
    this.ask(serial)
    return answer
  }

  async command(serial: string, text: string, by: string): Promise<string> {
    this.#demandOnline(serial)
    const { answer, shown } = await this.#requests.command(serial, text)
    this.record({ serial, kind: 'command', text: entryOfCommand(shown, answer), by })
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

  settings(serial: string): Promise<StationSettings> {
    return this.#settings.read(serial)
  }

  recordRarely(event: Omit<FleetEvent, 't_s'>, about: string): boolean {
    const isNew = this.#troubles.admits(`${event.serial} ${event.kind} ${about}`, this.#ctx.clock.monotonic())
    if (isNew) this.record(event)
    return isNew
  }

  record(event: Omit<FleetEvent, 't_s'>): void {
    const stamped = { t_s: this.#now_s(), ...event, text: storable(event.text.slice(0, mostText)) }
    this.#store.record(stamped)
    this.#recorded.emit(stamped)
  }
}
