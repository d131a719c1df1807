/** The fleet on what it runs on: mosquitto, PostgreSQL, several instances. Their clocks run faster where minutes must pass. */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { encodeNmea, Framer, type FramerOptions, isMsm } from '../../runtime/lib/gnss/index.js'
import { Model, rtcmMessages } from '../../runtime/lib/simulation/index.js'
import { childEnv, freeTcpPort, gateOnly, until } from '../harness/index.js'
import { type Mosquitto, startMosquitto } from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'
import { type Postgres, postgresPrograms, startPostgres } from '../harness/peers/postgres.js'
import { SpecStation } from '../harness/peers/spec-station.js'

t.setTimeout(3_000_000)
const speed = 12
const count = 200
const skip = noPeer('mosquitto') || (process.env.CI !== 'true' && !postgresPrograms() && 'PostgreSQL is not installed')

type Json = Record<string, unknown>
interface Shown {
  rollout: { state: string; reason: string; wave: number }
  targets: { serial: string; wave: number; state: string; reason: string }[]
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const documentOf = (serial: string, version: string, update: Json, errors: Json[] = []) => ({
  esp: { serial, version, hardware: 'zed-f9p' },
  base: { update, state: { errors } },
  mqtt: { rtcm: { rate: 1, sign: false } },
})
const idle = { state: 'idle', failed: false }

/** It installs images, and undoes a change that cuts it off, as a station does. */
class Station {
  readonly spec: SpecStation
  /** Of its image and of its changes. */
  fate: 'good' | 'bad' | 'cut off' = 'good'
  value = 'old'
  versions = ['1.0.0']
  #epochs: NodeJS.Timeout

  constructor(spec: SpecStation) {
    this.spec = spec
    this.#epochs = setInterval(() => spec.say('drtk', Buffer.alloc(200, 0xd3)), 1_000)
  }

  static async start(t: Test, url: string, serial: string): Promise<Station> {
    const own: { station?: Station } = {}
    const spec = await SpecStation.start({
      ...{ url, serial, version: 5, document: documentOf(serial, '1.0.0', idle) },
      state: {
        verdict: 'fit',
        cause: 'ok',
        since: 1_700_000_000,
        arp: [3_925_405, 274_491, 5_002_842],
        version: '1.0.0',
      },
      command: (text) => own.station?.command(text) ?? '',
      change: (values) => own.station?.change(values),
    })
    own.station = new Station(spec)
    t.teardown(() => own.station?.stop())
    return own.station
  }

  get version(): string {
    return this.versions.at(-1) ?? ''
  }

  get told(): number {
    return this.spec.commands.filter((text) => text.startsWith('firmware')).length
  }

  command(text: string): string {
    if (text === 'ota-revert') void this.#be('1.0.0', { state: 'failed', failed: true })
    else if (text.startsWith('firmware')) void this.#install()
    return 'ok'
  }

  /** It restarts for the new version, and a bad one is undone by its own trial. */
  async #install(): Promise<void> {
    await this.#be('1.0.0', { state: 'installing', failed: false })
    await pause(400)
    await this.#restart()
    await this.#be('2.0.0', { state: 'verifying', failed: false })
    await pause(400)
    if (this.fate === 'good') return this.#be('2.0.0', idle)
    await this.#restart()
    await this.#be('1.0.0', { state: 'failed', failed: true })
  }

  async #be(version: string, update: Json): Promise<void> {
    if (version !== this.version) this.versions.push(version)
    this.spec.document = documentOf(this.spec.serial, version, update)
    this.spec.state = { ...this.spec.state, version }
    this.spec.sayState()
    this.spec.sayDocument()
  }

  change(values: Json): Json {
    this.value = String(values['mqtt-host'])
    if (this.fate === 'cut off') void this.#cutOff()
    return { result: 'ok', leftover: {} }
  }

  async #cutOff(): Promise<void> {
    await pause(100)
    this.spec.vanish()
    await pause(2_000)
    this.value = 'old'
    const error = { code: 'mqtt-broker-change', text: 'back to the old broker' }
    this.spec.document = documentOf(this.spec.serial, this.version, idle, [error])
    await this.spec.comeBack()
  }

  async #restart(): Promise<void> {
    this.spec.vanish()
    await pause(200)
    await this.spec.comeBack()
  }

  async stop(): Promise<void> {
    clearInterval(this.#epochs)
    await this.spec.stop()
  }
}

async function instance(t: Test, broker: string, database: string, factor = speed, more: string[] = []) {
  const script = fileURLToPath(new URL('../harness/children/fleet-instance.js', import.meta.url))
  const child = fork(script, [broker, database, String(factor), ...more], {
    env: childEnv(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  const [{ url, port }] = (await once(child, 'message')) as [{ url: string; port: number }]
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const online = async () => {
    try {
      return (await ask<{ stations: { online: string }[] }>('/fleet/stations')).stations.filter(
        (row) => row.online === 'online',
      ).length
    } catch {
      return 0
    }
  }
  const unfit = async () =>
    (await ask<{ stations: { verdict: string }[] }>('/fleet/stations')).stations.filter(
      (row) => row.verdict === 'unfit',
    ).length
  return {
    ask,
    port,
    online,
    unfit,
    shown: (id: number) => ask<Shown>(`/fleet/rollouts/${id}`),
    /** Waits; also while the database is away. @returns the rollout as it is then */
    async seen(id: number, condition: (shown: Shown) => boolean, what: string): Promise<Shown> {
      let shown: Shown | undefined
      await until(async () => {
        shown = await ask<Shown>(`/fleet/rollouts/${id}`).catch(() => undefined)
        return shown !== undefined && condition(shown)
      }, what)
      return shown as Shown
    },
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

interface BaseOptions {
  url: string
  serial: string
  stationId: number
  lat: number
  verdict: string
  cause: string
}

/** A base whose RTCM comes from the simulation, each second. */
async function base(t: Test, { url, serial, stationId, lat, verdict, cause }: BaseOptions): Promise<void> {
  const model = new Model({ seed: stationId, lat, lon: 4, alt: 50 })
  const { x, y, z } = model.truth
  const spec = await SpecStation.start({
    ...{ url, serial, document: documentOf(serial, '1.0.0', idle) },
    state: { verdict, cause, since: 1_700_000_000, arp: [x, y, z], version: '1.0.0' },
  })
  const types = [1005, 1074, 1084, 1094, 1124, 1230]
  const epochs = setInterval(() => {
    const second_ms = 1_000 * Math.floor(Date.now() / 1_000)
    const epoch = model.epoch(second_ms, 1, true)
    const frames = rtcmMessages({ epoch, stationId, arp: model.truth, due: (type) => types.includes(type) })
    spec.say('drtk', Buffer.concat([...frames.slice(-1), ...frames.slice(0, -1)]))
  }, 1_000)
  t.teardown(async () => {
    clearInterval(epochs)
    await spec.stop()
  })
}

function framesOf(file: string): { type: number; stationId: number }[] {
  const frames: { type: number; stationId: number }[] = []
  const onFrame: FramerOptions['onFrame'] = (frame) => {
    if (frame.kind !== 'rtcm') return
    // The station ID is in bits 12 to 23 of each message with one (RTCM 10403.3, 3.5).
    frames.push({ type: frame.type, stationId: ((frame.bytes[4] ?? 0) & 15) * 256 + (frame.bytes[5] ?? 0) })
  }
  if (existsSync(file)) new Framer({ onFrame }).push(readFileSync(file), 0)
  return frames
}

/** A receiver at 52 N 4 E on a TCP port, five fixes a second. @returns the port */
async function nmeaReceiver(t: Test): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    const timer = setInterval(() => {
      const now = new Date().toISOString()
      const time = `${now.slice(11, 19).replaceAll(':', '')}.${now.slice(20, 22)}`
      const date = `${now.slice(8, 10)}${now.slice(5, 7)}${now.slice(2, 4)}`
      socket.write(encodeNmea(`GPRMC,${time},A,5200.0000,N,00400.0000,E,0.0,0.0,${date},,,A`))
      socket.write(encodeNmea(`GPGGA,${time},5200.0000,N,00400.0000,E,1,12,0.8,5.0,M,44.6,M,,`))
      socket.write(encodeNmea('GPGSA,A,3,01,02,03,04,05,06,07,08,09,10,11,12,1.5,0.8,1.2'))
    }, 200)
    socket.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return (server.address() as AddressInfo).port
}

function run(t: Test, program: string, args: string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const output = { text: '' }
  child.stdout.on('data', (chunk) => {
    output.text += chunk
  })
  return { output }
}

const rollout = (given: object = {}) => ({
  ...{ name: 'test', filter: {}, what: { image: 'https://example.net/2.0.0.rtkb', version: '2.0.0' } },
  ...{ waves: [{ count: 10 }, { count: 100 }], soak_s: 4, prove_s: 10, atOnce: 100, apart_km: 0 },
  ...given,
})

async function rig(t: Test, { broker, postgres }: { broker: Mosquitto; postgres: Postgres }, name: string) {
  const url = `mqtt://127.0.0.1:${broker.port}`
  const database = await postgres.create(name, speed)
  const stations: Station[] = []
  for (let n = 0; n < count; n++) stations.push(await Station.start(t, url, `${name}${n}`))
  const query = <R extends object>(sql: string) => postgres.query<R>(sql, name)
  return { url, database, stations, query }
}

t.test('mosquitto and PostgreSQL', { skip }, async (t) => {
  const peers = {
    broker: await startMosquitto(['allow_anonymous true', 'max_queued_messages 0']),
    postgres: await startPostgres(),
  }
  t.teardown(async () => {
    await peers.broker.stop('SIGKILL')
    await peers.postgres.stop()
  })

  t.test('rollouts on 200 stations', { skip: gateOnly }, async (t) => {
    const { url, database, stations } = await rig(t, peers, 'waves')
    const [one, other] = [await instance(t, url, database), await instance(t, url, database)]
    await until(async () => (await one.online()) === count && (await other.online()) === count, 'all stations')
    const isAsked = ({ rollout: { wave }, targets }: Shown) =>
      targets.some((target) => target.wave === wave && target.state === 'asked')
    const begin = async (plan: object) => (await one.ask<{ id: number }>('/fleet/rollouts', plan)).id
    const ended = (shown: Shown) => shown.rollout.state !== 'running'
    const be = (fate: Station['fate']) => {
      for (const station of stations) station.fate = fate
    }

    t.test('a bad image stops after the first wave, whose stations are back by themselves', async (t) => {
      be('bad')
      const id = await begin(rollout())
      const { rollout: end, targets } = await other.seen(id, ended, 'the end')
      t.match(end, { state: 'stopped', wave: 0, reason: /failed, waves\d+ first: / })
      t.strictSame(
        targets.filter(({ state }) => state !== 'waiting').map(({ wave }) => wave),
        Array.from({ length: 10 }, () => 0),
      )
      t.equal(stations.filter(({ told }) => told > 0).length, 10, 'nobody else was told')
      await until(() => stations.every(({ version }) => version === '1.0.0'), 'the old version runs everywhere')
    })

    t.test('a change that cuts its stations off is undone by them, and counts as failed', async (t) => {
      be('cut off')
      const id = await begin(rollout({ what: { change: { 'mqtt-host': 'new' } } }))
      const { rollout: end } = await other.seen(id, ended, 'the end')
      t.match(end, { state: 'stopped', wave: 0, reason: /it undid the change: mqtt-broker-change$/ })
      t.equal(stations.filter(({ spec }) => spec.changes.length > 0).length, 10, 'nobody else was told')
      await until(() => stations.every(({ value }) => value === 'old'), 'the old value everywhere')
    })

    t.test('PostgreSQL is killed in the second wave, and an instance in the third', async (t) => {
      be('good')
      const before = new Map(stations.map((station) => [station, station.told]))
      await until(async () => (await one.online()) === count, 'all stations again')
      const id = await begin(rollout())
      await one.seen(id, (shown) => shown.rollout.wave === 1 && isAsked(shown), 'the second wave')
      await peers.postgres.stop()
      await pause(500)
      await peers.postgres.start()
      await other.seen(id, (shown) => shown.rollout.wave === 2 && isAsked(shown), 'the third wave')
      await one.kill()
      const { rollout: end, targets } = await other.seen(id, ended, 'the end')
      t.match(end, { state: 'done', wave: 2 })
      t.strictSame([...new Set(targets.map(({ state }) => state))], ['done'], 'none is left between')
      const told = stations.map((station) => station.told - (before.get(station) ?? 0))
      t.strictSame([...new Set(told)], [1], 'each was told once')
      t.ok(stations.every(({ version }) => version === '2.0.0'))
    })
  })

  t.test('two instances: one leads, is killed, and the other takes over', async (t) => {
    const { url, database, stations, query } = await rig(t, peers, 'leaders')
    const rows = async (condition = 'true') => {
      const [row] = await query<{ n: string }>(
        `select count(*) n from fleet_station where serial like 'leaders%' and ${condition}`,
      )
      return Number(row?.n)
    }
    const leader = await instance(t, url, database, 1)
    // It alone is there, so it leads.
    await until(async () => (await rows().catch(() => 0)) === count, 'all stations are stored')
    const other = await instance(t, url, database, 1)
    await until(async () => (await other.online()) === count, 'the other knows all of them')
    const say = (verdict: string, some: Station[]) => {
      for (const { spec } of some) {
        spec.state = { ...spec.state, verdict, cause: verdict === 'fit' ? 'ok' : 'moved' }
        spec.sayState()
      }
    }
    say('unfit', stations)
    await until(async () => (await other.unfit()) === count, 'the other hears it')
    // Some of this is stored by the one, the rest by the other.
    const killed_ms = performance.now()
    await leader.kill()
    say('fit', stations.slice(0, 100))
    await until(async () => (await rows("station->>'verdict' = 'fit'")) === 100, 'the other stores')
    t.ok(performance.now() - killed_ms < 15_000, 'within 15 s')
    // A station is fit at the start, and the first hundred once more at the end.
    const twice = await query(
      `select serial, kind, text from fleet_event where serial like 'leaders%' group by serial, kind, text
       having count(*) > case when text = 'fit' then 2 else 1 end`,
    )
    t.strictSame(twice, [], 'nothing twice')
    const wrong = await query(
      `select serial from fleet_station as station where serial like 'leaders%' and station->>'verdict' <> (
         select split_part(text, ':', 1) from fleet_event
         where serial = station.serial and kind = 'verdict' order by t desc, id desc limit 1)`,
    )
    t.strictSame(wrong, [], 'the last word of each in the record is how it is')
  })

  t.test('NEAR serves programs that people use, never from a base that was moved', async (t) => {
    const url = `mqtt://127.0.0.1:${peers.broker.port}`
    const fleet = await instance(t, url, await peers.postgres.create('near'), 1, ['caster'])
    // The moved one is where the rovers are, the other one 20 km away.
    await base(t, { url, serial: 'MOVED', stationId: 2, lat: 52, verdict: 'unfit', cause: 'moved' })
    await base(t, { url, serial: 'GOOD', stationId: 1, lat: 52.18, verdict: 'fit', cause: 'ok' })
    await until(async () => (await fleet.online()) === 2, 'both are known')
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-near-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))

    t.test('RTKLIB str2str', { skip: noPeer('str2str') }, async (t) => {
      const file = join(folder, 'near.rtcm3')
      const position = ['-n', '1000', '-p', '52.0', '4.0', '50']
      run(t, 'str2str', [...position, '-in', `ntrip://127.0.0.1:${fleet.port}/NEAR`, '-out', `file://${file}`])
      await until(() => framesOf(file).filter(({ type }) => isMsm(type)).length >= 12, 'three epochs')
      t.equal(framesOf(file)[0]?.type, 1005, 'the position first')
      t.strictSame([...new Set(framesOf(file).map(({ stationId }) => stationId))], [1])
    })

    t.test('gpsd, with a receiver that has a position', { skip: noPeer('gpsd') }, async (t) => {
      const receiver = await nmeaReceiver(t)
      const own = await freeTcpPort()
      const caster = `ntrip://127.0.0.1:${fleet.port}/NEAR`
      run(t, 'gpsd', ['-N', '-n', '-S', `${own}`, `tcp://127.0.0.1:${receiver}`, caster])
      await pause(500)
      const { output } = run(t, 'gpspipe', ['-w', `127.0.0.1:${own}`])
      const types = () => [...output.text.matchAll(/"class":"RTCM3"[^}]*?"type":(\d+)/g)].map(([, type]) => type)
      await until(() => types().filter((type) => type === '1074').length > 2 && types().includes('1005'), 'RTCM')
      // gpsd decodes the station of a few types only.
      const bases = [...output.text.matchAll(/"class":"RTCM3"[^}]*?"station_id":(\d+)/g)].map(([, id]) => id)
      t.strictSame([...new Set(bases)], ['1'])
    })
  })
})
