/**
 * Endurance: the real application with all that comes and goes around it for hours. Whatever grows with the time is a leak: objects by
 * constructor, listeners, handles, timers, memory, bytes written, log lines. `RTK_BASE_SOAK_MIN` sets its minutes.
 */
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineOnly, ownPorts, startStation, until } from 'rtk-base/testing'
import t from 'tap'
import { ControlClient } from '../../runtime/control/client.js'
import { openEvents } from '../harness/peers/event-stream.js'
import { growthOf, held, lookInto } from '../harness/peers/growth.js'
import { mosquittoFor } from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'

const minutes = Number(process.env.RTK_BASE_SOAK_MIN ?? 120)
/** Caches fill and code is compiled until then; long soaks wait until the rings of an hour are full. */
const warmUp_min = Math.min(minutes / 4, 65)
/** Every so many seconds a rover comes, the broker goes or comes, … Not multiples of each other: everything meets everything. */
const every_s = { page: 2, router: 5, rover: 7, eventStream: 31, reload: 37, broker: 53 }
/** A plugin that is loaded again gives everything back, leaks too: those that hold the long-lived connections stay. */
const reloaded = ['http-api', 'udp-rtcm', 'ntrip-caster', 'rtcm-tcp', 'leds']
/** What is still open when the coming and going stops is over by then. */
const rest_s = 30

t.setTimeout((minutes + 30) * 60_000)

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))

t.test(`${minutes} minutes: nothing grows`, { skip: machineOnly || noPeer('mosquitto') }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-soak-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const broker = await mosquittoFor(t, ['allow_anonymous true'])
  const { args, udp } = await ownPorts()
  const changes = ['mqtt-host=127.0.0.1', `mqtt-port=${broker.port}`, 'ntrip-caster-anonymous=1']
  // To write a heap down takes longer than a plugin may block.
  const sets = ['watchdog.limit_s=0', 'mqtt-link.brokerTrial=0']
  const station = await startStation(
    [...args, ...changes.flatMap((text) => ['--change', text]), ...sets.flatMap((text) => ['--set', text])],
    { nodeOptions: lookInto(folder) },
  )
  t.teardown(() => station.end())
  const { ntrip } = await station.info<{ ntrip: { caster: { port: number } } }>()
  const control = await ControlClient.open(station.data)
  t.teardown(() => control.close())
  const status = async () => (await station.info<{ gnss: { state: { status: string } } }>()).gnss.state.status
  await until(async () => (await status()) === 'fixed', 'fixed', 180_000)

  const failed = new Set<string>()
  const tried = (what: string, doing: () => Promise<unknown>) =>
    doing().catch((error) => void failed.add(`${what}: ${(error as Error).message}`))
  let casterPort = ntrip.caster.port
  const rover = async () => {
    const socket = connect(casterPort, '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write('GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP soak\r\n\r\n')
    await pause(3)
    socket.write('$GPGGA,120000.00,5206.00000,N,00418.00000,E,4,12,0.8,10.0,M,46.0,M,1.0,0001*5E\r\n')
    await pause(15)
    socket.destroy()
  }
  const subscriber = async () => {
    const socket = createSocket('udp4')
    socket.on('error', () => {})
    socket.send('soak', udp, '127.0.0.1')
    await pause(15)
    socket.close()
  }
  let [reloads, isBrokerUp] = [0, true]
  const doings: Record<keyof typeof every_s, () => Promise<unknown>> = {
    page: () => station.info(),
    router: () => fetch(`${station.url}/system?pull-vendor-data`, { method: 'POST' }).then((answer) => answer.text()),
    rover: () => Promise.all([rover(), subscriber()]),
    async eventStream() {
      const stream = await openEvents(station.url)
      await pause(20)
      stream.close()
    },
    async reload() {
      await control.call('reload', { plugin: reloaded[reloads++ % reloaded.length] })
      casterPort = (await station.info<{ ntrip: { caster: { port: number } } }>()).ntrip.caster.port || casterPort
    },
    async broker() {
      isBrokerUp = !isBrokerUp
      await (isBrokerUp ? broker.start() : broker.stop())
    },
  }

  /** Everything comes and goes for so many minutes, then rests; what the station holds then. */
  const lived = async (minutes: number) => {
    const under = new Set<Promise<unknown>>()
    const end_ms = performance.now() + minutes * 60_000
    for (let second = 0; performance.now() < end_ms; second++) {
      for (const [what, doing] of Object.entries(doings)) {
        if (second % every_s[what as keyof typeof every_s] !== 0) continue
        const one: Promise<unknown> = tried(what, doing).finally(() => under.delete(one))
        under.add(one)
      }
      await pause(1)
    }
    await Promise.all(under)
    if (!isBrokerUp) await doings.broker()
    await until(
      async () => (await station.info<{ mqtt: { state: { link: string } } }>()).mqtt.state.link === 'up',
      'the link is up',
      120_000,
    )
    await pause(rest_s)
    const holds = await held(station, folder)
    // It stood still for so long that the receiver was lost.
    await until(async () => (await status()) === 'fixed', 'fixed again', 180_000)
    return holds
  }

  await lived(warmUp_min / 2)
  // The first look at the heap leaves traces of its own.
  const before = await lived(warmUp_min / 2)
  const measured_min = minutes - warmUp_min
  const middle = await lived(measured_min / 2)
  const after = await lived(measured_min / 2)

  const mb = (bytes: number) => (bytes / 1e6).toFixed(1)
  const perMinute = (count: (from: typeof before, to: typeof before) => number) =>
    [[before, middle] as const, [middle, after] as const].map(
      ([from, to]) => (count(from, to) / (to.at_ms - from.at_ms)) * 60_000,
    ) as [number, number]
  const moments = [before, middle, after]
  t.comment(`memory in use: ${moments.map(({ used_bytes }) => mb(used_bytes)).join(' → ')} MB`)
  t.comment(`handles: ${moments.map(({ handles }) => JSON.stringify(handles)).join(' → ')}`)
  t.comment(`objects: ${moments.map(({ objects }) => [...objects.values()].reduce((sum, n) => sum + n)).join(' → ')}`)
  const lines = perMinute((from, to) => to.logLines - from.logLines)
  const written = perMinute((from, to) => to.written_bytes - from.writtenAfter_bytes)
  t.comment(`log lines a minute: ${lines.map((n) => n.toFixed(1)).join(' → ')}`)
  t.comment(`written a minute: ${written.map((n) => (n / 1e3).toFixed(0)).join(' → ')} kB; ${reloads} reloads`)
  t.same([...failed], [], 'everything that came was served')
  t.same(growthOf(before, middle, after), [], 'nothing is held that was not held before')
  t.ok(
    after.used_bytes < before.used_bytes * 1.05 + 4e6,
    `${mb(before.used_bytes)} → ${mb(after.used_bytes)} MB in use`,
  )
  t.ok(lines[1] < lines[0] * 1.5 + 3, `${lines.map((n) => n.toFixed(1)).join(' → ')} log lines a minute`)
  t.ok(written[1] < written[0] * 1.5 + 100e3, `${written.map(mb).join(' → ')} MB written a minute`)
})
