/**
 * Strangers with 58 addresses attack a station of several processes and networks, while a client that behaves asks for the document and
 * reads RTCM at another cable. Nothing that they do is to be noticed there.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childEnv, machineOnly, readyBase, rtkBase, startStation, withSimulatedReceiver } from 'rtk-base/testing'
import t from 'tap'
import { packageRoot } from '../../runtime/platform/release.js'
import { processUse, smallMachine, unitEnvironment } from '../bench/edges.js'
import type { AttackerOptions } from '../harness/children/attacker.js'
import type { PoliteOptions, PoliteReport } from '../harness/children/polite-client.js'
import { createAuthority } from '../harness/peers/certificates.js'
import { noNamespaces, type Place, threeNetworksFor } from '../harness/peers/three-networks.js'

t.setTimeout(1_800_000)

const [http, tcp, caster, tls, udp, broker] = [8080, 5555, 2101, 2102, 2102, 1883]
const slowest_ms = 250
const longestGap_s = 3
const mostMemory_mb = 300
const mostLines = 10

/** What the strangers do, the ways in which a broker floods by its number among their addresses. */
const scenes = [
  'idle',
  'idle from all',
  'half-open TLS',
  'requests',
  'caster logins',
  'caster and TCP full of what is no request',
  'readers that do not read',
  'datagrams',
]
const brokers = ['PINGRESP', 'PUBACK', 'PUBREL', 'QoS 2', 'a foreign topic', 'commands', 'changes of 60 kB']

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const kindOf = (text: string) => text.replace(/[0-9a-f]*\d[0-9a-f.:]*/gi, '#').slice(0, 80)

/** The most lines of one kind in one minute. */
function busiest(output: string): [kind: string, lines: number] {
  const times = new Map<string, number[]>()
  let most: [string, number] = ['', 0]
  for (const line of output.split('\n')) {
    if (!line.startsWith('{')) continue
    const { plugin = '', msg, time } = JSON.parse(line) as { plugin?: string; msg: string; time: number }
    const kind = `${plugin}: ${kindOf(msg)}`
    const all = [...(times.get(kind) ?? []), time].filter((at_ms) => time - at_ms < 60_000)
    times.set(kind, all)
    if (all.length > most[1]) most = [kind, all.length]
  }
  return most
}

t.test(
  'strangers attack, a client that behaves notices nothing',
  { skip: machineOnly || noNamespaces() },
  async (t) => {
    const networks = threeNetworksFor(t)
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-attack-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const pem = createAuthority(folder).issue('caster', '/CN=caster', 'subjectAltName=IP:10.78.1.1\n')
    const [program, ...inStation] = networks.prefix('station')
    const variant = join(folder, 'variant.json')
    const device = JSON.parse(readFileSync(withSimulatedReceiver('zed-f9p', folder), 'utf8'))
    writeFileSync(variant, JSON.stringify({ ...device, serial: 'SIM00001', simulator: true, http: { port: http } }))
    // What a device runs: a checkout reads maps of its sources at the first error, which take 20 MB.
    const built = join(folder, 'built')
    t.match(await rtkBase(['build', variant, '--out', built]), { code: 0 })
    const sets = [
      `http.port=${http}`,
      `ntrip-caster.tls=${JSON.stringify({ port: tls, cert: pem.cert, key: pem.key })}`,
      'mqtt-link.insecure=true',
      // As the unit of the Debian package says.
      'watchdog.memory_mb=436',
      'mqtt-link.brokerTrial=0',
    ]
    const changes = [
      `rtcm-tcp-port=${tcp}`,
      `udp-port=${udp}`,
      `ntrip-caster-port=${caster}`,
      'ntrip-caster-anonymous=1',
      `mqtt-port=${broker}`,
    ]
    const args = [...sets.flatMap((text) => ['--set', text]), ...changes.flatMap((text) => ['--change', text])]
    const station = await startStation([...readyBase, ...args], {
      execPath: program,
      entry: join(built, 'rtk-base.mjs'),
      // As on a device: the machine of a test has memory to waste.
      nodeOptions: [...inStation, 'env', ...unitEnvironment, process.execPath, ...smallMachine],
    })
    t.teardown(() => station.end())
    const pid = station.child.pid as number

    const child = async (place: Place, file: string, ...args: string[]): Promise<ChildProcess> => {
      const [ip, ...prefix] = networks.prefix(place)
      const script = join(packageRoot(), 'build', 'test', 'harness', 'children', file)
      const started = spawn(ip, [...prefix, process.execPath, script, ...args], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        env: childEnv(),
      })
      t.teardown(() => void started.kill('SIGKILL'))
      return started
    }
    const answerOf = async <T>(from: ChildProcess) => ((await once(from, 'message')) as [T])[0]

    const yard = await child('station', 'polite-client.js', 'yardstick')
    const { port: yardstick } = await answerOf<{ port: number }>(yard)
    const ports = { http, tcp, caster, udp }
    const politeOptions: PoliteOptions = { pid, host: networks.station.polite, yardstick, ...ports }
    const polite = await child('polite', 'polite-client.js', 'polite', JSON.stringify(politeOptions))
    const { strangers: addresses } = networks
    const attackerOptions: AttackerOptions = { host: networks.station.hostile, ...ports, tls, broker, addresses }
    const attacker = await child('hostile', 'attacker.js', JSON.stringify(attackerOptions))
    await answerOf(attacker)

    let peak_mb = 0
    const resident_mb = () => processUse(pid).rss_bytes / 1e6
    const sampling = setInterval(() => {
      peak_mb = Math.max(peak_mb, resident_mb())
    }, 250)
    t.teardown(() => clearInterval(sampling))

    /** What the client sees while the strangers do this. */
    const watched = async (name: string, doing: () => Promise<unknown>) => {
      peak_mb = 0
      polite.send('reset')
      const did = JSON.stringify(await doing())
      polite.send('report')
      const report = await answerOf<PoliteReport>(polite)
      const { answers, worst_ms, own_ms, yardstick_ms, gaps_s } = report
      const gaps = Object.entries(gaps_s).map(([way, gap_s]) => `${way} ${gap_s.toFixed(1)} s`)
      const text = `${answers} answers, slowest ${worst_ms.toFixed(0)} ms, ${own_ms.toFixed(0)} ms of them the station's (bare server ${yardstick_ms.toFixed(0)} ms), RTCM ${gaps.join(', ')}, ${peak_mb.toFixed(0)} MB, ${did}`
      t.comment(`${name}: ${text}`)
      return { ...report, text }
    }
    const holds = (
      name: string,
      { answers, failed, own_ms, yardstick_ms, gaps_s, text }: PoliteReport & { text: string },
    ) => {
      t.same(failed, [], `${name}: every request of the client is answered`)
      t.ok(answers >= 8, `${name}: ${answers} answers`)
      // A busy machine lets the station wait for a processor, and the client too: that of a bare server is known.
      t.ok(own_ms <= slowest_ms + yardstick_ms, `${name}: ${text}`)
      for (const way of ['tcp', 'ntrip', 'udp'])
        t.ok((gaps_s[way] ?? 99) <= longestGap_s, `${name}: RTCM by ${way}: ${text}`)
      t.ok(peak_mb <= mostMemory_mb, `${name}: ${peak_mb.toFixed(0)} MB`)
    }

    // Until then it compiles what it runs.
    await pause(15_000)
    const calm = await watched('nobody attacks', () => pause(10_000))
    holds('nobody attacks', calm)
    const before_mb = resident_mb()

    /** `RTK_BASE_ATTACK=requests` for that scene alone. */
    const isWanted = (name: string) => (process.env.RTK_BASE_ATTACK ?? name) === name
    for (const scene of scenes.filter(isWanted)) {
      const did = async () => {
        attacker.send(scene)
        return answerOf(attacker)
      }
      holds(scene, await watched(scene, did))
    }
    for (const [n, name] of brokers.entries()) {
      if (!isWanted(name)) continue
      const did = async () => {
        polite.send({ change: { 'mqtt-host': addresses[n] } })
        attacker.send('wait')
        const report = await answerOf<{ opened: number }>(attacker)
        t.ok(report.opened > 0, `a broker with ${name}: the station subscribed`)
        return report
      }
      holds(`a broker with ${name}`, await watched(`a broker with ${name}`, did))
    }

    polite.send({ change: { 'mqtt-host': '' } })
    await pause(60_000)
    const after_mb = resident_mb()
    t.comment(`resident memory: ${before_mb.toFixed(0)} MB before, ${after_mb.toFixed(0)} MB a minute after`)
    t.ok(after_mb <= before_mb * 1.2, `${after_mb.toFixed(0)} MB a minute after, ${before_mb.toFixed(0)} MB before`)
    t.equal(station.child.exitCode, null, 'the station runs')
    t.notMatch(station.output(), /event loop/, 'no stall')
    t.match(JSON.parse(readFileSync(join(station.data, 'run.json'), 'utf8')), { stalls: [] })
    const [kind, lines] = busiest(station.output())
    t.comment(`the busiest kind of line: ${lines} in a minute: ${kind}`)
    t.ok(lines <= mostLines, `${lines} lines in a minute: ${kind}`)
  },
)
