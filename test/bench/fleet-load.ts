import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { endsWithThis } from '../harness/at-exit.js'
import { until } from '../harness/manual-clock.js'
import { startMosquitto } from '../harness/peers/mosquitto.js'
import { startNats } from '../harness/peers/nats.js'
import { type Postgres, startPostgres } from '../harness/peers/postgres.js'
import { childEnv, type StationProcess } from '../harness/process.js'
import { hasPeer, processUse } from './edges.js'
import type { GeneratorReport } from './fleet-generator.js'
import { atMost, figure, type Measurement, none, quantile } from './measurement.js'
import { definePart, pause, progress } from './part.js'
import { startStation } from './stations.js'

interface Size {
  readonly stations: number
  /** Of these, how many send RTCM. */
  readonly rtcm: number
  /** Between two changes of the state of a station, on average. */
  readonly change_ms: number
  /** Of steady load, after `settle_s`. */
  readonly steady_s: number
  /** So many changes at least are followed in it. */
  readonly followed: number
  readonly settle_s: number
  /** Of steady load with a second instance. */
  readonly beside_s: number
}

const budgets = { behind_s: 5, cores: 1.2, back_s: 120, grown_MB: 60 }
const long_ms = 300_000

interface Brokers {
  readonly name: string
  readonly ports: number[]
  /** Of those that run. */
  pids(): number[]
  /** Kills the broker, or one of them, and starts it again. */
  outage(): Promise<void>
  stop(): Promise<void>
}

async function mosquitto(): Promise<Brokers> {
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0'])
  return {
    name: 'mosquitto',
    ports: [broker.port],
    pids: () => [broker.child.pid ?? 0],
    async outage() {
      await broker.stop('SIGKILL')
      await pause(2_000)
      await broker.start()
    },
    stop: () => broker.stop('SIGKILL'),
  }
}

async function nats(): Promise<Brokers> {
  const { nodes, stop } = await startNats(3)
  return {
    name: 'three nats-server',
    ports: nodes.map(({ port }) => port),
    pids: () => nodes.map(({ pid }) => pid),
    // Not the first, at which the fleet is.
    async outage() {
      await nodes[1]?.stop()
      await pause(2_000)
      nodes[1]?.start()
    },
    stop,
  }
}

/** Processor time of a process and of all its children, those that ended too: PostgreSQL has one for each connection. */
function familyCpu_s(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const [parent, user = 0, system = 0, childUser = 0, childSystem = 0] = [fields[1], ...fields.slice(11, 15)]
      if (Number(name) === pid) ticks += user + system + childUser + childSystem
      else if (parent === pid) ticks += user + system
    } catch {}
  }
  return ticks / 100
}

/** Ten thousand stations in a process of their own. */
function startGenerator(ports: readonly number[], { stations, rtcm, change_ms }: Size) {
  const script = fileURLToPath(new URL('./fleet-generator.js', import.meta.url))
  const child = fork(script, [ports.join(','), ...[stations, rtcm, change_ms].map(String)], { env: childEnv() })
  endsWithThis(child)
  let up = 0
  let report: GeneratorReport | undefined
  child.on('message', (message: { up?: number; report?: GeneratorReport }) => {
    up = message.up ?? up
    report = message.report ?? report
  })
  return {
    up: () => up,
    say: (what: 'quiet' | 'changing' | 'forget') => void child.send(what),
    async report(): Promise<GeneratorReport> {
      report = undefined
      child.send('report')
      await until(() => report !== undefined, 'the report of the generator')
      return report as unknown as GeneratorReport
    },
    stop: () => void child.kill('SIGKILL'),
  }
}

/** How late states are in the database, by notifications of its commits, and on `/fleet/live`, seconds. */
async function watchDelays(database: string, url: string) {
  const delays = { stored: [] as number[], live: [] as number[] }
  const age_s = (cause: string) => (Date.now() - Number(cause.slice(3))) / 1_000
  const client = new Client({ connectionString: database })
  client.on('error', () => {})
  client.on('notification', ({ payload = '' }) => delays.stored.push(age_s(payload)))
  await client.connect()
  for (const sql of [
    `create or replace function bench_told() returns trigger language plpgsql as $$ begin
       perform pg_notify('bench', new.station->>'cause'); return null; end $$`,
    `create or replace trigger bench_told after update on fleet_station for each row
       when (new.station->>'cause' like 'at-%' and new.station->>'cause' is distinct from old.station->>'cause')
       execute function bench_told()`,
    'listen bench',
  ])
    await client.query(sql)
  const asked = get(`${url}/fleet/live`)
  const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream]
  const told = new Map<string, string>()
  let rest = ''
  answer.on('data', (chunk) => {
    const events = (rest + chunk).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const [, data] = /^event: stations\ndata: (.*)$/s.exec(event) ?? []
      if (data === undefined) continue
      for (const { serial, cause } of JSON.parse(data) as { serial: string; cause: string }[]) {
        // A row comes again when anything else of it changes.
        if (!cause?.startsWith('at-') || told.get(serial) === cause) continue
        told.set(serial, cause)
        delays.live.push(age_s(cause))
      }
    }
  })
  answer.on('error', () => {})
  const stop = async () => {
    asked.destroy()
    await client.end()
  }
  return { delays, stop }
}

/** Stations that this instance knows as online. */
async function known(fleet: StationProcess): Promise<number> {
  const text = await (await fetch(`${fleet.url}/metrics`)).text()
  const lines = text.split('\n').filter((line) => /fleet_stations\{.*online="online"/.test(line))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function untilKnown(fleet: StationProcess, stations: number): Promise<number> {
  const from_ms = performance.now()
  await until(
    async () => {
      await pause(200)
      return (await known(fleet)) === stations
    },
    'all stations are known',
    long_ms,
  )
  return (performance.now() - from_ms) / 1_000
}

const rowsOf = async (postgres: Postgres, from: string) =>
  Number((await postgres.query<{ n: string }>(`select count(*) n from ${from}`))[0]?.n)

/** What must not be: rows that are not as the stations are, and entries of the record that are there twice. */
async function differences(postgres: Postgres, { causes, changes }: GeneratorReport) {
  const stations = causes.length
  const rows = await postgres.query<{ serial: string; cause: string }>(
    "select serial, station->>'cause' as cause from fleet_station",
  )
  const stored = new Map(rows.map(({ serial, cause }) => [serial, cause]))
  return {
    wrong: causes.filter(([serial, cause]) => stored.get(serial) !== cause).length,
    // One for the first verdict of each, one for each change.
    verdicts: (await rowsOf(postgres, "fleet_event where kind = 'verdict'")) - stations - changes,
    twice: await rowsOf(
      postgres,
      "(select 1 from fleet_event where kind <> 'verdict' group by serial, kind, text having count(*) > 1) as twice",
    ),
    // A document that nobody heard, as it was published while the broker was away, is asked for again.
    documents: Math.max(0, (await rowsOf(postgres, 'fleet_document')) - stations),
  }
}

async function benchWith(brokers: Brokers, size: Size): Promise<Measurement[]> {
  const { stations, steady_s, followed, settle_s, beside_s } = size
  const { name } = brokers
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-fleet-load-'))
  const postgres = await startPostgres(['shared_buffers=256MB'])
  const generator = startGenerator(brokers.ports, size)
  const run = () => startStation([variantFile(folder, brokers.ports[0] ?? 0, postgres.url())])
  const say = (text: string) => progress(`${name}: ${text}`)
  let fleet: StationProcess | undefined
  try {
    const dialed_ms = performance.now()
    await until(() => generator.up() === stations, 'the stations are connected', long_ms)
    say(`${stations} stations connected in ${((performance.now() - dialed_ms) / 1_000).toFixed(1)} s`)
    let started_ms = performance.now()
    fleet = await run()
    await untilKnown(fleet, stations)
    const first_s = (performance.now() - started_ms) / 1_000
    // The tables are made after the brokers are heard.
    const rows = () => rowsOf(postgres, 'fleet_station').catch(() => 0)
    await until(async () => (await rows()) === stations, 'all are stored', long_ms)
    const stored_s = (performance.now() - started_ms) / 1_000
    say(`known after ${first_s.toFixed(1)} s, stored after ${stored_s.toFixed(1)} s`)
    generator.say('changing')
    await pause(1_000 * settle_s)

    const watch = await watchDelays(postgres.url(), fleet.url)
    const pid = fleet.child.pid as number
    const use = () => ({
      fleet: processUse(pid).cpu_s,
      broker: brokers.pids().reduce((sum, one) => sum + processUse(one).cpu_s, 0),
      database: familyCpu_s(postgres.pid),
      at_s: performance.now() / 1_000,
    })
    const rss_MB = () => processUse(pid).rss_bytes / 1e6
    const [before, first_MB] = [use(), rss_MB()]
    await pause(steady_s * 1_000)
    const { delays } = watch
    await until(() => Math.min(delays.stored.length, delays.live.length) >= followed, 'states are followed', long_ms)
    const [after, last_MB] = [use(), rss_MB()]
    const cores = (part: 'fleet' | 'broker' | 'database') => (after[part] - before[part]) / (after.at_s - before.at_s)
    const [stored, live] = [[...delays.stored], [...delays.live]]
    const steady = await generator.report()
    say(`steady: ${steady.changes} changes, ${steady.documents} documents, ${steady.epochs} epochs so far`)

    // Each instance knows every station, one of them stores.
    const second = await run()
    await untilKnown(second, stations)
    await pause(500 * settle_s)
    const secondPid = second.child.pid as number
    const [second_s, firstAgain] = [processUse(secondPid).cpu_s, use()]
    await pause(1_000 * beside_s)
    const both = use()
    const seconds = both.at_s - firstAgain.at_s
    const secondCores = (processUse(secondPid).cpu_s - second_s) / seconds
    const second_MB = processUse(secondPid).rss_bytes / 1e6
    const firstCores = (both.fleet - firstAgain.fleet) / seconds
    await second.end('SIGKILL')

    await brokers.outage()
    const back_ms = performance.now()
    await until(() => generator.up() === stations, 'the stations are back', long_ms)
    const sessions_s = (performance.now() - back_ms) / 1_000
    await untilKnown(fleet, stations)
    say(`back after ${sessions_s.toFixed(1)} s`)
    generator.say('quiet')
    const settled = async () => {
      await pause(1_000)
      const found = await differences(postgres, await generator.report())
      return found.wrong === 0
    }
    const settle_ms = performance.now()
    const peak_MB = rss_MB()
    await until(settled, 'the rows are as the stations are', long_ms).catch(() => {})
    const settled_s = (performance.now() - settle_ms) / 1_000
    const end = await generator.report()
    const found = await differences(postgres, end)
    await watch.stop()

    await fleet.end('SIGKILL')
    started_ms = performance.now()
    fleet = await run()
    await untilKnown(fleet, stations)
    const again_s = (performance.now() - started_ms) / 1_000
    await pause(500 * settle_s)
    const later = await differences(postgres, await generator.report())
    return [
      figure(`${name}: all known after the start`, first_s, 's'),
      figure(`${name}: all in the database after the start`, stored_s, 's'),
      figure(`${name}: all known after a restart`, again_s, 's'),
      figure(`${name}: states that were followed`, stored.length, ''),
      figure(`${name}: from the state to the database, p50`, quantile(stored, 0.5), 's'),
      atMost(`${name}: from the state to the database, p99`, quantile(stored, 0.99), budgets.behind_s, 's'),
      figure(`${name}: from the state to /fleet/live, p50`, quantile(live, 0.5), 's'),
      atMost(`${name}: from the state to /fleet/live, p99`, quantile(live, 0.99), budgets.behind_s, 's'),
      atMost(`${name}: fleet, cores`, cores('fleet'), budgets.cores, 'cores'),
      figure(`${name}: broker, cores`, cores('broker'), 'cores'),
      figure(`${name}: database, cores`, cores('database'), 'cores'),
      atMost(
        `${name}: fleet, broker and database, cores`,
        cores('fleet') + cores('broker') + cores('database'),
        budgets.cores,
        'cores',
      ),
      figure(`${name}: resident memory of the fleet at the end`, last_MB, 'MB'),
      atMost(`${name}: its growth under the load`, last_MB - first_MB, budgets.grown_MB, 'MB'),
      figure(`${name}: beside a second instance, the first, cores`, firstCores, 'cores'),
      figure(`${name}: the second instance, cores`, secondCores, 'cores'),
      figure(`${name}: the second instance, resident memory`, second_MB, 'MB'),
      atMost(`${name}: outage, all sessions back`, sessions_s, budgets.back_s, 's'),
      figure(`${name}: outage, resident memory then`, peak_MB, 'MB'),
      figure(`${name}: outage, rows as the stations are after further`, settled_s, 's'),
      none(`${name}: stations whose row is wrong`, found.wrong + later.wrong),
      none(`${name}: verdicts in the record beyond those published`, found.verdicts),
      none(`${name}: other entries that are there twice`, found.twice),
      none(`${name}: kept documents beyond one each`, found.documents),
      none(`${name}: entries that the restart added`, later.verdicts + later.twice - found.verdicts - found.twice),
      figure(`${name}: documents published`, end.documents, ''),
      figure(`${name}: lateness of the generator`, steady.late_ms, 'ms'),
      figure(`${name}: processors of this machine`, cpus().length, ''),
    ]
  } finally {
    await fleet?.end('SIGKILL')
    generator.stop()
    await brokers.stop()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function variantFile(folder: string, port: number, database: string): string {
  const file = join(folder, 'fleet.json')
  const plugins = {
    ...{ log: {}, 'http-api': {}, fleet: { broker: `mqtt://127.0.0.1:${port}`, database } },
    ...{ 'fleet-registry': {}, 'fleet-rollout': {} },
  }
  writeFileSync(file, JSON.stringify({ name: 'fleet', hardware: 'bench', serial: 'FLEET', simulator: true, plugins }))
  return file
}

/**
 * 10,000 stations (BENCH_STATIONS) on mosquitto, and on a cluster of three nats-server: states on change, documents, RTCM of 300 of them. How
 * far the registry is behind, what it costs, and what is stored after the broker was killed. BENCH_MINUTES: length of the steady load.
 */
export const part = definePart<Size>({
  sizes: {
    full: {
      ...loadOf(Number(process.env.BENCH_STATIONS ?? 10_000)),
      ...{ change_ms: 600_000, steady_s: 60 * Number(process.env.BENCH_MINUTES ?? 1.5), settle_s: 10, beside_s: 20 },
      followed: 100,
    },
    // A station that changed twice before it is stored would have one entry: not often, on a busy machine either.
    smoke: { ...loadOf(400), change_ms: 60_000, steady_s: 3, followed: 10, settle_s: 1, beside_s: 1 },
  },
  peers: ['mosquitto', 'postgresql'],
  async run(size) {
    const only = process.env.BENCH_BROKER
    const results: Measurement[] = []
    if (only !== 'nats') results.push(...(await benchWith(await mosquitto(), size)))
    if (only === 'mosquitto') return results
    if (hasPeer('nats-server')) results.push(...(await benchWith(await nats(), size)))
    return results
  },
})

function loadOf(stations: number): Pick<Size, 'stations' | 'rtcm'> {
  return { stations, rtcm: Math.round(stations * 0.03) }
}
