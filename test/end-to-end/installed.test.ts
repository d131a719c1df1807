/**
 * Existing installations: the variants and data folders that earlier versions left behind run unchanged, lose nothing, and can go back.
 * `installed/` has what they wrote themselves: the release 0.2.0, and the last version in which simulators and evidence were parts of the
 * plugins of receiver, router and procedure.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { few, freeTcpPort, freeUdpPort, gateOnly, startStation, until } from '../harness/index.js'

const installed = join(packageRoot(), 'test', 'end-to-end', 'installed')

type Entries = Map<string, unknown>

/** What the newest snapshot in a folder holds, by `namespace key`. */
function entriesOf(text: string): Entries {
  const { entries } = JSON.parse(text.slice(text.indexOf('{'))) as { entries: [string, string, unknown][] }
  return new Map(entries.map(([namespace, key, value]) => [`${namespace} ${key}`, value]))
}

function newest(store: string): string {
  const texts = readdirSync(store)
    .filter((name) => name.startsWith('snapshot-'))
    .map((name) => readFileSync(join(store, name), 'utf8'))
  const numberOf = (text: string) => Number(/^number (\d+)$/m.exec(text)?.[1])
  return texts.sort((a, b) => numberOf(b) - numberOf(a))[0]
}

/** Every path of an object, as an earlier version reads it. */
const pathsOf = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, `${path}.${name}`))
    : [path]

/** A copy of a data folder, as its station left it. */
function copyOf(t: Test, version: string): string {
  const data = mkdtempSync(join(tmpdir(), 'rtk-base-installed-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const put = (from: string, to: string) => {
    mkdirSync(dirname(join(data, to)), { recursive: true })
    copyFileSync(join(installed, version, from), join(data, to))
  }
  put('snapshot', version === '0.2.0' ? 'store/snapshot-1' : 'store/snapshot-0')
  writeFileSync(join(data, 'store', '.founded'), '')
  if (readdirSync(join(installed, version)).includes('main.record'))
    put('main.record', 'files/record/main/00000001.record')
  return data
}

interface Document {
  gnss: {
    state: { status: string }
    ref: { survey: Record<string, unknown> }
    rtcm: { arp?: unknown }
  }
  udp: { config: { port: number } }
}

for (const [version, added] of [
  ['0.2.0', ['gnss', 'integrity', 'verdict', 'simulated-receiver']],
  ['after-0.2.0', ['gnss', 'integrity', 'verdict', 'simulated-receiver', 'simulated-router', 'simulated-machine']],
] as const) {
  t.test(`the simulator of ${version}, with its data`, { skip: gateOnly }, async (t) => {
    const before = entriesOf(readFileSync(join(installed, version, 'snapshot'), 'utf8'))
    const data = copyOf(t, version)
    const ports = ['--set', `mqtt-broker.port=${await freeTcpPort()}`, '--change', `udp-port=${await freeUdpPort()}`]
    const caster = version === '0.2.0' ? [] : ['--change', 'ntrip-caster-port=0', '--set', 'mdns.interfaces=["lo"]']
    const variant = join(installed, version, 'simulator.json')
    const station = await startStation([variant, ...ports, ...caster], { data })
    t.teardown(() => station.end())
    const said = station
      .output()
      .split('\n')
      .find((line) => /plugins? .* (is|are) added|added/.test(line))
    for (const name of added) t.match(said, name, `${name} was a part of another: the log says that it is added`)

    await until(async () => (await station.info<Document>()).gnss.state.status === 'fixed', 'fixed again')
    const { gnss } = await station.info<Document>()
    const { mean } = before.get('plugin.survey-in survey') as { mean: { x: number; y: number; z: number } }
    t.match(gnss.ref.survey, { state: 'complete', ...mean }, 'the position that it had, not another survey')
    if (version !== '0.2.0') {
      const record = await (await fetch(`${station.url}/record?from=2026-11-24T00:00&to=2026-11-25T00:00`)).text()
      t.match(record, /"t":17955176\d\d/, 'its record is there')
    }
    t.match(await station.end(), { code: 0 })

    const after = entriesOf(newest(join(data, 'store')))
    for (const [key, value] of before) {
      if (key === 'config udp-port') continue
      t.ok(after.has(key), `${key} is there`)
      // Of the last trusted moment 0.2.0 kept the live position alone: without it, it begins with the start-up check.
      const own = key === 'plugin.survey-in trusted' ? /^\.live\./ : /^$/
      const lacks = pathsOf(value).filter((path) => path && !own.test(path) && !pathsOf(after.get(key)).includes(path))
      t.same(lacks, [], `${key} has all that the version before reads`)
      if (key.startsWith('config ')) t.same(after.get(key), value, key)
    }
    t.equal((after.get('protected.system bootcnt') as number) - (before.get('protected.system bootcnt') as number), 1)
    t.equal(after.get('protected.teltonika-router default') === undefined, version === '0.2.0')
  })
}

t.test('the variants of devices run unchanged', async (t) => {
  for (const [version, name] of few(1, [
    ['0.2.0', 'zed-f9p'],
    ['after-0.2.0', 'zed-f9p'],
    ['after-0.2.0', 'zed-full'],
  ] as const)) {
    const hosts = ['http', 'udp-rtcm', ...(version === '0.2.0' ? [] : ['ntrip-caster'])].map(
      (section) => `${section}.host=127.0.0.1`,
    )
    const set = [
      ...hosts,
      'gnss-zed.port=/dev/there-is-none',
      ...(version === '0.2.0' ? [] : ['mdns.interfaces=["lo"]']),
    ]
    const variant = join(installed, version, `${name}.json`)
    const ports = ['--change', `udp-port=${await freeUdpPort()}`]
    const station = await startStation([variant, ...set.flatMap((one) => ['--set', one]), ...ports])
    t.match(await station.info(), { gnss: { state: { status: /.+/ } }, base: {} }, `${name} of ${version}`)
    t.match(await station.end(), { code: 0 }, `${name} of ${version}`)
  }
})
