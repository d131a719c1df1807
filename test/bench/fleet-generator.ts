/**
 * Run as a child: thousands of stations, each with a connection of its own to the broker, in MQTT 3.1.1 made by hand. A station publishes
 * `online` and `state` (retained) and its document when it is connected, its state when that changes, its document each hour and when
 * asked; some publish RTCM each second. Arguments: ports of the brokers, separated by commas; stations; how many of them send RTCM; the time
 * between two changes of the state of a station, on average, ms.
 */
import { connect, type Socket } from 'node:net'
import { waits } from '../../plugins/mqtt/mqtt-link/link/retry.js'
import { Backoff } from '../../runtime/platform/time/backoff.js'
import { addressOf } from './addresses.js'

const [ports = '', count = 0, rtcm = 0, change_ms = 0] = [process.argv[2], ...process.argv.slice(3).map(Number)] as [
  string,
  number,
  number,
  number,
]
const brokers = ports.split(',').map(Number)
const tick_ms = 100
const document_ms = 3_600_000
const keepalive_s = 120
/** A connection that was not accepted by then. */
const accept_ms = 20_000
/** Connections that are being made at the same time at the start. */
const mostAtOnce = 200

/** What the generator tells its parent about all stations. */
export interface GeneratorReport {
  up: number
  /** States that were published because they changed. */
  changes: number
  documents: number
  asked: number
  epochs: number
  /** Longest time by which the generator itself was late, ms: what is measured beside it is that much less certain. */
  late_ms: number
  /** The state of each station: its cause. */
  causes: [string, string][]
}

const tally = { changes: 0, documents: 0, asked: 0, epochs: 0, late_ms: 0 }

// ── packets (MQTT 3.1.1, sections 2.2 and 3) ──────────────────────────────────────────────────────────────────────────

const text = (value: string) => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}
function packet(first: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const length: number[] = []
  let left = body.length
  do {
    length.push((left & 127) | (left > 127 ? 128 : 0))
    left >>= 7
  } while (left > 0)
  return Buffer.concat([Buffer.from([first, ...length]), body])
}
const publication = (topic: string, payload: Buffer, retain = false) =>
  packet(0x30 | (retain ? 1 : 0), text(topic), payload)
const ping = Buffer.from([0xc0, 0])

function* packetsIn(bytes: Buffer): Generator<{ kind: number; body: Buffer; end: number }> {
  let at = 0
  for (;;) {
    let [length, shift, from] = [0, 0, at + 1]
    for (;;) {
      const byte = bytes[from++]
      if (byte === undefined) return
      length |= (byte & 127) << shift
      shift += 7
      if (byte < 128) break
    }
    if (from + length > bytes.length) return
    yield { kind: bytes[at] as number, body: bytes.subarray(from, from + length), end: from + length }
    at = from + length
  }
}

// ── stations ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** About 20 kB, as a station with forty satellites in two frequency bands has it. */
const satellites = Array.from({ length: 190 }, (_, n) => ({
  ...{
    system: 'GPS',
    id: n,
    azimuth: (n * 17) % 360,
    elevation: n % 90,
    cnr: 45 - (n % 10),
    used: true,
    residual: 0.12,
  },
  signal: 'L1CA',
}))

class Station {
  readonly serial: string
  readonly #n: number
  readonly #at: { x: number; y: number; z: number }
  readonly #backoff = new Backoff(waits)
  readonly #epoch: Buffer
  #socket: Socket | undefined
  #rest: Buffer = Buffer.alloc(0)
  isUp = false
  cause = 'ok'
  #since_s = 1_790_000_000
  connect_ms: number
  #accept_ms = 0
  change_ms: number
  #document_ms = Number.POSITIVE_INFINITY
  #ping_ms = 0

  constructor(n: number, now_ms: number) {
    this.#n = n
    this.serial = `G${String(n).padStart(6, '0')}`
    const [lat, lon] = [((35 + (n % 100) / 4) * Math.PI) / 180, ((-10 + Math.floor(n / 100) / 3) * Math.PI) / 180]
    const r = 6_371_000
    this.#at = { x: r * Math.cos(lat) * Math.cos(lon), y: r * Math.cos(lat) * Math.sin(lon), z: r * Math.sin(lat) }
    this.#epoch = publication(this.#topic('drtk'), Buffer.alloc(500, 0xd3))
    this.connect_ms = now_ms
    this.change_ms = now_ms + change_ms / 20 + Math.random() * 2 * change_ms
  }

  get isConnecting(): boolean {
    return this.#socket !== undefined && !this.isUp
  }

  #topic(part: string): string {
    return `base/${this.serial}/${part}`
  }

  dial(now_ms: number): void {
    // A broker that is gone is not asked twice in turn.
    const port = brokers[(this.#n + Math.floor(Math.random() * brokers.length)) % brokers.length] as number
    const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(this.#n), noDelay: true })
    this.#socket = socket
    this.#rest = Buffer.alloc(0)
    this.#accept_ms = now_ms + accept_ms
    socket.on('error', () => {})
    socket.on('connect', () => {
      const flags = 0x02 | 0x04 | 0x20
      const head = Buffer.concat([text('MQTT'), Buffer.from([4, flags, keepalive_s >> 8, keepalive_s & 255])])
      socket.write(packet(0x10, head, text(this.serial), text(this.#topic('online')), text('L')))
    })
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('close', () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.isUp = false
      this.connect_ms = performance.now() + this.#backoff.next()
    })
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let end = 0
    for (const found of packetsIn(bytes)) {
      end = found.end
      if (found.kind === 0x20 && found.body[1] === 0) this.#accepted()
      else if (found.kind >> 4 === 3 && !(found.kind & 1)) {
        const topic = found.body.subarray(2, 2 + found.body.readUInt16BE(0)).toString()
        if (topic === this.#topic('info/get')) {
          tally.asked += 1
          this.#sayDocument(performance.now())
        }
      }
    }
    this.#rest = Buffer.from(bytes.subarray(end))
  }

  #accepted(): void {
    const now_ms = performance.now()
    this.isUp = true
    this.#backoff.reset()
    this.#ping_ms = now_ms + keepalive_s * 500 * (1 + Math.random() / 2)
    const filters = ['info/get', 'change/post', 'cmd'].flatMap((part) => [text(this.#topic(part)), Buffer.from([0])])
    this.#socket?.write(packet(0x82, Buffer.from([0, 1]), ...filters))
    this.#say('online', 'y', true)
    this.#sayState()
    this.#sayDocument(now_ms)
    // At the start, the hour of each station is at another place.
    this.#document_ms = now_ms + document_ms * Math.random()
  }

  #say(part: string, payload: string, retain = false): void {
    this.#socket?.write(publication(this.#topic(part), Buffer.from(payload), retain))
  }

  #sayState(): void {
    const { x, y, z } = this.#at
    const verdict = this.cause === 'ok' ? 'fit' : 'degraded'
    const state = {
      verdict,
      cause: this.cause,
      since: this.#since_s,
      arp: [x, y, z],
      reference: 'aaaaaaaa',
      version: '1.0.0',
    }
    this.#say('state', JSON.stringify(state), true)
  }

  #sayDocument(now_ms: number): void {
    this.#document_ms = now_ms + document_ms
    tally.documents += 1
    const { serial, cause } = this
    const verdict = { fitness: cause === 'ok' ? 'fit' : 'degraded', code: cause, why: cause === 'ok' ? '' : 'made up' }
    const document = {
      esp: { serial, version: '1.0.0', hardware: 'zed-f9p', uptime: Math.floor(now_ms / 1_000) },
      gnss: {
        state: { status: 'fixed' },
        ref: { chosen: 'survey', survey: this.#at },
        satellites,
        rtcm: { subscribers: [] },
      },
      base: { name: `Base ${serial}`, state: { verdict, errors: [] }, update: { state: 'idle', failed: false } },
      mqtt: { via: 'eth', rtcm: { rate: 1, sign: false }, stat: { missed: tally.documents } },
    }
    this.#say('info', JSON.stringify(document))
  }

  /** What is due. @returns it began to connect */
  tick(now_ms: number, mayDial: boolean, mayChange: boolean): boolean {
    const socket = this.#socket
    if (!socket) {
      if (!mayDial || now_ms < this.connect_ms) return false
      this.dial(now_ms)
      return true
    }
    if (!this.isUp) {
      if (now_ms > this.#accept_ms) socket.destroy()
      return false
    }
    if (now_ms > this.#ping_ms) {
      this.#ping_ms = now_ms + keepalive_s * 750
      socket.write(ping)
    }
    if (now_ms > this.#document_ms) this.#sayDocument(now_ms)
    if (mayChange && now_ms > this.change_ms) {
      this.change_ms = now_ms + change_ms * (0.5 + Math.random())
      // Its cause says when: so whoever reads it knows how late it is.
      this.cause = this.cause === 'ok' ? `at-${Date.now()}` : 'ok'
      this.#since_s = Math.floor(Date.now() / 1_000)
      tally.changes += 1
      this.#sayState()
    }
    return false
  }

  sendEpoch(): void {
    if (!this.isUp) return
    tally.epochs += 1
    this.#socket?.write(this.#epoch)
  }
}

const started_ms = performance.now()
const stations = Array.from({ length: count }, (_, n) => new Station(n, started_ms))
const upCount = () => stations.reduce((sum, { isUp }) => sum + Number(isUp), 0)
/** Not before the first states are stored: a change before that is no entry of the record. */
let mayChange = false
let last_ms = started_ms
let n = 0
setInterval(() => {
  const now_ms = performance.now()
  tally.late_ms = Math.max(tally.late_ms, now_ms - last_ms - tick_ms)
  last_ms = now_ms
  let connecting = stations.reduce((sum, { isConnecting }) => sum + Number(isConnecting), 0)
  for (const station of stations) if (station.tick(now_ms, connecting < mostAtOnce, mayChange)) connecting += 1
  const part = n++ % 10
  for (let at = part; at < rtcm; at += 10) stations[at]?.sendEpoch()
  if (part === 0) process.send?.({ up: upCount() })
}, tick_ms)

process.on('message', (message) => {
  if (message === 'quiet') mayChange = false
  if (message === 'changing') mayChange = true
  if (message === 'forget') Object.assign(tally, { changes: 0, documents: 0, asked: 0, epochs: 0, late_ms: 0 })
  if (message !== 'report') return
  const causes = stations.map(({ serial, cause }): [string, string] => [serial, cause])
  const report: GeneratorReport = { up: upCount(), ...tally, causes }
  process.send?.({ report })
})
process.once('disconnect', () => process.exit(0))
