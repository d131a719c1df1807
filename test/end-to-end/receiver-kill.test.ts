/** A service that is killed beside a receiver that stays on, of each family. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { freeTcpPort, gateOnly, startStation, until } from '../harness/index.js'
import { seeded } from '../harness/seeded.js'

t.setTimeout(900_000)

const families = [
  { name: 'UM980', driver: 'gnss-unicore', simulator: 'simulated-um980' },
  { name: 'LG290P', driver: 'gnss-quectel', simulator: 'simulated-lg290p' },
  { name: 'mosaic', driver: 'gnss-septentrio', simulator: 'simulated-mosaic' },
]

interface Place {
  x: number
  y: number
  z: number
}
interface Document {
  gnss: { state: { status: string }; ref: { survey: Place; chosen: string } }
}

function variant(folder: string, name: string, plugins: object, changes: object = {}): string {
  const file = join(folder, `${name}.json`)
  const all = { 'http-api': {}, system: {}, ...plugins }
  writeFileSync(file, JSON.stringify({ name, hardware: 'test', simulator: true, changes, plugins: all }))
  return file
}

/** The receiver in a process of its own, and what starts the service beside it. */
async function setUp(t: Test, { driver, simulator }: (typeof families)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-kill-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const tcp = await freeTcpPort()
  const receiver = await startStation([variant(folder, 'receiver', { [simulator]: { tcp } })])
  t.teardown(() => receiver.end('SIGKILL'))
  const rovers = await freeTcpPort()
  const plugins = {
    gnss: {},
    [driver]: { port: `tcp://127.0.0.1:${tcp}` },
    rtcm: {},
    integrity: { initial_s: 10 },
    'survey-in': {},
    'rtcm-tcp': { host: '127.0.0.1' },
  }
  const changes = { 'gnss-survey-mintime': 15, 'gnss-survey-accuracy': 5, 'rtcm-tcp-port': rovers }
  const base = variant(folder, 'base', plugins, changes)
  const data = join(folder, 'data')
  return () => startStation([base], { data })
}

async function killed(t: Test, family: (typeof families)[number]): Promise<void> {
  const random = seeded(t)
  const start = await setUp(t, family)
  let station = await start()
  t.teardown(() => station.end('SIGKILL'))
  const gnss = async () => (await station.info<Document>()).gnss
  const arrives = async (at: readonly string[]) => {
    const isThere = async () => at.includes((await gnss()).state.status)
    await until(isThere, `${family.name}: ${at.join(' or ')}`)
    return (await gnss()).ref
  }
  const kill = async () => {
    await station.end('SIGKILL')
    station = await start()
  }
  await arrives(['survey', 'fixed'])
  await kill()
  const before = await arrives(['fixed'])
  t.ok(before.survey.x > 1e6, 'a base after its survey was cut short')
  await kill()
  await new Promise((resolve) => setTimeout(resolve, 1500 * random.uniform()))
  await kill()
  const after = await arrives(['fixed'])
  t.strictSame(after, before, 'a base again with the same position')
}

t.test(
  'killed in its survey, as a base and while it starts, beside a receiver that stays on: it comes back with the same position',
  { skip: gateOnly, jobs: families.length },
  async (t) => {
    for (const family of families) t.test(family.name, { buffered: true }, (t) => killed(t, family))
  },
)
