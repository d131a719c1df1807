import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownPorts } from '../harness/process.js'
import { addressOf, clientNumbers } from './addresses.js'
import { collector, processUse, smallMachine } from './edges.js'
import { atMost, figure, lost } from './measurement.js'
import { definePart, pause } from './part.js'
import { startStation } from './stations.js'

interface Size {
  readonly requests: number
  /** At a time, each from an address of its own. */
  readonly clients: number
  readonly calm_ms: number
}

type Sent = { method: string; path: string; body?: string; headers?: Record<string, string> }

/** A change of thousands of names that nobody has: all of them come back in `leftover`. */
const unknownNames = (seed: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 2_500 }, (_, i) => [`k${i}-${seed}`, [i]])))
const change = (body: string): Sent => ({ method: 'POST', path: '/change', body })

/** What is well-formed HTTP and nothing that a client of the station would send. */
const wellFormed: ((n: number) => Sent)[] = [
  () => change(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`),
  () => change(`${'['.repeat(30_000)}${']'.repeat(30_000)}`),
  (n) => change(unknownNames(n % 40)),
  () => change('x'.repeat(65_000)),
  () => change('x'.repeat(70_000)),
  () => change('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}'),
  (n) => ({ method: 'POST', path: '/nvs?namespace=y', body: unknownNames(n % 40) }),
  (n) => ({ method: 'POST', path: `/system?${'x'.repeat(4_000)}${n}` }),
  (n) => ({ method: 'GET', path: `/get-info?${n * 7_919}` }),
  (n) => ({ method: 'GET', path: '/get-info', headers: { host: `evil${n}.example` } }),
  (n) => ({ method: 'POST', path: '/change', body: '{}', headers: { origin: `http://evil${n}.example` } }),
  (n) => ({
    method: 'GET',
    path: '/get-info',
    headers: { cookie: `rtk-base-session=${String(n).padStart(43, 'A')}` },
  }),
]

/** What is no HTTP, or smuggles. */
const malformed = [
  'GET /get-info HTTP/1.1\r\nhost: localhost\r\nx: '.concat('y'.repeat(20_000), '\r\n\r\n'),
  'POST /change HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /',
  '\x16\x03\x01 hello\r\n\r\n',
]

interface Answers {
  /** Well-formed requests, whose whole body fits. */
  wellFormed: number
  answered: number
}

/** Sends them all from a bounded number of clients; whatever is answered is read and dropped. */
async function attack(url: string, { requests, clients }: Size): Promise<Answers> {
  const { hostname, port } = new URL(url)
  const answers: Answers = { wellFormed: 0, answered: 0 }
  const ask = ({ method, path, body, headers = {} }: Sent, agent: Agent) =>
    new Promise<void>((resolve) => {
      // What is too large for the station may lose its connection before it is sent.
      const isJudged = (body?.length ?? 0) < 65_536
      answers.wellFormed += Number(isJudged)
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const sent = request({ hostname, port, method, path, agent, headers: { ...headers, ...length } }, (answer) => {
        answers.answered += Number(isJudged)
        answer.resume().once('close', resolve)
      })
      sent.once('error', () => resolve())
      sent.end(body)
    })
  const sendRaw = async (bytes: string, localAddress: string) => {
    const socket = connect({ port: Number(port), host: hostname, localAddress })
    socket.on('error', () => {}).resume()
    socket.write(bytes)
    await once(socket, 'close')
  }
  let next = 0
  const first = clientNumbers(clients)
  const client = async (_: unknown, number: number) => {
    const localAddress = addressOf(first + number)
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress })
    while (next < requests) {
      const n = next++
      const kind = n % (wellFormed.length + malformed.length)
      const make = wellFormed[kind]
      await (make ? ask(make(n), agent) : sendRaw(malformed[kind - wellFormed.length] as string, localAddress))
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, client))
  return answers
}

/** Hostile requests at a station as it runs on a small machine: what they leave behind, and how much of it is held. */
export const part = definePart<Size>({
  sizes: {
    full: { requests: 8_000, clients: 128, calm_ms: 15_000 },
    smoke: { requests: 300, clients: 32, calm_ms: 500 },
  },
  async run(size) {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-bench-'))
    const preload = join(folder, 'collect.cjs')
    writeFileSync(preload, collector)
    const { args } = await ownPorts()
    const station = await startStation(args, { nodeOptions: [...smallMachine, '--require', preload] })
    const resident_mb = () => processUse(station.child.pid as number).rss_bytes / 1e6
    const collected_mb = async () => {
      station.child.kill('SIGUSR2')
      await pause(2_000)
      return resident_mb()
    }
    const before = await collected_mb()
    const started = performance.now()
    const { wellFormed, answered } = await attack(station.url, size)
    const seconds = (performance.now() - started) / 1_000
    const after = resident_mb()
    await pause(size.calm_ms)
    const calm = resident_mb()
    const held = await collected_mb()
    const { status } = await fetch(`${station.url}/get-info`)
    await station.end()
    rmSync(folder, { recursive: true, force: true })
    return [
      lost('well-formed requests without an answer', wellFormed, answered),
      lost('answers 200 to a friend afterwards', 1, Number(status === 200)),
      figure(`${size.requests} hostile requests, ${size.clients} at a time`, size.requests / seconds, 'req/s'),
      figure('resident memory before them', before, 'MB', 120),
      atMost('resident memory right after them', after, 200, 'MB'),
      atMost(`resident memory ${size.calm_ms / 1_000} s later`, calm, 180, 'MB'),
      atMost('growth that a collection does not give back', held - before, 40, 'MB'),
    ]
  },
})
