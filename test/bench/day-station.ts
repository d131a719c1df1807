/**
 * Run as a child of day.ts, with --expose-gc: the whole simulated station lives through a day on a manual clock, in use by
 * subscribers, an HTTP client and a person. Tells its memory every simulated hour.
 */
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type pino from 'pino'
import { createRuntime } from '../../runtime/index.js'
import { createLogger } from '../../runtime/platform/log/log.js'
import { SimulatedMachine } from '../../runtime/platform/ports/machine.js'
import { readVariant } from '../../runtime/tools/cli/variant-file.js'
import { ManualClock, until } from '../harness/manual-clock.js'
import { freeUdpPort } from '../harness/process.js'
import { addressOf } from './addresses.js'
import type { Hour } from './day.js'

const [hours, hour_s] = process.argv.slice(2).map(Number) as [number, number]

const udpPort = await freeUdpPort()
const { variant, base } = readVariant('simulator')
const data = mkdtempSync(join(tmpdir(), 'rtk-base-day-'))
const clock = new ManualClock()
const runtime = await createRuntime({
  variant: { ...variant, http: { host: '127.0.0.1', port: 0 } },
  base,
  data,
  clock,
  machine: new SimulatedMachine(() => {}),
  log: createLogger({
    destination: new Writable({ write: (_line, _, done) => done() }) as unknown as pino.DestinationStream,
  }),
  changes: { 'udp-port': String(udpPort) },
  sets: new Map([['mqtt-broker', [{ path: 'port', text: '0' }]]]),
})
const { station } = runtime

const subscribers = await Promise.all(
  Array.from({ length: 4 }, async (_, n) => {
    const seen = { frames: 0 }
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, addressOf(n), resolve))
    socket.on('message', () => {
      seen.frames += 1
    })
    return { seen, socket, ask: () => socket.send(`rover ${n}`, udpPort, '127.0.0.1') }
  }),
)

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const request = () =>
  new Promise<void>((resolve, reject) => {
    get({ port: runtime.address.port, path: '/get-info', agent }, (answer) => answer.resume().on('end', resolve)).on(
      'error',
      reject,
    )
  })

/** What goes on around a station, second by second. */
async function second(n: number): Promise<void> {
  if (n % 30 === 0) for (const { ask } of subscribers) ask()
  if (n % 10 === 0) await request()
  if (n % 600 === 0) await station.change({ 'mqtt-rtcm-rate': 1 + ((n / 600) % 2) }, { source: 'http' })
  // Once an hour the receiver loses its power for some seconds.
  if (n % hour_s === hour_s / 2) await station.command('sim=unplug', { source: 'console' })
  if (n % hour_s === hour_s / 2 + 5) await station.command('sim=replug', { source: 'console' })
  // In parts, so that what comes by real sockets is seen in between.
  for (let part = 0; part < 4; part++) await clock.advance(250)
}

function memory(): Pick<Hour, 'rss_bytes' | 'heap_bytes'> {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss_bytes: rss, heap_bytes: heapUsed }
}

const linkState = () => (station.document().mqtt as { state: { link: string } }).state.link
await until(async () => {
  await clock.advance(100)
  return linkState() === 'up'
}, 'the link to the broker')
for (let hour = 1; hour <= hours; hour++) {
  const started = performance.now()
  for (const { seen } of subscribers) seen.frames = 0
  for (let n = (hour - 1) * hour_s; n < hour * hour_s; n++) await second(n)
  const { state } = station.document().gnss as { state: { status: string } }
  const frames = subscribers.map(({ seen }) => seen.frames)
  const report: Hour = {
    ...memory(),
    status: state.status,
    link: linkState(),
    frames: Math.min(...frames),
    missed: Math.max(...frames) - Math.min(...frames),
    took_ms: performance.now() - started,
  }
  process.send?.(report)
}
for (const { socket } of subscribers) socket.close()
agent.destroy()
await runtime.stop()
rmSync(data, { recursive: true, force: true })
process.disconnect?.()
