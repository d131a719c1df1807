/** A fleet on simulated edges: a broker, a database, stations that publish RTCM, and instances of the real caster over them. */
import { createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import type { Test } from 'tap'
import { Jobs } from '../../../plugins/fleet/fleet/jobs.js'
import fleetCaster from '../../../plugins/fleet/fleet-caster/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import ntripCaster from '../../../plugins/rtcm/ntrip-caster/index.js'
import { encodeNmea, signedBytes } from '../../../runtime/lib/gnss/index.js'
import { Model, rtcmMessages } from '../../../runtime/lib/simulation/index.js'
import { type AnyPlugin, definePlugin, type EventSource, RtkError, unavailable } from '../../../runtime/plugin.js'
import {
  type FleetBroker,
  type FleetDatabase,
  type FleetEvent,
  type FleetMessage,
  type FleetRovers,
  type FleetStation,
  fleet,
  fleetAccess,
  fleetBroker,
  fleetDatabase,
  fleetJobs,
  fleetRovers,
} from '../../../schemas/services.js'
import { createTestStation, ManualClock, probe, until } from '../../harness/index.js'
import type { IdentityFile } from '../../harness/peers/certificates.js'
import { followClock } from '../../harness/peers/embedded-database.js'
import { Client } from '../rtcm/ntrip/rig.js'
import { fleetStation } from './stations.js'

type Change = { serial: string; station: FleetStation | undefined; before: FleetStation | undefined }

/** Broker, database and registry, shared by all instances. */
export class FakeFleet {
  readonly clock: ManualClock
  readonly documents = new Map<string, Record<string, unknown>>()
  readonly stations = new Map<string, FleetStation>()
  readonly events: Omit<FleetEvent, 't_s'>[] = []
  /** Stations whose parameters were changed. */
  readonly changed: string[] = []
  readonly troubles = new Set<string>()
  readonly subscriptions = new Map<string, Set<(message: FleetMessage) => unknown>>()
  readonly retained = new Map<string, Buffer>()
  readonly listeners = new Map<string, Set<(payload: string | undefined) => unknown>>()
  readonly changes = new Set<EventSource<Change>>()
  readonly #database: PGlite
  isDown = false
  /** No instance leads any more. */
  isFollowing = false
  #isConnected = true
  readonly #connections = new Set<EventSource<boolean>>()
  /** Queries with this text fail; empty: none. */
  fails = ''
  /** How many have failed. */
  failed = 0
  /** Queries with this text are carried out, and their answers are lost with the connection; empty: none. */
  unanswered = ''
  /** Queries with this text wait. */
  held: { text: string; until: Promise<void>; waiting: number } | undefined

  /** @param utc_ms default: beyond the beginning of certificates that a test has just made */
  constructor(database: PGlite, utc_ms = Date.now() + 3_600_000) {
    this.clock = new ManualClock(utc_ms)
    this.#database = database
    followClock(database, this.clock)
  }

  set(serial: string, station: FleetStation | undefined): void {
    const before = this.stations.get(serial)
    if (station) this.stations.set(serial, station)
    else this.stations.delete(serial)
    for (const source of this.changes) source.emit({ serial, station, before })
  }

  update(serial: string, values: Partial<FleetStation>): void {
    this.set(serial, { ...(this.stations.get(serial) as FleetStation), ...values })
  }

  /** @param properties MQTT 5 */
  publish(topic: string, payload: Buffer, properties: Record<string, string> = {}, retain = false): void {
    if (retain) this.retained.set(topic, payload)
    for (const take of this.subscriptions.get(topic) ?? []) take(messageOf(topic, payload, properties, false))
  }

  /** The connection of all instances to the broker. */
  connect(isConnected: boolean): void {
    this.#isConnected = isConnected
    for (const source of this.#connections) source.emit(isConnected)
  }

  /** Topics that somebody is subscribed to. */
  get topics(): string[] {
    return [...this.subscriptions].filter(([, takes]) => takes.size > 0).map(([topic]) => topic)
  }

  /** The database comes back: whoever listens has missed what was said. */
  up(): void {
    this.isDown = false
    for (const takes of this.listeners.values()) for (const take of takes) take(undefined)
  }

  async #query(on: Pick<PGlite, 'query'>, sql: string, values?: readonly unknown[]): Promise<unknown[]> {
    const isFailing = this.fails !== '' && sql.includes(this.fails)
    if (isFailing) this.failed += 1
    if (this.isDown || isFailing) throw unavailable('the database is down')
    if (this.held && sql.includes(this.held.text)) {
      this.held.waiting += 1
      await this.held.until
    }
    const { rows } = await on.query(sql, values as unknown[])
    if (this.unanswered !== '' && sql.includes(this.unanswered)) throw unavailable('the connection was lost')
    return rows
  }

  /** The providers of one instance. */
  plugin({ leads = true } = {}): AnyPlugin {
    const shared = this
    return definePlugin({
      name: 'fake-fleet',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [fleetBroker, fleetDatabase, fleetJobs, fleet, fleetAccess],
      setup(ctx) {
        const changes = ctx.event<Change>()
        const never = ctx.event<never>().on
        const connections = ctx.event<boolean>()
        shared.#connections.add(connections)
        ctx.defer(() => void shared.#connections.delete(connections))
        shared.changes.add(changes)
        ctx.defer(() => void shared.changes.delete(changes))
        const database: FleetDatabase = {
          get connected() {
            return !shared.isDown
          },
          query: (sql, values) => shared.#query(shared.#database, sql, values) as never,
          transaction: (work) =>
            shared.#database.transaction((inside) =>
              work((sql, values) => shared.#query(inside, sql, values) as never),
            ),
          async now_s() {
            await database.query('select 1')
            return shared.clock.now() / 1_000
          },
          async migrate(_owner, steps) {
            for (const step of steps) {
              const safe = step
                .replaceAll('create table ', 'create table if not exists ')
                .replaceAll('create index ', 'create index if not exists ')
                .replaceAll('create unique index ', 'create unique index if not exists ')
              for (const statement of safe.split(/;\s*\n/)) await database.query(statement)
            }
          },
          listen(channel, take) {
            const takes = shared.listeners.get(channel) ?? new Set()
            shared.listeners.set(channel, takes.add(take))
            return () => void takes.delete(take)
          },
          async notify(channel, payload) {
            for (const take of shared.listeners.get(channel) ?? []) take(payload)
          },
          get leads() {
            return leads && !shared.isFollowing
          },
          onLeads: never,
        }
        const broker: FleetBroker = {
          get connected() {
            return shared.#isConnected
          },
          ...{ answers: true, onConnected: connections.on, publish: () => 'sent' },
          subscribe(filter, take) {
            const takes = shared.subscriptions.get(filter) ?? new Set()
            shared.subscriptions.set(filter, takes.add(take))
            const kept = shared.retained.get(filter)
            if (kept) queueMicrotask(() => take(messageOf(filter, kept, {}, true)))
            return () => void takes.delete(take)
          },
        }
        ctx.services.provide(fleetBroker, broker)
        ctx.services.provide(fleetDatabase, database)
        const jobs = new Jobs(ctx, database)
        ctx.services.provide(fleetJobs, jobs)
        ctx.services.provide(fleet, {
          stations: () => shared.stations.values(),
          get size() {
            return shared.stations.size
          },
          station: (serial) => shared.stations.get(serial),
          onStation: changes.on,
          change: async (serial) => {
            shared.changed.push(serial)
            return { result: 'ok', leftover: {} }
          },
          command: async () => '',
          document: async (serial) => shared.documents.get(serial),
          settings: () => Promise.reject(new Error('none')),
          ask() {},
          record: (event) => void shared.events.push(event),
          recordRarely: (event, about) => {
            const isNew = !shared.troubles.has(`${event.serial} ${about}`)
            shared.troubles.add(`${event.serial} ${about}`)
            if (isNew) shared.events.push(event)
            return isNew
          },
          onRecord: never,
        })
        ctx.services.provide(fleetAccess, {
          may: ({ role }) => role === 'operator',
          demand({ role }) {
            if (role !== 'operator') throw new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'not you')
            return 'anna'
          },
        })
        return jobs
      },
      start: (_ctx, _handoff, jobs) => jobs.start(),
    }) as AnyPlugin
  }
}

const messageOf = (topic: string, payload: Buffer, userProperties: Record<string, string>, retained: boolean) => {
  const [, serial = '', ...part] = topic.split('/')
  return { topic, serial, part: part.join('/'), payload, retained, userProperties }
}

const messages = [1005, 1074, 1084, 1094, 1124, 1230]

/** A station of the fleet that publishes RTCM from the simulation. */
export class SimulatedBase {
  readonly serial: string
  readonly model: Model
  readonly #fleet: FakeFleet
  #identity: IdentityFile | undefined
  #sequence = 1_000

  constructor(shared: FakeFleet, serial: string, lat: number, lon: number, values: Partial<FleetStation> = {}) {
    this.serial = serial
    this.#fleet = shared
    this.model = new Model({ seed: serial.length, lat, lon, alt: 50 })
    shared.set(serial, fleetStation(serial, { name: `Base ${serial}`, arp: this.model.truth, ...values }))
  }

  get topic(): string {
    return `base/${this.serial}/drtk`
  }

  /** From now on it signs, with this certificate. */
  sign(identity: IdentityFile): void {
    this.#identity = identity
    this.#fleet.publish(`${this.topic}/cert`, readFileSync(identity.cert), {}, true)
  }

  /** The payload of a publication. @param at_ms UTC of its epoch */
  payload(at_ms = this.#fleet.clock.now(), arp = this.model.truth): Buffer {
    const epoch = this.model.epoch(at_ms, 1, true)
    const frames = rtcmMessages({ epoch, stationId: 1, arp, due: (type) => messages.includes(type) })
    return Buffer.concat([...frames.slice(-1), ...frames.slice(0, -1)])
  }

  signature(payload: Buffer, sequence = ++this.#sequence, time_ms = this.#fleet.clock.now()): Record<string, string> {
    const { cert, key } = this.#identity as IdentityFile
    const data = signedBytes(this.topic, sequence, time_ms, payload)
    return {
      'sig-alg': 'ECDSA-SHA256',
      sig: sign('sha256', data, createPrivateKey(readFileSync(key))).toString('base64'),
      'sig-cert': new X509Certificate(readFileSync(cert)).serialNumber,
      'sig-seq': String(sequence),
      'sig-time': String(time_ms),
    }
  }

  publish(payload = this.payload()): void {
    this.#fleet.publish(this.topic, payload, this.#identity ? this.signature(payload) : {})
  }
}

/** A position as a rover sends it. */
export function ggaAt(lat: number, lon: number, quality = 1): string {
  const part = (value: number, width: number) => {
    const whole = Math.floor(Math.abs(value))
    return `${String(whole).padStart(width, '0')}${((Math.abs(value) - whole) * 60).toFixed(4).padStart(7, '0')}`
  }
  const [north, east] = [lat < 0 ? 'S' : 'N', lon < 0 ? 'W' : 'E']
  const text = `GPGGA,120000.00,${part(lat, 2)},${north},${part(lon, 3)},${east},${quality},12,0.8,5.0,M,44.6,M,,`
  return Buffer.from(encodeNmea(text)).toString('latin1')
}

/** An instance: the real application with ntrip-caster and fleet-caster. */
export async function startInstance(t: Test, shared: FakeFleet, options: Record<string, unknown> = {}) {
  let counted: FleetRovers | undefined
  const ears = probe([fleetRovers], (ctx) => {
    counted = ctx.services.use(fleetRovers)
  })
  const station = await createTestStation({
    clock: shared.clock,
    plugins: {
      'fake-fleet': shared.plugin(),
      probe: ears,
      'http-api': httpApi as AnyPlugin,
      'ntrip-caster': [ntripCaster as AnyPlugin, { host: '127.0.0.1', maxPerAddress: 500 }],
      'fleet-caster': [fleetCaster as AnyPlugin, { anonymous: true, ...options }],
    },
    variant: { changes: { 'ntrip-caster-port': 0 } },
  })
  t.teardown(() => station.stop())
  const block = () => station.field('ntrip.caster') as { port: number; connected: number; rovers: { mount: string }[] }
  await until(() => block().port > 0, 'it listens')
  const rover = async (mount: string, { user = '', password = '', gga = '' } = {}) => {
    const client = new Client(block().port)
    t.teardown(() => client.socket.destroy())
    const login = user ? `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n` : ''
    client.socket.write(`GET /${mount} HTTP/1.0\r\nUser-Agent: NTRIP test\r\n${login}\r\n${gga}`)
    await until(() => client.text.includes('\r\n') || client.closed, 'an answer')
    return client
  }
  const json = async (method: string, path: string, body?: object) => {
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
    const answer = await station.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer that it asks for
    return { status: answer.status, body: answer.json() as any }
  }
  /** Rovers of a base at the casters of all instances. */
  const roversOn = (serial: string) => counted?.on(serial) ?? 0
  return { station, block, rover, json, roversOn }
}
