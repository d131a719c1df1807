import { NtripClientInfo } from 'rtk-base/schemas'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import ntripClient from '../../../../plugins/rtcm/ntrip-client/index.js'
import rtcmTcp from '../../../../plugins/rtcm/rtcm-tcp/index.js'
import { decodeGga, decodeMsmHeader } from '../../../../runtime/lib/gnss/index.js'
import {
  chunkOf,
  ggaOf,
  type Nearest,
  nearer,
  parseTable,
  readAnswer,
  TableReader,
} from '../../../../runtime/lib/ntrip/index.js'
import { type AnyPlugin, definePlugin } from '../../../../runtime/plugin.js'
import {
  correctionInput,
  correctionStatus,
  type Ecef,
  procedureStatus,
  receiver,
} from '../../../../schemas/services.js'
import { drive, pass } from '../../../harness/drive.js'
import { arpFrame, createTestStation, freeTcpPort, gateOnly, msmFrame, partOf, until } from '../../../harness/index.js'
import { Client, fakeCaster, framesIn, here, setUpStation } from './rig.js'

async function setUp(t: Test) {
  const state = { wants: true, fix: here as Ecef | undefined }
  const taken: { bytes: Uint8Array; remote: string }[] = []
  const around = definePlugin({
    name: 'around',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [correctionInput, correctionStatus, procedureStatus, receiver],
    setup(ctx) {
      const take = (bytes: Uint8Array, remote: string) => {
        taken.push({ bytes, remote })
        return ''
      }
      ctx.services.provide(correctionInput, { take })
      ctx.services.provide(correctionStatus, partOf(correctionStatus, { input: 'auto' }))
      const procedure = {
        get wantsCorrections() {
          return state.wants
        },
      }
      ctx.services.provide(procedureStatus, procedure as never)
      const source = {
        get fix() {
          return state.fix && { ok: true, position: state.fix }
        },
      }
      ctx.services.provide(receiver, partOf(receiver, source as never))
    },
  }) as AnyPlugin
  const station = await createTestStation({ plugins: { around, 'ntrip-client': ntripClient as AnyPlugin } })
  t.teardown(() => station.stop())
  const set = (source: object) => station.station.change({ 'ntrip-client': source }, { source: 'http' })
  type Shown = { state: string; text: string; mount: string; next: number; frames: number }
  const shown = () => station.field('ntrip.client') as Shown
  const secondsUntil = (condition: () => unknown, what: string) => drive(station.clock, condition, what)
  return { station, set, shown, secondsUntil, state, taken }
}

const frames = Buffer.concat([arpFrame(here), msmFrame(1074, 1_000, false)])
const v2 = 'HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n'

t.test('takes the stream, however a caster writes its yes', async (t) => {
  const yes: Record<string, Buffer> = {
    'ICY with a blank line': Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames]),
    'ICY without one': Buffer.concat([Buffer.from('ICY 200 OK\r\n'), frames]),
    'ICY without one, in the middle of a frame': Buffer.concat([
      Buffer.from('ICY 200 OK\r\n'),
      frames.subarray(7, arpFrame(here).length),
      frames,
    ]),
    'ICY with headers': Buffer.concat([Buffer.from('ICY 200 OK\r\nServer: x\r\nDate: y\r\n\r\n'), frames]),
    'N1: ICY with a text': Buffer.concat([Buffer.from('ICY 200 OK - hello\r\n'), frames]),
    'N1: 201': Buffer.concat([Buffer.from('HTTP/1.0 201 Created\r\n\r\n'), frames]),
    'N1: 100 before the 200': Buffer.concat([
      Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${v2}Transfer-Encoding: chunked\r\n\r\n`),
      chunkOf(frames),
    ]),
    'NTRIP 2 in chunks': Buffer.concat([Buffer.from(`${v2}Transfer-Encoding: chunked\r\n\r\n`), chunkOf(frames)]),
    'NTRIP 2 without': Buffer.concat([Buffer.from(`${v2}\r\n`), frames]),
    'with garbage between': Buffer.concat([
      Buffer.from('ICY 200 OK\r\n\r\n\xd3\x00\x10 garbage', 'latin1'),
      frames,
      Buffer.alloc(40),
      frames,
    ]),
  }
  for (const [what, bytes] of Object.entries(yes)) {
    for (const split of [bytes.length, 1]) {
      const caster = await fakeCaster(t, ({ socket }) => {
        for (let at = 0; at < bytes.length; at += split) socket.write(bytes.subarray(at, at + split))
      })
      const { set, shown, secondsUntil, taken, station } = await setUp(t)
      t.match(await set({ host: '127.0.0.1', port: caster.port, mount: 'NET', user: 'me', password: 's3cret' }), {
        result: 'ok',
      })
      await secondsUntil(() => taken.length >= 2, `${what}, ${split} bytes at a time`)
      t.match(shown(), { state: 'streaming', mount: 'NET' })
      t.equal(taken[0]?.remote, `ntrip 127.0.0.1:${caster.port}/NET`)
      t.strictSame(Buffer.from(taken[0]?.bytes ?? []), Buffer.from(arpFrame(here)))
      t.match(
        caster.visits[0]?.head,
        /^GET \/NET HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nNtrip-Version: Ntrip\/2\.0\r\n(.*\r\n)*Authorization: Basic bWU6czNjcmV0/,
      )
      t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')
      await station.stop()
    }
  }
})

t.test('is connected only while corrections are wanted, and says where it is where the caster asks', async (t) => {
  const caster = await fakeCaster(t, ({ socket }) =>
    socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames])),
  )
  const { set, shown, secondsUntil, state, station } = await setUp(t)
  state.wants = false
  await set({ host: '127.0.0.1', port: caster.port, mount: 'NET', version: 1, gga: true })
  await station.clock.advance(60_000)
  t.equal(caster.visits.length, 0)
  t.equal(shown().state, 'idle')
  state.wants = true
  await secondsUntil(() => /GPGGA/.test(caster.visits[0]?.body.toString() ?? ''), 'its position')
  const sentence = /\$GPGGA[^\r]*/.exec(caster.visits[0]?.body.toString() ?? '')?.[0] ?? ''
  t.match(decodeGga(Buffer.from(sentence)), { lat: /^52(\.0|$)/, lon: /^4(\.0|$)/, quality: 1 })
  state.wants = false
  await secondsUntil(() => shown().state === 'idle', 'left alone again')
  await until(() => caster.visits[0]?.socket.destroyed === true, 'the connection is ended')
})

t.test('a mountpoint that is silent gets the position at the next attempt, unless that is not wanted', async (t) => {
  const caster = await fakeCaster(t, ({ socket }) => socket.write('ICY 200 OK\r\n\r\n'))
  for (const [gga, isSent] of [
    [undefined, true],
    [false, false],
  ] as const) {
    caster.visits.length = 0
    const { set, shown, secondsUntil, station } = await setUp(t)
    await set({ host: '127.0.0.1', port: caster.port, mount: 'VRS', version: 1, ...(gga === false && { gga }) })
    await secondsUntil(() => /no good message/.test(shown().text), 'silent')
    t.equal(/sends the position/.test(shown().text), isSent)
    t.notMatch(caster.visits[0]?.body.toString(), /GPGGA/)
    if (isSent) await secondsUntil(() => /GPGGA/.test(caster.visits[1]?.body.toString() ?? ''), 'the position')
    await station.stop()
  }
})

t.test('N3: a login with a character that nobody sees is refused with the reason', async (t) => {
  const { set } = await setUp(t)
  const login = { host: '127.0.0.1', port: 2101, mount: 'NET', user: 'me', password: 's3cret' }
  for (const field of ['user', 'password'] as const)
    for (const text of ['s3cret\u200b', '\ufeffs3cret', 's3\u2009cret', '\u3000s3cret'])
      t.match(await set({ ...login, [field]: text }), {
        result: 'failed',
        errors: [{ message: /invisible characters/ }],
      })
})

for (const interval_s of [20, 40])
  t.test(`P1: a stream with an epoch every ${interval_s} s is silent after three of them`, async (t) => {
    const caster = await fakeCaster(t, ({ socket }) =>
      socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames])),
    )
    const { set, shown, secondsUntil, station } = await setUp(t)
    await set({ host: '127.0.0.1', port: caster.port, mount: 'NET', version: 1 })
    await secondsUntil(() => shown().frames === 2, 'the first epoch')
    for (let epoch = 2; epoch <= 5; epoch++) {
      await pass(station.clock, interval_s * 1_000)
      caster.visits[0]?.socket.write(frames)
      await until(() => shown().frames === 2 * epoch, `epoch ${epoch}`)
    }
    t.equal(shown().state, 'streaming')
    await pass(station.clock, 3 * interval_s * 1_000)
    t.equal(shown().state, 'streaming')
    await secondsUntil(() => shown().state === 'waiting', 'silent')
    t.match(shown().text, new RegExp(`no good message for ${3 * interval_s} s`))
    t.equal(caster.visits.length, 1)
  })

t.test('no mountpoint is set: the nearest of the table', async (t) => {
  const row = (mount: string, lat: number, format = 'RTCM 3.2', nmea = 0) =>
    `STR;${mount};x;${format};1005(1);2;GPS;NONE;NLD;${lat};4.00;${nmea};0;x;none;B;N;1000;`
  const table = [
    row('FAR', 48),
    row('NEAR', 52.01, 'RTCM 3.2', 1),
    row('RAW', 52, 'RAW'),
    'junk',
    row('MID', 51),
    'ENDSOURCETABLE',
    '',
  ].join('\r\n')
  const caster = await fakeCaster(t, ({ socket }, index) => {
    if (index === 0) socket.write(`SOURCETABLE 200 OK\r\nContent-Length: ${table.length}\r\n\r\n${table}`)
    else socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames]))
  })
  const { set, shown, secondsUntil, taken } = await setUp(t)
  await set({ host: '127.0.0.1', port: caster.port })
  await secondsUntil(() => taken.length >= 2, 'the stream')
  t.match(
    caster.visits.map(({ head }) => head),
    [/^GET \/ /, /^GET \/NEAR /],
  )
  await secondsUntil(() => /GPGGA/.test(caster.visits[1]?.body.toString() ?? ''), 'which wants to know where it is')
  t.equal(shown().mount, 'NEAR')
  const nearestOf = (text: string) =>
    parseTable(text).reduce<Nearest | undefined>((best, row) => nearer(best, row, here), undefined)
  t.equal(nearestOf(table)?.row.mount, 'NEAR')
  t.equal(nearestOf('nothing'), undefined)
  const read: [string, number][] = []
  let at = 0
  const inBytes = new TableReader(({ mount }) => read.push([mount, at]))
  for (const byte of Buffer.from(table)) {
    at += 1
    inBytes.push(Buffer.of(byte))
  }
  const ends = (mount: string) => table.indexOf('\n', table.indexOf(mount)) + 1
  t.strictSame(
    read,
    ['FAR', 'NEAR', 'RAW', 'MID'].map((mount) => [mount, ends(mount)]),
    'a row is read when it is there, and not at the end of all',
  )
  t.ok(inBytes.over)
})

t.test('what goes wrong, in words; and how long it stays away', async (t) => {
  const table = 'SOURCETABLE 200 OK\r\n\r\nSTR;OTHER;x;RTCM 3;;2;GPS;N;NLD;52;4;0;0;x;none;N;N;1;\r\nENDSOURCETABLE\r\n'
  for (const [answer, text, least_s, most_s] of [
    ['HTTP/1.1 401 Unauthorized\r\n\r\n', /user and password/, 590, 600],
    ['HTTP/1.1 404 Not Found\r\n\r\n', /does not know the mountpoint/, 590, 600],
    [table, /has no mountpoint NET/, 590, 600],
    [table.replace('OTHER', 'NET'), /may be blocked/, 590, 600],
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>', /login page/, 10, 14],
    ['HTTP/1.1 503 Busy\r\n\r\n', /503/, 10, 14],
    [`x${'y'.repeat(10_000)}`, /not from an NTRIP caster: check host and port/, 10, 14],
    // N8: the sentence says what the caster did.
    [
      `${v2}Transfer-Encoding: chunked\r\n\r\nnonsense\r\n`,
      /announces chunks and sends something else \(.*\): try NTRIP version 1/,
      10,
      14,
    ],
    [table.replace('\r\n\r\n', '\r\n'), /has no mountpoint NET/, 590, 600],
    [table.replace('200 OK\r\n\r\n', '200 OK\r\nContent-Length: 9\r\n\r\n'), /has no mountpoint NET/, 590, 600],
    [table.replace('200 OK\r\n\r\n', '200 OK\r\nContent-Length: 9999\r\n'), /has no mountpoint NET/, 590, 600],
    ['HTTP/1.1 401 Unauthorized\r\n', /user and password/, 590, 600],
    ['', /did not answer in 10 s/, 10, 14],
    ['ICY 200 OK\r\n\r\n', /no good message for 30 s/, 10, 14],
    ['SOURCETABLE 200 OK\r\n\r\nSTR;', /table did not end within 60 s/, 10, 14],
    [`ICY 200 OK\r\n\r\n${'x'.repeat(1_100_000)}`, /no good message for 30 s/, 10, 14],
  ] as const) {
    const caster = await fakeCaster(t, ({ socket }) => answer && socket.write(answer))
    const { set, shown, secondsUntil, station } = await setUp(t)
    await set({ host: '127.0.0.1', port: caster.port, mount: 'NET' })
    await secondsUntil(() => shown().state === 'waiting', JSON.stringify(answer.slice(0, 40)))
    t.match(shown().text, text)
    t.strictSame(Value.Errors(NtripClientInfo, shown()), [])
    t.ok(shown().next >= least_s - 2 && shown().next <= most_s, `${shown().next} s`)
    await station.stop()
  }
  t.match(readAnswer(['HTTP/1.1 302 Found']), { kind: 'refused', final: false })
  t.match(decodeGga(ggaOf({ x: -here.x, y: -here.y, z: -here.z }, 0)), { lat: /^-52/, lon: /^-17[56]/ })
})

t.test('a caster that gives a message and ends the connection is not asked again and again', async (t) => {
  const caster = await fakeCaster(t, ({ socket }) =>
    socket.end(Buffer.concat([Buffer.from('ICY 200 OK\r\n\r\n'), frames])),
  )
  const { set, shown, secondsUntil } = await setUp(t)
  await set({ host: '127.0.0.1', port: caster.port, mount: 'NET' })
  const waits: number[] = []
  for (let attempt = 1; attempt <= 4; attempt++) {
    await secondsUntil(() => caster.visits.length === attempt && shown().state === 'waiting', `attempt ${attempt}`)
    waits.push(shown().next)
  }
  for (const [index, least_s] of [10, 20, 40, 80].entries()) {
    const wait_s = waits[index] ?? 0
    t.ok(wait_s >= least_s - 1 && wait_s <= least_s * 1.4, `${wait_s} s after attempt ${index + 1}`)
  }
})

t.test(
  'a caster that sends 10 MB/s is read at its pace and left alone for 10 min, and rovers lose nothing',
  async (t) => {
    const megabyte = Buffer.alloc(1_000_000, Buffer.concat(Array.from({ length: 1_000 }, () => frames)))
    const caster = await fakeCaster(t, ({ socket }) => {
      socket.write('ICY 200 OK\r\n\r\n')
      const flood = setInterval(() => socket.writableLength < 2_000_000 && socket.write(megabyte), 100)
      socket.once('close', () => clearInterval(flood))
    })
    let taken_bytes = 0
    const around = definePlugin({
      name: 'around',
      version: '1.0.0',
      api: '^1.0.0',
      provides: [correctionInput, correctionStatus],
      setup(ctx) {
        const take = (bytes: Uint8Array) => {
          taken_bytes += bytes.length
          return ''
        }
        ctx.services.provide(correctionInput, { take })
        ctx.services.provide(correctionStatus, partOf(correctionStatus, { input: 'on' }))
      },
    }) as AnyPlugin
    const port = await freeTcpPort()
    const { station, clock, change, second } = await setUpStation(t, {
      plugins: {
        around,
        'rtcm-tcp': [rtcmTcp as AnyPlugin, { host: '127.0.0.1' }],
        'ntrip-client': ntripClient as AnyPlugin,
      },
      variant: { changes: { 'rtcm-tcp-port': port } },
    })
    const shown = () => station.field('ntrip.client') as { state: string; text: string; next: number }
    const rover = new Client(port)
    t.teardown(() => rover.socket.destroy())
    await until(() => (station.field('rtcm_tcp') as { connected: number }).connected === 1, 'the rover')
    let seconds = 0
    let last_ms = 0
    /** A second of RTCM in a fifth of a second, until something is so. */
    const goOnUntil = (condition: () => boolean, what: string) =>
      until(
        async () => {
          if (performance.now() - last_ms < 200) return condition()
          last_ms = performance.now()
          await second()
          seconds += 1
          return condition()
        },
        what,
        90_000,
      )
    await change({ 'ntrip-client': { host: '127.0.0.1', port: caster.port, mount: 'NET' } })
    await goOnUntil(() => taken_bytes > 0, 'the stream')
    const begun_ms = performance.now()
    const allowed_bytes = () => 1_048_576 + 131_072 * (1 + (performance.now() - begun_ms) / 1_000)
    const isTaken = () => performance.now() - begun_ms > 2_000 && taken_bytes > 500_000
    await goOnUntil(isTaken, 'two seconds, and more than the allowance of the beginning leaves behind')
    t.ok(taken_bytes < allowed_bytes(), `${taken_bytes} bytes`)
    if (!gateOnly) {
      await goOnUntil(() => shown().state === 'waiting', 'the end of the patience')
      t.match(shown().text, /^127\.0\.0\.1 sends more than 128 KiB a second for 30 s: check host and port$/)
      t.ok(taken_bytes < allowed_bytes(), `${taken_bytes} bytes`)
      t.ok(shown().next > 590, `${shown().next} s`)
      await until(() => caster.visits[0]?.socket.destroyed === true, 'the connection is ended')
      await clock.advance(590_000)
      t.equal(caster.visits.length, 1)
      await clock.advance(12_000)
      await until(() => caster.visits.length === 2, 'it is tried again')
    }
    const times = () => framesIn(rover.bytes).flatMap((frame) => decodeMsmHeader(frame)?.epochTime ?? [])
    await until(() => times().length >= 2 * seconds, 'the last epoch')
    t.strictSame(
      times(),
      Array.from({ length: 2 * seconds }, (_, index) => (1 + (index >> 1)) * 1_000),
      'every epoch',
    )
  },
)
