/**
 * What a station says to everybody, state by state: document, commands, parameters, refusals, MQTT, RTCM of captures. A record of one
 * tree is held against that of another: `WIRE_OUT=before.json npm run bench wire`, later `WIRE_BEFORE=before.json npm run bench wire`.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { referencePoint } from '../../runtime/lib/gnss/index.js'
import { captures } from '../harness/captures.js'
import { until } from '../harness/manual-clock.js'
import { freeTcpPort, listeningTo, ownPorts, type StationProcess } from '../harness/process.js'
import { figure, lost } from './measurement.js'
import { definePart, pause, progress } from './part.js'
import { startStation } from './stations.js'

interface Size {
  /** What is heard in a state, and after a request by MQTT, is gathered for so long. */
  readonly listens_ms: number
  readonly answers_ms: number
  /** A new base settles. */
  readonly settles_ms: number
  /** How many of them. */
  readonly faults: number
  readonly recordings: number
  /** A recording is over when nothing came for so long. */
  readonly quiet_ms: number
  /** Of the survey-in. */
  readonly mintime_s: number
  /** Whether the antenna is moved: until that is noticed takes half a minute. */
  readonly moves: boolean
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Numbers, times, digests and addresses vary: what is left of them says that there was one. */
function masked(text: string): string {
  return text
    .replace(/\b[0-9a-f]{40,64}\b/g, '<digest>')
    .replace(/([0-9a-f]{2}:){5}[0-9a-f]{2}/gi, '<mac>')
    .replace(/\/tmp\/rtk-base-[\w-]+/g, '<data>')
    .replace(/\d{4}-\d\d-\d\d[T_ ][\d:.]+Z?/g, '<time>')
    .replace(/\d+(\.\d+)?/g, '#')
}

/** The same with values masked; of a list each kind of entry once. */
function shapeOf(value: Json): Json {
  if (typeof value === 'number') return value === 0 ? 0 : value > 0 ? '+' : '-'
  if (typeof value === 'string') return masked(value)
  if (Array.isArray(value)) {
    const kinds = new Map(value.map((one) => [JSON.stringify(shapeOf(one)), shapeOf(one)]))
    return [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind)
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([name, inner]): [string, Json] => [name, shapeOf(inner)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function read(text: string): Json {
  try {
    return shapeOf(JSON.parse(text) as Json)
  } catch {
    return masked(text)
  }
}

/** Paths whose values differ. */
/** The entries of a list by what tells them apart, whatever their order. */
const byName = (list: Json[]): Json =>
  Object.fromEntries(
    list.map((entry) => {
      const { name, code } = (typeof entry === 'object' ? (entry ?? {}) : {}) as { name?: string; code?: string }
      return [name ?? code ?? JSON.stringify(entry), entry]
    }),
  )

function differences(before: Json | undefined, now: Json | undefined, path = ''): string[] {
  const isTree = (value: unknown): value is Record<string, Json> => typeof value === 'object' && value !== null
  if (Array.isArray(before) && Array.isArray(now)) return differences(byName(before), byName(now), path)
  if (!isTree(before) || !isTree(now)) {
    return JSON.stringify(before) === JSON.stringify(now)
      ? []
      : [`${path}: ${JSON.stringify(before)} → ${JSON.stringify(now)}`]
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.flatMap((name) => differences(before[name], now[name], path ? `${path} / ${name}` : name))
}

/** What leads to a state of a base, and back to `fixed`. */
const faults: readonly [state: string, on: string, off: string, after_s: number][] = [
  ['jammed', 'jam 30', 'jam off', 20],
  ['disturbed', 'jam 10', 'jam off', 20],
  ['spoofed', 'spoof 2', 'spoof 1', 14],
  ['antenna short', 'antenna short', 'antenna ok', 14],
  ['antenna open', 'antenna open', 'antenna ok', 14],
  ['few satellites', 'satellites 5', 'satellites off', 14],
  ['stalled', 'silence on', 'silence off', 14],
  ['offline', 'unplug', 'replug', 14],
  ['wrong 1005', 'wrong-1005 1', 'wrong-1005 0', 8],
]
/** What ends the station, or needs something that is not there. */
const notSent = /^(reboot|shutdown|factory|sim|firmware|ota-upgrade|restart)$/

class Recorder {
  readonly #station: StationProcess
  readonly #tcp: number
  readonly #mqtt: number
  #messages: [topic: string, shape: Json][] = []
  #frames = new Map<number, number>()

  readonly #size: Size

  constructor(station: StationProcess, tcp: number, mqtt: number, size: Size) {
    this.#station = station
    this.#size = size
    this.#tcp = tcp
    this.#mqtt = mqtt
  }

  async run(): Promise<Record<string, Json>> {
    const broker = await connectAsync(`mqtt://127.0.0.1:${this.#mqtt}`)
    await broker.subscribeAsync('#', { qos: 1 })
    broker.on('message', (topic, payload, { qos, retain }) => {
      const isText = payload.every((byte) => byte >= 32 && byte < 127)
      const kind = `${masked(topic)} QoS ${qos}${retain ? ' retained' : ''}`
      this.#messages.push([kind, isText ? read(String(payload)) : `<${payload[0] === 0xd3 ? 'RTCM' : 'bytes'}>`])
    })
    const rover = this.#rover()
    const states = await this.#states()
    const rest = { ...(await this.#commands()), ...(await this.#changes()), ...(await this.#routes()) }
    const requests: Record<string, Json> = {}
    const { serial } = (await this.#station.info<{ esp: { serial: string } }>()).esp
    for (const [topic, text] of [
      ['info/get', ''],
      ...['{"cmd":"nothing","id":"7"}', '{"cmd":"log=i","id":"8"}', 'log=i', '{'].map((text) => ['cmd', text]),
      ...['{"log-save-period":60}', '{"log-save-period":{}}', '{"x":1}', '{'].map((text) => ['change/post', text]),
    ] as [string, string][]) {
      this.#heard()
      await broker.publishAsync(`base/${serial}/${topic}`, text, { qos: 1 })
      await pause(this.#size.answers_ms)
      requests[`${topic} ${text}`] = this.#heard()
    }
    await broker.endAsync(true)
    rover.destroy()
    return { states, ...rest, requests }
  }

  #rover(): Socket {
    const rover = connect(this.#tcp, '127.0.0.1')
    rover.on('error', () => {})
    let rest = Buffer.alloc(0)
    rover.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      for (let size = sizeOf(rest); size !== undefined && rest.length >= size; size = sizeOf(rest)) {
        const type = rest.readUInt16BE(3) >> 4
        this.#frames.set(type, referencePoint(rest.subarray(0, size)) ? size : 0)
        rest = rest.subarray(size)
      }
    })
    return rover
  }

  #heard(): Json {
    const newest = Object.fromEntries([...this.#messages].sort(([a], [b]) => (a < b ? -1 : 1)))
    this.#messages = []
    return newest
  }

  async #ask(path: string, init?: RequestInit): Promise<{ status: number; text: string; type: string }> {
    const response = await fetch(`${this.#station.url}${path}`, init).catch((cause: unknown) => {
      throw new Error(`${init?.method ?? 'GET'} ${path}: no answer`, { cause })
    })
    return { status: response.status, text: await response.text(), type: response.headers.get('content-type') ?? '' }
  }

  async #send(command: string): Promise<Json> {
    const { status, text } = await this.#ask(`/system?${encodeURI(command)}`, { method: 'POST' })
    return [status, masked(text)]
  }

  async #reach(status: string): Promise<void> {
    const isThere = async () => (await this.#station.info<Seen>()).gnss.state.status === status
    await until(isThere, status, 180_000)
  }

  async #states(): Promise<Json> {
    const states: Record<string, Json> = {}
    const look = async (name: string) => {
      this.#heard()
      this.#frames.clear()
      await pause(this.#size.listens_ms)
      const figures = (await this.#ask('/metrics')).text.matchAll(/^(\w+(?:\{[^}]*\})?) /gm)
      states[name] = {
        document: read((await this.#ask('/get-info')).text),
        procedure: read((await this.#ask('/procedure')).text),
        plugins: read((await this.#ask('/plugins')).text),
        metrics: [...new Set([...figures].map(([, figure]) => masked(figure)))].sort(),
        rtcm: [...this.#frames].sort(([a], [b]) => a - b).map(([type, size]) => `${type}${size ? ` of ${size}` : ''}`),
        mqtt: this.#heard(),
      }
      progress(`recorded: ${name}`)
    }
    await look('started')
    await this.#reach('survey')
    await look('survey')
    await this.#reach('fixed')
    await pause(this.#size.settles_ms)
    await look('fixed')
    for (const [name, on, off, after_s] of faults.slice(0, this.#size.faults)) {
      await this.#send(`sim=${on}`)
      await pause(after_s * 1_000)
      await look(name)
      await this.#send(`sim=${off}`)
      await this.#reach('fixed')
      await pause(6_000)
    }
    if (!this.#size.moves) return states
    await this.#send('sim=move 9 0 0')
    await this.#reach('moved')
    await look('moved')
    return states
  }

  async #commands(): Promise<Record<string, Json>> {
    const listed = JSON.parse((await this.#ask('/actions')).text) as { name: string }[]
    const commands: Record<string, Json> = {}
    for (const { name } of listed.filter((one) => !notSent.test(one.name))) {
      for (const value of ['', '=1', '=x']) commands[`${name}${value}`] = await this.#send(`${name}${value}`)
    }
    for (const text of ['', 'nothing', 'cmd=nothing', 'log=zzz', 'sim=nothing']) {
      commands[`? ${text}`] = await this.#send(text)
    }
    return { commandList: shapeOf(listed), commands }
  }

  async #changes(): Promise<Record<string, Json>> {
    const listed = JSON.parse((await this.#ask('/parameters')).text) as { name: string }[]
    const changes: Record<string, Json> = {}
    const change = async (body: string) => {
      const { status, text } = await this.#ask('/change', { method: 'POST', body })
      changes[body.slice(0, 80)] = [status, read(text)]
    }
    for (const { name } of listed) for (const value of ['{}', 'null', '-1e9']) await change(`{"${name}":${value}}`)
    for (const body of ['{"nothing":1}', '[]', 'x', '', '1', `{"a":"${'x'.repeat(70_000)}"}`]) await change(body)
    const parameters = Object.fromEntries(listed.map((one) => [one.name, shapeOf(one as unknown as Json)]))
    return { parameters, changes }
  }

  async #routes(): Promise<Record<string, Json>> {
    const { paths } = JSON.parse((await this.#ask('/openapi.json')).text) as { paths: Record<string, object> }
    const known = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((one) => `${one} ${path}`),
    )
    const answers: Record<string, Json> = {}
    const bad = ['?0x201', '?0x01', '?0x02', '?0x08', '?0xzz', '?513'].map((mask) => `/get-info${mask}`)
    for (const path of [
      ...bad,
      '/nothing',
      '/nvs?namespace=nothing',
      '/get-log-saved?tail=x',
      '/ui/nothing',
      '/rut?a',
    ]) {
      const { status, type, text } = await this.#ask(path)
      answers[path] = [status, type, /json/.test(type) ? read(text) : masked(text)]
    }
    for (const [name, path, init] of [
      ['a page of another site', '/change', { body: '{}', headers: { origin: 'http://evil.example' } }],
      ['no JSON to the router', '/rut', { body: 'x' }],
      ['no image', '/firmware', { body: 'x' }],
      ['protected', '/nvs?namespace=protected', { body: '{"a":1}' }],
      ['half a body', '/nvs', { body: '[' }],
      ['no login', '/session', { body: '{}' }],
    ] as [string, string, RequestInit][]) {
      const { status, text } = await this.#ask(path, { method: 'POST', ...init })
      answers[name] = [status, read(text)]
    }
    return { routes: known.sort(), answers }
  }
}

interface Seen {
  gnss: { state: { status: string } }
}

/** Bytes of the RTCM frame that these begin with; undefined while it is not known. */
function sizeOf(bytes: Buffer): number | undefined {
  return bytes.length < 6 || bytes[0] !== 0xd3 ? undefined : (bytes.readUInt16BE(1) & 0x3ff) + 6
}

/** What goes out of a recording, by TCP. */
async function replayed(file: string, quiet_ms: number): Promise<[bytes: number, digest: string]> {
  const { args } = await ownPorts()
  const tcp = await freeTcpPort()
  const from = [...listeningTo(`replay:${file}`), '--set', 'gnss-zed.delay=4', '--change', `rtcm-tcp-port=${tcp}`]
  const station = await startStation([...args, ...from])
  const digest = createHash('sha256')
  const rover = connect(tcp, '127.0.0.1')
  let [bytes, last_ms] = [0, performance.now()]
  rover.on('error', () => {})
  rover.on('data', (chunk) => {
    digest.update(chunk)
    bytes += chunk.length
    last_ms = performance.now()
  })
  await until(() => performance.now() - last_ms > quiet_ms, 'the end', 180_000)
  rover.destroy()
  await station.end()
  return [bytes, digest.digest('hex')]
}

/** Beside the request itself, RTCM and the state, which come without being asked for. */
function isAnswered(request: string, heard: Json): boolean {
  const [topic = ''] = request.split(' ')
  const unasked = [`/${topic} `, '/drtk ', '/state ']
  return Object.keys(heard ?? {}).some((kind) => !unasked.some((one) => kind.includes(one)))
}

export const part = definePart<Size>({
  sizes: {
    full: {
      ...{ listens_ms: 4_000, answers_ms: 2_500, settles_ms: 12_000, quiet_ms: 6_000, mintime_s: 15 },
      ...{ faults: faults.length, recordings: Number.POSITIVE_INFINITY, moves: true },
    },
    smoke: {
      ...{ listens_ms: 1_000, answers_ms: 300, settles_ms: 500, quiet_ms: 3_000, mintime_s: 2 },
      ...{ faults: 0, recordings: 1, moves: false },
    },
  },
  notComparable: 'it compares by records: WIRE_OUT in one tree, WIRE_BEFORE in the other',
  async run(size) {
    const { args, mqtt } = await ownPorts()
    const tcp = await freeTcpPort()
    const changes = [`rtcm-tcp-port=${tcp}`, `gnss-survey-mintime=${size.mintime_s}`]
    const station = await startStation(['simulator', ...args, ...changes.flatMap((one) => ['--change', one])])
    const record = await new Recorder(station, tcp, mqtt, size).run().finally(() => station.end())
    const recordings: Record<string, Json> = {}
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-wire-'))
    let silent = 0
    const all = captures().filter(({ oracle }) => oracle.framing.frames.RTCM3 > 0)
    const chosen = all.sort((one, other) => one.bytes.length - other.bytes.length).slice(0, size.recordings)
    for (const { name, bytes, oracle } of chosen) {
      const file = join(folder, 'recording')
      writeFileSync(file, bytes)
      const sent = await replayed(file, size.quiet_ms)
      silent += Number(sent[0] === 0)
      recordings[name] = [oracle.framing.frames.RTCM3, sent]
    }
    rmSync(folder, { recursive: true })
    const whole: Record<string, Json> = { ...record, recordings }
    if (process.env.WIRE_OUT) writeFileSync(process.env.WIRE_OUT, JSON.stringify(whole, null, 1))
    const found = process.env.WIRE_BEFORE
      ? differences(JSON.parse(readFileSync(process.env.WIRE_BEFORE, 'utf8')) as Json, whole)
      : undefined
    for (const one of found ?? []) progress(one.slice(0, 400))
    const states = Object.keys(whole.states ?? {}).length
    // A command by MQTT has no answer.
    const requests = Object.entries(whole.requests ?? {}).filter(([request]) => !request.startsWith('cmd '))
    const answered = requests.filter(([request, heard]) => isAnswered(request, heard)).length
    return [
      lost('states that were not recorded', 3 + size.faults + Number(size.moves), states),
      lost('requests by MQTT without an answer', requests.length, answered),
      ...(chosen.length > 0 ? [figure('recordings from which no RTCM goes out', silent, '')] : []),
      ...(found ? [figure('differences from the record of before', found.length, '')] : []),
    ]
  },
})
