import { spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import { RtcmSerialInfo, RtcmTcpInfo } from 'rtk-base/schemas'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import rtcmSerial from '../../../../plugins/rtcm/rtcm-serial/index.js'
import { fittingStep, loadOf, type Measured, rankOf, steps } from '../../../../plugins/rtcm/rtcm-serial/plan.js'
import { Thinner } from '../../../../plugins/rtcm/rtcm-serial/thinning.js'
import rtcmTcp from '../../../../plugins/rtcm/rtcm-tcp/index.js'
import {
  decodeLegacy,
  decodeMsmHeader,
  encodeMsm,
  Framer,
  isMsm,
  messageNumber,
  moreFollows,
} from '../../../../runtime/lib/gnss/index.js'
import { dial, type Outbound } from '../../../../runtime/lib/link/index.js'
import { getRequest, Host, Selector } from '../../../../runtime/lib/ntrip/index.js'
import { asciiHost, hostOf } from '../../../../runtime/platform/address/host-name.js'
import { systemNetwork } from '../../../../runtime/platform/ports/system-network.js'
import type { AnyPlugin, Resolve } from '../../../../runtime/plugin.js'
import { drive } from '../../../harness/drive.js'
import { arpFrame, freeTcpPort, gateOnly, msmFrame, openPty, sample, until } from '../../../harness/index.js'
import { noPeer } from '../../../harness/peers/peers.js'
import { framesIn, here, largeEpoch, setUpStation, typesIn } from './rig.js'

async function setUp(t: Test) {
  const rig = await setUpStation(t, { plugins: { 'rtcm-tcp': [rtcmTcp as AnyPlugin, { host: '127.0.0.1' }] } })
  rig.receiver.emit(arpFrame(here))
  const epoch = (time: number) => rig.epoch(time * 1_000, 1074)
  type Shown = { port: number; connected: number; push: { host: string; state: string; text: string }[] }
  return { ...rig, epoch, shown: () => rig.station.field('rtcm_tcp') as Shown }
}

const reading = (socket: Socket) => {
  const types: number[] = []
  const framer = new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && types.push(frame.type) })
  socket.on('data', (bytes) => framer.push(bytes, 0))
  socket.on('error', () => {})
  return types
}

t.test('whoever connects gets the position first, and keeps its connection over a reload', async (t) => {
  const { station, change, shown, epoch, receiver } = await setUp(t)
  t.equal(shown().port, 0, 'nobody unless it is switched on')
  const port = await freeTcpPort()
  t.match(await change({ 'rtcm-tcp-port': port }), { result: 'ok' })
  await until(() => shown().port === port, 'open')
  const client = connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  const types = reading(client)
  await until(() => types.length === 1, 'the position')
  client.write('what a client says is dropped')
  epoch(1)
  await station.reload('rtcm-tcp')
  epoch(2)
  await until(() => types.filter((type) => type === 1074).length === 2, 'both epochs')
  t.equal(types[0], 1005)
  t.equal(shown().connected, 1)
  const times: number[] = []
  const framer = new Framer({ onFrame: ({ bytes }) => times.push(decodeMsmHeader(bytes)?.epochTime ?? 0) })
  client.on('data', (bytes) => framer.push(bytes, 0))
  let time = 2
  for (let round = 0; round < 5; round++) {
    let isOver = false
    const reload = station.reload('rtcm-tcp').finally(() => {
      isOver = true
    })
    while (!isOver) {
      time += 1
      receiver.emit(msmFrame(1074, time * 1_000, true))
      await new Promise((resolve) => setImmediate(resolve))
      receiver.emit(msmFrame(1124, time * 1_000, false))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await reload
  }
  const all = Array.from({ length: time - 2 }, (_, index) => [(index + 3) * 1_000, (index + 3) * 1_000]).flat()
  await until(() => times.length >= all.length, 'every epoch of five reloads')
  t.strictSame(times, all, 'each message once, in order, and no position that it knows')
  t.notOk(station.lines.some(({ msg }) => /a subscriber failed/.test(String(msg))))
  await change({ 'rtcm-tcp-port': 0 })
  await until(() => client.destroyed, 'switched off')
})

t.test('clients that are old rovers get 1004 and 1012, over a reload too, and so does an address', async (t) => {
  const { station, change, shown, receiver } = await setUp(t)
  const port = await freeTcpPort()
  const pushed: number[] = []
  const address = createServer((socket) => {
    const types = reading(socket)
    socket.on('data', () => pushed.splice(0, pushed.length, ...types))
  })
  await new Promise<void>((done) => address.listen(0, '127.0.0.1', done))
  t.teardown(() => address.close())
  const target = { host: '127.0.0.1', port: (address.address() as { port: number }).port, legacy: true }
  const changes = { 'rtcm-tcp-port': port, 'rtcm-tcp-legacy': true, 'rtcm-tcp-push': [target] }
  t.match(await change(changes), { result: 'ok' })
  await until(() => shown().port === port && shown().push[0]?.state === 'connected', 'open')
  const client = connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  const types = reading(client)
  await until(() => types.length === 1, 'the position')
  const epoch = (time: number) => {
    const observations = [{ satellite: 3, signal: 2, pseudorange_m: 22e6 }]
    const msm = { stationId: 0, epochTime: time * 1_000, observations }
    receiver.emit(encodeMsm({ ...msm, type: 1077, multiple: true }))
    receiver.emit(encodeMsm({ ...msm, type: 1087, multiple: false, info: { 3: 12 } }))
  }
  epoch(1)
  await until(() => types.length === 3 && pushed.length >= 3, 'an epoch, at the address too')
  await station.reload('rtcm-tcp')
  // The client's connection is handed over; the address is connected to again.
  await until(() => shown().push[0]?.state === 'connected', 'connected again')
  epoch(2)
  await until(() => types.length === 5, 'another')
  t.strictSame(types, [1005, 1004, 1012, 1004, 1012])
  await until(() => new Set(pushed).size === 3, 'the pushed ones')
  t.strictSame(new Set(pushed), new Set([1005, 1004, 1012]))
  await change({ 'rtcm-tcp-legacy': false })
  await until(() => client.destroyed, 'it must connect again')
  await change({ 'rtcm-tcp-port': 0, 'rtcm-tcp-push': [] })
})

t.test('addresses that it connects to: again and again, with longer waits; what is the same goes on', async (t) => {
  const { clock, change, shown, epoch } = await setUp(t)
  const sockets: Socket[] = []
  const types: number[][] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    types.push(reading(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const dead = await freeTcpPort()
  await change({
    'rtcm-tcp-push': [
      { host: '127.0.0.1', port },
      { host: '127.0.0.1', port: dead },
    ],
  })
  await until(() => shown().push[0]?.state === 'connected', 'connected')
  await until(() => shown().push[1]?.state === 'waiting', 'refused')
  t.match(shown().push[1]?.text, /refuses connections/)
  t.strictSame(Value.Errors(RtcmTcpInfo, shown()), [])
  epoch(1)
  await until(() => types[0]?.length === 2, 'the stream')
  t.strictSame(types[0], [1005, 1074])
  await change({ 'rtcm-tcp-push': [{ host: '127.0.0.1', port }] })
  t.equal(sockets.length, 1)
  for (let round = 1; round <= 3; round++) {
    sockets.at(-1)?.destroy()
    await until(() => shown().push[0]?.state === 'waiting', 'lost')
    await drive(clock, () => shown().push[0]?.state === 'connected', 'connected again')
    t.equal(sockets.length, round + 1)
  }
  t.match(await change({ 'rtcm-tcp-push': [{ host: '-x', port: 1 }] }), { result: 'failed' })
  const twice = { host: '127.0.0.1', port }
  t.match(await change({ 'rtcm-tcp-push': [twice, twice] }), { result: 'failed', errors: [{ message: /twice/ }] })
  await change({ 'rtcm-tcp-push': [] })
  await until(() => sockets.at(-1)?.destroyed === true, 'ended')
})

t.test('a peer that takes nothing for half a minute is given up, in both directions', { skip: gateOnly }, async (t) => {
  const { clock, change, shown, receiver } = await setUp(t)
  const port = await freeTcpPort()
  await change({ 'rtcm-tcp-port': port })
  await until(() => shown().port === port, 'open')
  const stalled = connect(port, '127.0.0.1').pause()
  stalled.on('error', () => {})
  const server = createServer((socket) => void socket.pause().on('error', () => {}))
  const listening = await freeTcpPort()
  await new Promise<void>((resolve) => server.listen(listening, '127.0.0.1', resolve))
  t.teardown(() => [stalled.destroy(), server.close()])
  await change({ 'rtcm-tcp-push': [{ host: '127.0.0.1', port: listening }] })
  await until(() => shown().connected === 1 && shown().push[0]?.state === 'connected', 'both connections')
  // More than the kernel and the sockets hold.
  const isGivenUp = () => {
    for (let n = 0; n < 200; n++) receiver.emit(largeEpoch())
    return shown().connected === 0 && shown().push[0]?.state === 'waiting'
  }
  await drive(clock, isGivenUp, 'given up')
  t.match(shown().push[0]?.text, 'takes nothing')
})

t.test('N2: whatever is pasted as a host works, or is refused with the place where the port goes', async (t) => {
  const { change, shown } = await setUp(t)
  const push = (host: string) => change({ 'rtcm-tcp-push': [{ host, port: 9_999 }] })
  for (const [pasted, host] of [
    [' caster.example.org ', 'caster.example.org'],
    ['\tcaster.example.org\r\n', 'caster.example.org'],
    ['\ufeffcaster.example.org', 'caster.example.org'],
    ['caster.example.org.', 'caster.example.org.'],
    ['[::1]', '::1'],
    [' [2001:db8::7] ', '2001:db8::7'],
    ['10.0.0.7', '10.0.0.7'],
  ] as const) {
    t.match(await push(pasted), { result: 'ok' }, pasted)
    t.equal(shown().push[0]?.host, host, pasted)
  }
  for (const typed of [
    'bücher.example',
    ' Bücher.example ',
    'пример.испытание',
    '例え.テスト',
    'bu\u0308cher.example',
  ]) {
    t.match(await push(typed), { result: 'ok' }, typed)
    t.equal(shown().push[0]?.host, typed.trim(), 'shown as it was typed')
  }
  for (const pasted of [
    'bücher.example:2101',
    'bü cher.example',
    'http://bücher.example',
    '１０.0.0.1',
    'caster.example.org:2101',
    '[::1]:2101',
    'http://caster.example.org',
    '10.0.0',
    '300.1.1.1',
    '1',
  ])
    t.match(await push(pasted), { result: 'failed', errors: [{ message: /the port has a field of its own/ }] }, pasted)
  const part = fc.oneof(
    fc.constantFrom('.', ':', '[', ']', ' ', '-', '::', '1', '255', 'a', '/', '@'),
    fc.string({ maxLength: 4 }),
  )
  const texts = fc.oneof(
    fc.ipV6(),
    fc.ipV4(),
    fc.domain(),
    fc.array(part, { maxLength: 9 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, fc.constantFrom('', ' ', '\n'), (text, blank) => {
      const host = hostOf(`${blank}${text}${blank}`)
      const isName = /^[\p{L}\p{M}0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$/u.test(host) && !/(^|\.)\d+\.?$/.test(host)
      const isDialable = isIP(host) !== 0 || isName
      const isTaken: boolean = Value.Check(Host, host as unknown)
      return isTaken ? isDialable : isIP(host) === 0 || host.includes('%')
    }),
    { numRuns: sample(500, 5_000) },
  )
})

t.test('N2: an international name goes out in ASCII: to the name server, in TLS and in a request', async (t) => {
  const typed = 'Bücher.example'
  const names: string[] = []
  const server = createTlsServer({
    SNICallback: (name, done) => {
      names.push(name)
      done(new Error('no certificate'))
    },
  }).on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const resolve: Resolve = async (name) => {
    names.push(name)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const out = { resolve, tries() {} } as unknown as Outbound
  await new Promise<unknown>((ended) => {
    const events = { connected() {}, data() {}, closed: () => ended(undefined), failed: ended }
    dial({ net: systemNetwork, timers: { after: () => () => {} } }, { host: typed, port, tls: true }, events, out)
  })
  t.strictSame(names, ['xn--bcher-kva.example', 'xn--bcher-kva.example'])
  t.match(getRequest({ host: typed, mount: 'A', version: 2, agent: 'x' }), /\r\nHost: xn--bcher-kva\.example:2101\r\n/)
  t.equal(asciiHost('::1'), '::1')
  t.equal(asciiHost('my_host.lan'), 'my_host.lan')
})

t.test('hosts', (t) => {
  for (const host of [
    'caster.example',
    'a',
    '10.0.0.7',
    '::1',
    'fe80::1',
    '2001:db8::',
    '::ffff:10.0.0.7',
    'my_host.lan',
  ])
    t.ok(Value.Check(Host, host), host)
  for (const host of ['', 'x..y', '-a', 'a-', 'http://x', 'a b', 'a:1', '1:2', 'x/y', 'a\r\nb', `${'a'.repeat(64)}.x`])
    t.notOk(Value.Check(Host, host), host)
  t.end()
})

t.test('a serial line', async (t) => {
  type Line = { state: string; text: string; sends: string; sent: number; dropped: number; budget: number }

  /** A station, and a serial server of which every connection keeps what it gets. */
  async function lineStation(t: Test) {
    const rig = await setUpStation(t, { plugins: { 'rtcm-serial': rtcmSerial as AnyPlugin } })
    const lines: { socket: Socket; bytes: Buffer }[] = []
    const server = createServer((socket) => {
      const line = { socket, bytes: Buffer.alloc(0) }
      lines.push(line)
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        line.bytes = Buffer.concat([line.bytes, bytes])
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      for (const { socket } of lines) socket.destroy()
      server.close()
    })
    const port = `tcp://127.0.0.1:${(server.address() as { port: number }).port}`
    const shown = () => rig.station.field('rtcm_serial') as Line
    const types = (index = 0) => typesIn(lines[index]?.bytes ?? Buffer.alloc(0))
    return { ...rig, lines, port, shown, types }
  }

  t.test('gets the position first and whole epochs, and after a loss the position again', async (t) => {
    const { change, port, shown, types, receiver, epoch, lines, clock, station } = await lineStation(t)
    t.match(shown(), { state: 'off' })
    t.strictSame(Value.Errors(RtcmSerialInfo, shown()), [])
    receiver.emit(arpFrame(here))
    t.match(await change({ 'rtcm-serial': { port, budget: 5_000 } }), { result: 'ok' })
    await until(() => types().length === 1, 'the position')
    t.match(shown(), { state: 'open', budget: 5_000, sends: 'everything' })
    t.match(station.field('gnss.rtcm.subscribers'), [{ via: 'serial', seen: 0 }])
    t.strictSame(Value.Errors(RtcmSerialInfo, shown()), [])
    epoch(1_000)
    await until(() => types().length === 4, 'an epoch')
    t.strictSame(types(), [1005, 1074, 1084, 1124])
    lines[0]?.socket.destroy()
    await until(() => shown().state === 'waiting', 'lost')
    t.strictSame(station.field('gnss.rtcm.subscribers'), [])
    epoch(2_000)
    await drive(clock, () => types(1).length === 1, 'open again')
    epoch(3_000)
    await until(() => types(1).length === 4, 'an epoch')
    t.strictSame(types(1), [1005, 1074, 1084, 1124])
    receiver.become({ mode: 'rover' })
    epoch(4_000)
    receiver.become({ mode: 'listening' })
    epoch(5_000)
    receiver.emit(arpFrame({ ...here, x: here.x + 40 }))
    epoch(6_000)
    await until(() => types(1).length === 8, 'the other position')
    t.strictSame(types(1).slice(4), [1005, 1074, 1084, 1124], 'nothing without the position of the present verdict')
    await change({ 'rtcm-serial': { port: '' } })
    t.match(shown(), { state: 'off' })
    t.match(await change({ 'rtcm-serial': { port: 'ttyUSB0' } }), { result: 'failed' })
  })

  t.test('of an old rover has 1004 and 1012, thinned as MSM are', async (t) => {
    const { change, port, shown, types, receiver, lines, clock } = await lineStation(t)
    receiver.emit(arpFrame(here))
    t.match(await change({ 'rtcm-serial': { port, budget: 170, legacy: true } }), { result: 'ok' })
    await until(() => types().length === 1, 'the position')
    const observations = Array.from({ length: 8 }, (_, index) => ({
      ...{ satellite: index + 1, signal: 2, pseudorange_m: 22_000_000, phase_m: 22_000_000, lock: 10 },
    }))
    const info = Object.fromEntries(observations.map(({ satellite }) => [satellite, satellite]))
    for (let time = 1; time <= 60; time++) {
      const msm = { stationId: 0, epochTime: time * 1_000, observations }
      receiver.emit(encodeMsm({ ...msm, type: 1077, multiple: true }))
      receiver.emit(encodeMsm({ ...msm, type: 1087, multiple: false, info }))
      await clock.advance(1_000)
    }
    await until(() => (lines[0]?.bytes.length ?? 0) === shown().sent, 'everything has arrived')
    t.match(shown(), { sends: 'GPS each second' })
    t.strictSame(new Set(types()), new Set([1005, 1004]))
    const [last] = framesIn(lines[0]?.bytes ?? Buffer.alloc(0)).slice(-1)
    t.match(last && decodeLegacy(last), { type: 1004, synchronous: false, epochTime: 60_000 })
  })

  t.test('that is slow gets what is most important, in whole epochs, within its budget', async (t) => {
    const { change, port, shown, types, receiver, lines, clock, epoch } = await lineStation(t)
    receiver.emit(arpFrame(here))
    await change({ 'rtcm-serial': { port, budget: 150 } })
    await until(() => types().length === 1, 'the position')
    const seconds = 120
    for (let time = 1; time <= seconds; time++) {
      receiver.emit(arpFrame(here))
      epoch(time * 1_000, 1077, 1087, 1097, 1127)
      await clock.advance(1_000)
    }
    await until(() => (lines[0]?.bytes.length ?? 0) === shown().sent, 'everything has arrived')
    t.match(shown(), { sends: /^GPS, Galileo(, GLONASS)? each second$/ })
    t.ok(shown().sent / seconds <= 155, `${shown().sent / seconds} bytes a second`)
    t.ok(shown().sent / seconds > 75, 'and it is made use of')
    const frames = framesIn(lines[0]?.bytes ?? Buffer.alloc(0))
    const epochs = frames.filter((frame) => messageNumber(frame) === 1074).length
    t.ok(epochs > seconds * 0.9, `${epochs} epochs`)
    t.equal(types().filter((type) => type === 1094).length, epochs, 'each with Galileo')
    const lasts = frames.filter((frame) => isMsm(messageNumber(frame)) && !moreFollows(frame))
    t.equal(lasts.length, epochs, 'each of them ends as one')
    t.ok(types().filter((type) => type === 1005).length < 20, 'the same position not each second')
  })

  t.test('that takes nothing more costs whole epochs, and the position is tried again', (t) => {
    const now = { ms: 0, takes: false }
    const written: Uint8Array[] = []
    const thinner = new Thinner(5_000, () => now.ms, {
      write: (bytes) => now.takes && written.push(bytes) > 0,
      thinned: () => {},
    })
    const frame = (bytes: Uint8Array) => ({ type: messageNumber(bytes), bytes, arrival_ms: 0 })
    const second = () => {
      now.ms += 1_000
      thinner.frame(frame(arpFrame(here)))
      const frames = [frame(msmFrame(1074, now.ms, true)), frame(msmFrame(1124, now.ms, false))]
      thinner.epoch({ frames })
    }
    second()
    t.equal(thinner.sent_bytes, 0)
    now.takes = true
    second()
    now.takes = false
    for (let n = 0; n < 5; n++) second()
    now.takes = true
    second()
    t.strictSame(
      written.map((bytes) => typesIn(bytes)),
      [[1005], [1074, 1124], [1005], [1074, 1124]],
    )
    t.equal(thinner.dropped, 5)
    t.end()
  })

  t.test('one epoch a second is one a second, whatever rate the receiver has', (t) => {
    for (const rate_hz of [1, 2, 4, 5, 10]) {
      const selector = new Selector({ interval_s: 1 })
      const frames = [{ type: 1074, bytes: msmFrame(1074, 0, false) }]
      const sent = Array.from({ length: 60 * rate_hz }, (_, n) => selector.epoch(frames, (n * 1_000) / rate_hz))
      t.equal(sent.filter(({ length }) => length > 0).length, 60, `${rate_hz} Hz`)
    }
    t.end()
  })

  t.test('of a real port', { skip: noPeer('socat') }, async (t) => {
    const { change, shown, epoch, receiver, clock } = await lineStation(t)
    const pty = await openPty()
    t.teardown(() => pty.close())
    let bytes = Buffer.alloc(0)
    const listen = () => {
      const cat = spawn('cat', [pty.far])
      t.teardown(() => cat.kill('SIGKILL'))
      cat.stdout.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk])
      })
    }
    listen()
    receiver.emit(arpFrame(here))
    t.match(await change({ 'rtcm-serial': { port: pty.near, baud: 9_600 } }), { result: 'ok' })
    await until(() => typesIn(bytes).length === 1, 'the position')
    t.match(shown(), { state: 'open', budget: 768 })
    epoch(1_000)
    await until(() => typesIn(bytes).length === 4, 'an epoch')
    await pty.pull()
    await drive(clock, () => shown().state === 'waiting', 'pulled', 250)
    bytes = Buffer.alloc(0)
    await pty.giveBack()
    listen()
    await drive(clock, () => typesIn(bytes)[0] === 1005, 'open again')
  })

  t.test('the plan: what goes first, and what is left out', (t) => {
    t.strictSame(
      [1006, 1077, 1097, 1087, 1230, 1124, 1117, 1033, 1019, 4072].map(rankOf),
      [0, 1, 2, 3, 3, 4, 5, 6, 7, 7],
    )
    const measured = new Map<number, Measured>()
    const note = (type: number, count: number, size: number, msm4 = size) =>
      measured.set(type, { count, bytes: count * size, msm4_bytes: count * msm4 })
    note(1005, 10, 25)
    for (const type of [1077, 1087, 1097, 1127]) note(type, 10, 400, 240)
    note(1019, 20, 67)
    note(1033, 1, 80)
    const text = (budget: number) => steps[fittingStep(budget, measured, 10, 10)]?.text
    t.equal(text(2_000), 'everything')
    t.equal(text(1_200), 'MSM4')
    t.equal(text(1_010), 'MSM4, no ephemerides')
    t.equal(text(975), 'MSM4 each second')
    t.equal(text(780), 'GPS, Galileo, GLONASS each second')
    t.equal(text(500), 'GPS, Galileo each second')
    t.equal(text(250), 'GPS each second')
    t.equal(text(60), 'GPS each 5 s')
    t.equal(text(1), 'GPS each 30 s')
    const loads = steps.map((one) => loadOf(one, measured, 10, 10))
    t.ok(
      loads.every((load, index) => index === 0 || load <= (loads[index - 1] as number) + 1e-9),
      'each step sends less',
    )
    t.end()
  })
})
