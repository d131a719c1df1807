import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type pino from 'pino'
import api from '../../plugins/mqtt/mqtt-api/index.js'
import link from '../../plugins/mqtt/mqtt-link/index.js'
import { createRuntime, type Runtime } from '../../runtime/index.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import { definePlugin, type PluginDefinition } from '../../runtime/plugin.js'
import { until } from '../harness/manual-clock.js'
import { MemoryStore } from '../harness/memory-store.js'
import { createPki } from '../harness/peers/certificates.js'
import { clientArguments, retainedCount, startMosquitto } from '../harness/peers/mosquitto.js'
import { atMost, figure, lost, type Measurement } from './measurement.js'
import { definePart, pause, progress } from './part.js'

interface Size {
  readonly stations: number
  /** The longest is far above the back-off, so that it is spread as far as it goes. */
  readonly outages_s: readonly number[]
}

const allBack_s = 120
/** Per cent; a broker that is back within a second meets those whose first retry was not due yet. */
const mostAtOnce = 75

/** What happened to the fleet, in seconds of the process. */
class Watch {
  /** Sessions that were accepted. */
  readonly sessions: number[] = []
  /** Attempts to connect. */
  readonly attempts: number[] = []

  clear(): void {
    this.sessions.length = 0
    this.attempts.length = 0
  }
}

const now_s = () => performance.now() / 1_000

/** Events per second from `from_s` on. */
function perSecond(events_s: readonly number[], from_s: number): number[] {
  const counts: number[] = []
  for (const at_s of events_s) {
    const second = Math.max(0, Math.floor(at_s - from_s))
    counts[second] = (counts[second] ?? 0) + 1
  }
  return Array.from(counts, (count) => count ?? 0)
}

/** How the fleet and its broker talk. */
interface Transport {
  name: string
  /** Of mosquitto's configuration. */
  lines: string[]
  /** Of mqtt-link. */
  options: Record<string, unknown>
  /** How the mosquitto programs reach it. */
  client: (port: number) => string[]
}

/** One certificate for all: a handshake costs the same whoever it is for. */
function transports(folder: string): Transport[] {
  const pki = createPki(join(folder, 'pki'), 'fleet')
  const tls = [
    `cafile ${pki.ca}`,
    `certfile ${pki.server.cert}`,
    `keyfile ${pki.server.key}`,
    'require_certificate true',
  ]
  return [
    { name: 'plain TCP', lines: [], options: { insecure: true }, client: (port) => clientArguments(port) },
    {
      name: 'TLS with client certificates',
      lines: tls,
      options: { ca: pki.ca, ...pki.device },
      client: (port) => clientArguments(port, pki),
    },
  ]
}

async function startOne(
  index: number,
  port: number,
  options: Record<string, unknown>,
  watch: Watch,
  folder: string,
): Promise<Runtime> {
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: '^1.0.0',
    setup: (ctx) => ctx.hooks.onMqttConnect.tap(() => void watch.sessions.push(now_s())),
  })
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (chunk.includes('"next":"connecting"')) watch.attempts.push(now_s())
      done()
    },
  })
  return createRuntime({
    base: process.cwd(),
    machine: new SimulatedMachine(() => {}),
    release: { version: '0.0.0-bench', sha256: '0'.repeat(64), built: '2020-01-01T00:00:00.000Z' },
    data: join(folder, String(index)),
    store: new MemoryStore(),
    log: createLogger({ level: 'debug', destination: destination as unknown as pino.DestinationStream }),
    definitions: {
      'mqtt-api': api as unknown as PluginDefinition,
      'mqtt-link': link as unknown as PluginDefinition,
      probe: probe as unknown as PluginDefinition,
    },
    variant: {
      name: 'bench',
      hardware: 'bench',
      serial: `FLEET${index}`,
      simulator: true,
      http: { host: '127.0.0.1', port: 0 },
      changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port },
      plugins: { 'mqtt-api': {}, 'mqtt-link': options, probe: {} },
    },
  })
}

/** 500 stations and one mosquitto: connect, publish, and come back after the broker was gone, without coming all at once. */
export const part = definePart<Size>({
  sizes: { full: { stations: 500, outages_s: [1, 10, 60] }, smoke: { stations: 10, outages_s: [1] } },
  peers: ['mosquitto', 'openssl'],
  notComparable: 'its stations share one process with this tree',
  async run(size) {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-fleet-'))
    const results: Measurement[] = []
    try {
      for (const transport of transports(folder)) results.push(...(await benchTransport(transport, folder, size)))
      return results
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

async function benchTransport(
  { name, lines, options, client }: Transport,
  folder: string,
  { stations, outages_s }: Size,
): Promise<Measurement[]> {
  const broker = await startMosquitto(['allow_anonymous true', 'max_queued_messages 0', ...lines])
  const watch = new Watch()
  const fleet: Runtime[] = []
  const results: Measurement[] = []
  const online = () => retainedCount(client(broker.port), 'base/+/online', stations)
  try {
    for (let index = 0; index < stations; index++)
      fleet.push(await startOne(index, broker.port, options, watch, folder))
    await until(() => watch.sessions.length >= stations, 'the fleet is up', 60_000)
    const first = `${name}: stations without a retained y after the start`
    results.push(lost(first, stations, await online(), 'stations'))
    for (const outage_s of outages_s) {
      await broker.stop('SIGKILL')
      watch.clear()
      await pause(outage_s * 1_000)
      await broker.start()
      const from_s = now_s()
      await until(() => watch.sessions.length >= stations, 'the fleet is back', 2 * allBack_s * 1_000)
      const back = perSecond(watch.sessions, from_s)
      // What is refused while nobody listens costs nobody anything.
      const tried = perSecond(
        watch.attempts.filter((at_s) => at_s >= from_s),
        from_s,
      )
      const what = `${name}, broker away for ${outage_s} s`
      const busiest = (100 * Math.max(...back)) / stations
      results.push(
        atMost(`${what}: all ${stations} back`, Math.max(...watch.sessions) - from_s, allBack_s, 's'),
        atMost(`${what}: share of the fleet in the busiest second`, busiest, mostAtOnce, '%'),
        figure(`${what}: attempts in the busiest second`, Math.max(...tried), '/s'),
        lost(`${what}: stations without a retained y afterwards`, stations, await online(), 'stations'),
      )
      progress(`${what}: back per second  ${back.join(' ')}`)
    }
    return results
  } finally {
    await Promise.all(fleet.map((station) => station.stop()))
    await broker.stop('SIGKILL')
  }
}
