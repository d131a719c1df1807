/** A whole station on a network in memory and under a manual clock: no socket of the system is opened. */
import { readFileSync } from 'node:fs'
import { ManualClock, MemoryNetwork } from 'rtk-base/testing'
import t from 'tap'
import httpApi from '../../plugins/page/http-api/index.js'
import ntripCaster from '../../plugins/rtcm/ntrip-caster/index.js'
import rtcm from '../../plugins/rtcm/rtcm/index.js'
import udpRtcm from '../../plugins/rtcm/udp-rtcm/index.js'
import { messageNumber } from '../../runtime/lib/gnss/index.js'
import type { AnyPlugin, PluginContext } from '../../runtime/plugin.js'
import { drive, pass } from '../harness/drive.js'
import { arpFrame, createTestStation, fakeReceiver, msmFrame, probe } from '../harness/index.js'
import { createAuthority } from '../harness/peers/certificates.js'
import { here, typesIn } from './rtcm/ntrip/rig.js'

/** What the system has open for the network. */
const openSockets = () => process.getActiveResourcesInfo().filter((name) => /^(TCP|UDP|GetAddrInfo)/.test(name))

t.test('rovers by NTRIP and by UDP, and a page, over a mobile connection', async (t) => {
  const clock = new ManualClock()
  const world = new MemoryNetwork(clock, { latency_ms: 50 })
  const network = world.host(['10.0.0.2'], ['station.example'])
  const rover = world.host(['10.0.0.9'])
  const receiver = fakeReceiver(() => clock.monotonic())
  let ctx: PluginContext | undefined
  const before = openSockets()
  const station = await createTestStation({
    clock,
    network,
    variant: {
      http: { host: '0.0.0.0', port: 80 },
      changes: { 'ntrip-caster-port': 2101, 'udp-port': 2102 },
    },
    plugins: {
      'fake-receiver': receiver.definition,
      rtcm: rtcm as AnyPlugin,
      'http-api': httpApi as AnyPlugin,
      'ntrip-caster': ntripCaster as AnyPlugin,
      'udp-rtcm': [udpRtcm as AnyPlugin, { allow: ['10.0.0.9'] }],
      probe: probe([], (found) => {
        ctx = found
      }),
    },
  })
  t.teardown(() => station.stop())
  receiver.become({ mode: 'listening' })
  let time = 0
  const second = async () => {
    receiver.emit(arpFrame(here))
    receiver.emit(msmFrame(1074, ++time * 1_000, false))
    await pass(clock, 1_000)
  }

  const byNtrip = rover.dial({ host: 'station.example', port: 2101 })
  let stream = Buffer.alloc(0)
  byNtrip.on('data', (bytes) => {
    stream = Buffer.concat([stream, bytes])
  })
  byNtrip.write('GET /TEST0001 HTTP/1.0\r\nUser-Agent: NTRIP test/1\r\n\r\n')
  const byUdp = await rover.datagram({ host: '0.0.0.0', port: 0 })
  const datagrams: number[] = []
  byUdp.on('message', (bytes) => datagrams.push(messageNumber(bytes)))
  byUdp.send('rover', 2102, '10.0.0.2')
  await pass(clock, 1_000)
  for (let n = 0; n < 5; n++) await second()
  t.match(stream.toString('latin1'), /^ICY 200 OK\r\n/)
  const streamed = typesIn(stream)
  t.ok(streamed.filter((type) => type === 1074).length >= 4, `by NTRIP: ${streamed}`)
  t.ok(datagrams.filter((type) => type === 1074).length >= 4, `by UDP: ${datagrams}`)
  t.match(
    (station.field('gnss.rtcm.subscribers') as { via: string; ip: string }[]).filter(({ via }) => via === 'udp'),
    [{ ip: '10.0.0.9' }],
  )

  const page = rover.dial({ host: '10.0.0.2', port: 80 })
  let answer = ''
  page.on('data', (bytes) => {
    answer += bytes.toString()
  })
  page.write('GET /get-info HTTP/1.1\r\nHost: 10.0.0.2\r\nConnection: close\r\n\r\n')
  await drive(clock, () => page.destroyed, 'the document')
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, /"udp":/)

  const asked: string[] = []
  const web = await rover.bind({ host: '0.0.0.0', port: 8080 }, (socket) => {
    socket.on('data', (bytes) => {
      asked.push(bytes.toString())
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
    })
  })
  let fetched: string | undefined
  void ctx?.fetch('http://10.0.0.9:8080/x').then(async (response) => {
    fetched = await response.text()
  })
  await drive(clock, () => fetched !== undefined, 'the answer to the station')
  t.equal(fetched, 'ok')
  t.match(asked, [/^GET \/x HTTP\/1\.1\r\n/])
  await web.close()

  // The line is dead, and nobody says so.
  world.line('10.0.0.2', '10.0.0.9', { state: 'silent' })
  const rovers = () => station.field('ntrip.caster.connected')
  t.equal(rovers(), 1)
  await drive(
    clock,
    async () => (await second()) ?? rovers() === 0,
    'the caster drops a rover that acknowledges nothing',
  )
  t.same(openSockets(), before, 'the system knows nothing of it')
})

t.test('a page by HTTPS and a rover by NTRIP with TLS', async (t) => {
  const clock = new ManualClock()
  const world = new MemoryNetwork(clock, { latency_ms: 50 })
  const rover = world.host(['10.0.0.9'])
  const receiver = fakeReceiver(() => clock.monotonic())
  const authority = createAuthority(t.testdir())
  const files = authority.issue('station', '/CN=station.example', 'subjectAltName=DNS:station.example\n')
  const before = openSockets()
  const station = await createTestStation({
    clock,
    network: world.host(['10.0.0.2'], ['station.example']),
    variant: { http: { host: '0.0.0.0', port: 443, tls: files }, changes: { 'ntrip-caster-port': 2101 } },
    plugins: {
      'fake-receiver': receiver.definition,
      rtcm: rtcm as AnyPlugin,
      'http-api': httpApi as AnyPlugin,
      'ntrip-caster': [ntripCaster as AnyPlugin, { tls: { ...files, port: 2102 } }],
    },
  })
  t.teardown(() => station.stop())
  receiver.become({ mode: 'listening' })
  const tls = { ca: readFileSync(authority.ca) }
  const ask = (port: number, request: string) => {
    const socket = rover.dial({ host: 'station.example', port, tls })
    const answer = { bytes: Buffer.alloc(0), socket }
    socket.on('data', (bytes) => {
      answer.bytes = Buffer.concat([answer.bytes, bytes])
    })
    socket.write(request)
    return answer
  }
  const page = ask(443, 'GET /get-info HTTP/1.1\r\nHost: 10.0.0.2\r\nConnection: close\r\n\r\n')
  await drive(clock, () => page.socket.destroyed, 'the document')
  t.match(page.bytes.toString(), /^HTTP\/1\.1 200 OK\r\n/)
  const stream = ask(2102, 'GET /TEST0001 HTTP/1.0\r\nUser-Agent: NTRIP test/1\r\n\r\n')
  await drive(clock, () => stream.bytes.length > 0, 'the answer of the caster')
  for (let n = 1; n <= 5; n++) {
    receiver.emit(arpFrame(here))
    receiver.emit(msmFrame(1074, n * 1_000, false))
    await pass(clock, 1_000)
  }
  t.match(stream.bytes.toString('latin1'), /^ICY 200 OK\r\n/)
  t.ok(typesIn(stream.bytes).filter((type) => type === 1074).length >= 4)
  t.match(station.field('gnss.rtcm.subscribers'), [{ via: 'ntrip', ip: '10.0.0.9' }])
  t.same(openSockets(), before, 'the system knows nothing of it')
})
