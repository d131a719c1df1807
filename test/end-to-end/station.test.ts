import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { decodeMsm, decodeRtcm, distance, Framer, isMsm, messageNumber } from '../../runtime/lib/gnss/index.js'
import type { Ecef } from '../../schemas/services.js'
import { capture, noCaptures } from '../harness/captures.js'
import {
  few,
  freeUdpPort,
  gateOnly,
  listeningTo,
  openPty,
  ownPorts,
  readyBase,
  rtkBase,
  sample,
  startStation,
  until,
} from '../harness/index.js'
import { longestWait_ms } from '../harness/longest-wait.js'
import { noPeer } from '../harness/peers/peers.js'
import { seeded } from '../harness/seeded.js'
import { smallVariant } from '../harness/small-variant.js'

/** The parts of the document that these tests look at. */
interface Document {
  gnss: { state: { status: string }; rtcm: { subscribers: { via: string }[] } }
  pair: { a: number; b: number }
}

/** A rover on loopback: every datagram it got, and when. */
async function rover(t: Test, port: number) {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const frames: Buffer[] = []
  const at_ms: number[] = []
  socket.on('message', (frame) => {
    frames.push(frame)
    at_ms.push(performance.now())
  })
  const ask = () => socket.send('rover', port, '127.0.0.1', () => {})
  ask()
  const again = setInterval(ask, 20)
  t.teardown(() => {
    clearInterval(again)
    socket.close()
  })
  return { frames, at_ms, types: () => frames.map((frame) => messageNumber(frame)) }
}

/** The valid RTCM frames of a byte stream, in order. */
function rtcmOf(bytes: Uint8Array): Buffer[] {
  const frames: Buffer[] = []
  const framer = new Framer({
    onFrame: (frame) => void (frame.kind === 'rtcm' && frames.push(Buffer.from(frame.bytes))),
  })
  framer.push(bytes, 0)
  framer.flush()
  return frames
}

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-e2e-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A station with a receiver at a port, that sends to rovers, and no more. */
async function listeningStation(t: Test, port: string, ...more: string[]) {
  const udp = await freeUdpPort()
  const variant = smallVariant(temporary(t), { 'udp-rtcm': { host: '127.0.0.1' } }, { 'udp-port': udp })
  return { udp, start: () => startStation([variant, ...listeningTo(port), ...more]) }
}

/** Writes at the rate of a serial line. */
async function feed(path: string, bytes: Uint8Array, bytesPerSecond: number): Promise<void> {
  const { open } = await import('node:fs/promises')
  const file = await open(path, 'w')
  const step = Math.round(bytesPerSecond / 100)
  const start = performance.now()
  for (let at = 0; at < bytes.length; at += step) {
    await file.write(bytes.subarray(at, at + step))
    const due = start + ((at + step) / bytesPerSecond) * 1_000
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
  }
  await file.close()
}

t.setTimeout(900_000)

t.test('the simulator station: document, RTCM and status from an empty folder', async (t) => {
  const { args, udp } = await ownPorts()
  const station = await startStation(args)
  t.teardown(() => station.end())
  const blocks = Object.keys(await station.info())
  const wanted = ['esp', 'gnss', 'base', 'eth', 'wap', 'udp', 'mqtt', 'router', 'modem']
  t.strictSame(blocks.slice(0, wanted.length), wanted, 'in the order of the specification')
  const { frames, types } = await rover(t, udp)
  type Shown = { gnss: { state: { status: string }; ref: { survey: { state: string; count: number } } } }
  const survey = async () => (await station.info<Shown>()).gnss.ref.survey
  await until(async () => (await survey()).count > 0, 'the survey-in')
  t.match(await survey(), { state: 'running' })
  t.same(types(), [], 'nothing leaves before the reference is known')
  await until(
    () => [1005, 1074, 1084, 1094, 1124].every((type) => types().includes(type)),
    '1005 and MSM frames',
    60_000,
  )
  const arp = decodeRtcm(frames[types().indexOf(1005)])
  t.ok(arp?.type === 1005 && distance(arp, { x: 3925405.8088, y: 274491.1138, z: 5002842.746 }) < 5, 'near the truth')
  const { gnss } = await station.info<{ gnss: { ref: { survey: { state: string } & Ecef } } }>()
  t.equal(gnss.ref.survey.state, 'complete')
  // Receivers truncate what they send.
  t.ok(arp?.type === 1005 && distance(arp, gnss.ref.survey) < 0.001, 'the reference is what is sent')
  for (const frame of frames.filter((candidate) => isMsm(messageNumber(candidate)))) {
    const ranges = decodeMsm(frame)?.observations.map(({ pseudorange_m = 0 }) => pseudorange_m) ?? []
    t.ok(
      ranges.length > 0 && ranges.every((range) => range > 1.9e7 && range < 4.2e7),
      `plausible ranges in ${messageNumber(frame)}`,
    )
  }
  const { state, rtcm } = (await station.info<Document>()).gnss
  t.match(state, { status: 'fixed', satuse: Number })
  // The topic for RTCM over MQTT is one of them too.
  const of = (wanted: string) => rtcm.subscribers.filter(({ via }) => via === wanted)
  t.match(of('udp'), [{ name: 'rover' }])
  await until(
    async () => (await station.info<Document>()).gnss.rtcm.subscribers.some(({ via }) => via === 'mqtt'),
    'MQTT',
  )
})

t.test('the variant for a real receiver waits for one that is not there yet', { skip: gateOnly }, async (t) => {
  const { args } = await ownPorts()
  const nowhere = ['--set', `gnss-zed.port=${join(t.testdir(), 'zed')}`]
  const loopback = ['--set', 'http.host=127.0.0.1', '--set', 'udp-rtcm.host=127.0.0.1']
  const station = await startStation(['zed-f9p', ...args.slice(0, 2), ...nowhere, ...loopback])
  t.teardown(() => station.end())
  t.match(await station.info(), { gnss: { state: { status: 'offline' } }, esp: { hardware: 'zed-f9p' } })
})

t.test(
  'a capture through a real pty at 115,200 baud comes out of UDP byte for byte',
  { skip: noCaptures || noPeer('socat') || gateOnly },
  async (t) => {
    for (const name of few(1, ['gpsd_ublox-zed-f9t-rtcm3.log', 'hazer_ubx-zed-f9p-2.dat'])) {
      const bytes = capture(name) ?? new Uint8Array()
      const expected = rtcmOf(bytes)
      const pty = await openPty()
      t.teardown(() => pty.close())
      const { udp, start } = await listeningStation(t, pty.near, '--set', 'gnss-zed.baud=115200')
      const station = await start()
      t.teardown(() => station.end())
      const { frames } = await rover(t, udp)
      await station.subscribers(1)
      await feed(pty.far, bytes, 11_520)
      await until(() => frames.length >= expected.length, `${expected.length} frames of ${name}`)
      t.ok(Buffer.concat(frames).equals(Buffer.concat(expected)), `${name}: ${frames.length} frames, byte for byte`)
    }
  },
)

t.test('replay: brings a capture out at full speed, byte for byte', { skip: noCaptures }, async (t) => {
  for (const name of few(1, [
    'gpsd_ublox-zed-f9t-rtcm3.log',
    'swiftnav_week-rollover-STR24.rtcm3',
    'swiftnav_switch-legacy-msm-legacy-msm.rtcm',
  ])) {
    const file = join(temporary(t), 'capture')
    const bytes = capture(name) ?? new Uint8Array()
    writeFileSync(file, bytes)
    const expected = rtcmOf(bytes)
    const { udp, start } = await listeningStation(t, `replay:${file}`)
    const { frames } = await rover(t, udp)
    const station = await start()
    t.teardown(() => station.end())
    await until(() => frames.length >= expected.length, `${expected.length} frames of ${name}`).catch(() => {})
    t.equal(frames.length, expected.length, name)
    t.ok(Buffer.concat(frames).equals(Buffer.concat(expected)), `${name}: byte for byte`)
  }
})

t.test(
  'a pty that is pulled and given back many times: the state shows it, frames flow again',
  { skip: noPeer('socat') || gateOnly },
  async (t) => {
    const pty = await openPty()
    t.teardown(() => pty.close())
    const { udp, start } = await listeningStation(t, pty.near, '--set', 'gnss-zed.baud=115200')
    const station = await start()
    t.teardown(() => station.end())
    const { frames } = await rover(t, udp)
    const { arpFrame, msmFrame } = await import('../harness/index.js')
    const epoch = Buffer.concat([arpFrame({ x: 1, y: 2, z: 3 }), msmFrame(1074, 1, false)])
    const { constants, open } = await import('node:fs/promises')
    // A line that nobody reads must fail the test, not stop it.
    const sending = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY
    const full = (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EAGAIN') throw error
    }
    const status = async () => (await station.info<Document>()).gnss.state.status
    for (let round = 0; round < sample(3, 200, 8); round++) {
      const file = await open(pty.far, sending)
      const before = frames.length
      const back = performance.now()
      // As a receiver does: it goes on sending, whoever listens.
      while (frames.length === before && performance.now() - back < longestWait_ms) {
        await file.write(epoch).catch(full)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (!t.ok(frames.length > before, `round ${round}: it is back`)) t.comment(station.output().slice(-2_000))
      await file.close()
      await pty.pull()
      await until(async () => (await status()) === 'offline', `round ${round}: the state shows it`)
      await pty.giveBack()
    }
  },
)

t.test(
  'kill -9 at any moment of many changes: every answered change is there, none is half there',
  { skip: gateOnly },
  async (t) => {
    const rounds = sample(2, 200, 5)
    const random = seeded(t)
    const folder = temporary(t)
    const data = join(folder, 'data')
    mkdirSync(data)
    const variant = join(folder, 'variant.json')
    writeFileSync(
      variant,
      JSON.stringify({
        name: 'kill',
        hardware: 'kill',
        serial: 'KILL1',
        simulator: true,
        http: { host: '127.0.0.1', port: 0 },
        plugins: { 'http-api': {}, system: {}, pair: {} },
      }).replace('"pair"', '"./pair"'),
    )
    mkdirSync(join(folder, 'pair'))
    writeFileSync(
      join(folder, 'pair', 'index.ts'),
      `import { definePlugin } from 'rtk-base/plugin'
     import { Type } from 'typebox'
     export default definePlugin({ name: 'pair', version: '1.0.0', api: '^1.0.0', setup (ctx) {
       const a = ctx.config.define('pair-a', Type.Integer(), { default: 0 })
       const b = ctx.config.define('pair-b', Type.Integer(), { default: 0 })
       ctx.info.block('pair', () => ({ a: a.get(), b: b.get() }))
     } })`,
    )
    let answered = 0
    let sent = 0
    for (let kills = 0; kills < rounds; kills++) {
      const station = await startStation([variant], { data })
      const pair = (await station.info<Document>()).pair
      t.equal(pair.a, pair.b, `after ${answered} answers: not half there`)
      t.ok(pair.a >= answered && pair.a <= sent, `after ${answered} answers: ${pair.a} is there`)
      answered = Math.max(answered, pair.a)
      const before = answered
      for (let alive = true; alive; ) {
        sent = Math.max(sent, answered + 1)
        alive = await fetch(`${station.url}/change`, {
          method: 'POST',
          body: JSON.stringify({ 'pair-a': answered + 1, 'pair-b': answered + 1 }),
        })
          .then((response) => response.json())
          .then((body) => {
            if ((body as { result: string }).result !== 'ok') return true
            answered += 1
            // Somewhere within the next changes, not between them.
            if (answered === before + 1) setTimeout(() => station.child.kill('SIGKILL'), random.uniform() * 200)
            return true
          })
          .catch(() => false)
      }
      await station.end('SIGKILL')
    }
    t.ok(answered > 0, `${answered} changes in ${rounds} kills`)
  },
)

t.test(
  'a plugin that is edited, broken and reloaded through the command line leaves the RTCM stream without a gap',
  { skip: gateOnly },
  async (t) => {
    const folder = join(temporary(t), 'side')
    mkdirSync(folder)
    const source = (version: number, extra = '') => `import { definePlugin } from 'rtk-base/plugin'
    export default definePlugin({ name: 'side', version: '1.0.${version}', api: '^1.0.0',
      setup (ctx) { ctx.info.block('side', () => ({ version: ${version} })); ${extra} } })`
    writeFileSync(join(folder, 'index.ts'), source(1))
    const { args, udp } = await ownPorts()
    const station = await startStation([...args, ...readyBase])
    t.teardown(() => station.end())
    const { frames, types } = await rover(t, udp)
    await until(() => types().includes(1074), 'the stream')
    await rtkBase(['plugins', 'load', folder, '--data', station.data])
    const before = frames.length
    for (const [version, extra] of [
      [2, ''],
      [3, 'throw new Error("no")'],
      [4, '}'],
      [5, ''],
    ] as [number, string][]) {
      writeFileSync(join(folder, 'index.ts'), source(version, extra))
      await rtkBase(['plugins', 'reload', 'side', '--data', station.data])
    }
    t.match(await station.info(), { side: { version: 5 } })
    // By the time in the epochs: when they arrive depends on how busy the machine is.
    const times = () =>
      frames
        .slice(before)
        .flatMap((frame) => (messageNumber(frame) === 1074 ? (decodeMsm(frame)?.epochTime ?? []) : []))
    await until(() => times().length > 2, 'epochs after the reloads')
    const gps = times()
    for (const [n, time] of gps.entries()) if (n > 0) t.ok(time - (gps[n - 1] as number) <= 2_000, `${time}`)
  },
)

t.test('the log of a run has no secret in it', { skip: gateOnly }, async (t) => {
  const { args } = await ownPorts()
  const station = await startStation([...args, '--set', 'http.token=0123456789abcdef-secret', '--log', 'trace'])
  const refused = await fetch(`${station.url}/get-info`)
  t.equal(refused.status, 401)
  const allowed = await fetch(`${station.url}/get-info`, {
    headers: { authorization: 'Bearer 0123456789abcdef-secret' },
  })
  t.equal(allowed.status, 200)
  const login = await fetch(`${station.url}/session`, {
    method: 'POST',
    body: JSON.stringify({ token: '0123456789abcdef-secret' }),
  })
  const cookie = String(login.headers.get('set-cookie')).split(';')[0] as string
  t.equal((await fetch(`${station.url}/get-info`, { headers: { cookie } })).status, 200)
  const { stdout } = await station.end()
  t.notMatch(stdout, 'abcdef-secret')
  t.notMatch(stdout, cookie)
  t.notOk(existsSync(join(station.data, 'control.sock')))
})
