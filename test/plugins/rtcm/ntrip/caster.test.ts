import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { NtripCasterInfo } from 'rtk-base/schemas'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import ntripCaster from '../../../../plugins/rtcm/ntrip-caster/index.js'
import { Rovers } from '../../../../plugins/rtcm/ntrip-caster/rovers.js'
import { LocalNetwork } from '../../../../runtime/gateway/http/local-network.js'
import {
  decodeLegacy,
  decodeMsm,
  decodeMsmHeader,
  encodeLegacy,
  encodeMsm,
  encodeNmea,
  encodeRtcm,
  messageNumber,
  moreFollows,
} from '../../../../runtime/lib/gnss/index.js'
import { asMsm4, ChunkReader, chunkOf, Distributor, parseTable } from '../../../../runtime/lib/ntrip/index.js'
import { SimulatedMachine } from '../../../../runtime/platform/ports/machine.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { drive } from '../../../harness/drive.js'
import { arpFrame, gateOnly, msmFrame, sample, type TestStationOptions, until } from '../../../harness/index.js'
import { MemoryStore } from '../../../harness/memory-store.js'
import { createAuthority } from '../../../harness/peers/certificates.js'
import { Client, framesIn, here, largeEpoch, setUpStation } from './rig.js'

const there = { ...here, x: here.x + 40 }

/** A disk takes its time. */
class SlowStore extends MemoryStore {
  override async get(namespace: string, key: string): Promise<unknown> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    return super.get(namespace, key)
  }
}

async function setUp(t: Test, options: Record<string, unknown> = {}) {
  const rig = await setUpStation(t, {
    store: new SlowStore(),
    plugins: { 'ntrip-caster': [ntripCaster as AnyPlugin, { host: '127.0.0.1', ...options }] },
    variant: { changes: { 'ntrip-caster-port': 0 } },
  })
  type Block = {
    port: number
    connected: number
    refused: number
    users: number
    rovers: Record<string, unknown>[]
    bases: Record<string, unknown>[]
  }
  const caster = () => rig.station.field('ntrip.caster') as Block
  await until(() => caster().port > 0, 'it listens')
  const rover = async (head: string, mount = 'TEST0001') => {
    const client = new Client(caster().port)
    t.teardown(() => client.socket.destroy())
    client.socket.write(head.replaceAll('MOUNT', mount))
    return client
  }
  return { ...rig, caster, rover }
}

const v1 = 'GET /MOUNT HTTP/1.0\r\nUser-Agent: NTRIP test/1\r\n\r\n'
const v2 = 'GET /MOUNT HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: NTRIP test/2\r\n\r\n'
const login = (head: string, user: string, password: string) =>
  head.replace('\r\n\r\n', `\r\nAuthorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n\r\n`)

t.test('a rover', async (t) => {
  t.test('of NTRIP 1 gets ICY, the position of the base, then whole epochs', async (t) => {
    const { receiver, epoch, rover, caster, station, clock } = await setUp(t)
    const subscribers = () => station.field('gnss.rtcm.subscribers')
    t.strictSame(subscribers(), [], 'nobody is there')
    const since = Math.floor(clock.now() / 1_000)
    receiver.emit(arpFrame(here))
    epoch(1_000)
    const client = await rover(v1)
    await until(() => client.types().length === 1, 'the position')
    t.equal(client.head, 'ICY 200 OK')
    epoch(2_000)
    await until(() => client.types().length === 4, 'an epoch')
    t.strictSame(client.types(), [1005, 1074, 1084, 1124])
    t.match(caster(), {
      connected: 1,
      rovers: [{ mount: 'TEST0001', agent: 'NTRIP test/1', ip: '127.0.0.1', user: '', since }],
    })
    t.ok(since > 1e9)
    const long = await rover(v1.replace('NTRIP test/1', `\x01~ ${'x'.repeat(64)}`))
    await until(() => long.types().length >= 1, 'the position')
    t.equal(caster().rovers[1]?.agent, `?~ ${'x'.repeat(21)}`, 'what it says of itself is printable and short')
    long.socket.destroy()
    await until(() => caster().connected === 1, 'it is gone')
    t.strictSame(subscribers(), [{ via: 'ntrip', name: 'NTRIP test/1', seen: 0, ip: '127.0.0.1' }])
    await station.reload('ntrip-caster')
    t.match(subscribers(), [{ name: 'NTRIP test/1' }], 'after a reload too, once')
    client.socket.destroy()
    await until(() => caster().connected === 0, 'gone')
    t.strictSame(subscribers(), [])
  })

  t.test('of NTRIP 2 gets chunks, one an epoch', async (t) => {
    const { receiver, epoch, rover } = await setUp(t)
    receiver.emit(arpFrame(here))
    const client = await rover(v2)
    await until(() => client.types().length === 1, 'the position')
    t.match(client.head, /^HTTP\/1\.1 200 OK\r\nNtrip-Version: Ntrip\/2\.0\r\n(.*\r\n)*Content-Type: gnss\/data\r\n/)
    epoch(1_000)
    epoch(2_000)
    await until(() => client.types().length === 7, 'two epochs')
    const sizes = client.text.slice(client.head.length + 4).match(/(?:^|\r\n)[0-9a-f]+\r\n/g)
    t.ok((sizes?.length ?? 0) >= 3, 'the position and two epochs')
  })

  t.test(
    'that writes HTTP/1.1 without Ntrip-Version is one of NTRIP 1; the request may come byte by byte',
    async (t) => {
      const { receiver, rover, caster } = await setUp(t)
      receiver.emit(arpFrame(here))
      const client = new Client(caster().port)
      t.teardown(() => client.socket.destroy())
      for (const byte of 'GET /TEST0001 HTTP/1.1\r\nAccept: */*\r\n\r\n') client.socket.write(byte)
      await until(() => client.types().length === 1, 'the position')
      t.match(client.head, 'ICY 200 OK')
      for (const target of ['MOUNT', '/MOUNT/', '/test0001', 'http://station:2101/MOUNT']) {
        const odd = await rover(`GET ${target} HTTP/1.0\r\nUser-Agent: NTRIP test/1\r\n\r\n`)
        await until(() => odd.head === 'ICY 200 OK', target)
        odd.socket.destroy()
      }
      const bare = await rover('GET /MOUNT HTTP/1.1\n\n')
      await until(() => bare.types().length === 1, 'also with bare line ends')
    },
  )

  t.test('gets no observation before the position of the present verdict', async (t) => {
    const { receiver, epoch, rover } = await setUp(t)
    const client = await rover(v1)
    await until(() => client.text === 'ICY 200 OK\r\n\r\n', 'the head')
    epoch(1_000)
    receiver.emit(arpFrame(here))
    epoch(2_000)
    await until(() => client.types().length === 4, 'position and epoch')
    t.strictSame(client.types(), [1005, 1074, 1084, 1124])
    receiver.become({ mode: 'rover' })
    epoch(3_000)
    receiver.become({ mode: 'listening' })
    epoch(4_000)
    receiver.emit(arpFrame(there))
    epoch(5_000)
    await until(() => client.types().length === 8, 'the other position')
    t.strictSame(client.types().slice(4), [1005, 1074, 1084, 1124])
  })

  t.test('says where it is: in the request, after it, split, damaged', async (t) => {
    const { receiver, rover, caster } = await setUp(t)
    receiver.emit(arpFrame(here))
    const gga = Buffer.from(
      encodeNmea('GNGGA,120000.00,5159.9999,N,00400.0001,E,4,12,0.8,5.0,M,44.6,M,1.0,0001'),
    ).toString()
    const client = await rover(v1.replace('\r\n\r\n', `\r\n\r\n${gga}`))
    await until(() => (caster().rovers[0]?.quality as number) === 4, 'its position')
    t.match(caster().rovers[0], { lat: /^51\.99999/, lon: /^4\.00000/ })
    t.ok((caster().rovers[0]?.dist as number) > 0)
    const other = gga.replace(',4,12,', ',5,12,')
    client.socket.write(other)
    client.socket.write(`$GPGGA,${'x'.repeat(10_000)}\r\n$GPGGA\r\n`)
    const float = Buffer.from(
      encodeNmea('GPGGA,120001.00,5159.9999,N,00400.0001,E,5,12,0.8,5.0,M,44.6,M,1.0,0001'),
    ).toString()
    client.socket.write(float.slice(0, 20))
    client.socket.write(float.slice(20))
    await until(() => (caster().rovers[0]?.quality as number) === 5, 'the whole one')
    const header = await rover(v2.replace('\r\n\r\n', `\r\nNtrip-GGA: ${gga.trim()}\r\n\r\n`))
    await until(() => caster().rovers.length === 2 && caster().rovers[1]?.quality === 4, 'of the header')
    header.socket.destroy()
  })

  t.test('keeps its connection over a reload, and loses nothing', async (t) => {
    const { station, receiver, epoch, rover, caster } = await setUp(t)
    receiver.emit(arpFrame(here))
    const [one, two] = [await rover(v1), await rover(v2)]
    await until(() => caster().connected === 2, 'both')
    for (let time = 1; time <= 20; time++) {
      epoch(time * 1_000)
      if (time % 5 === 0) await station.reload('ntrip-caster')
      receiver.emit(arpFrame(here))
    }
    const observations = (client: Client) => client.types().filter((type) => type !== 1005)
    await until(() => observations(one).length === 60 && observations(two).length === 60, 'every epoch')
    t.notOk(one.closed || two.closed)
    let time = 20
    for (let n = 0; n < 5; n++) {
      let isOver = false
      const reload = station.reload('ntrip-caster').finally(() => {
        isOver = true
      })
      while (!isOver) {
        epoch(++time * 1_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await reload
    }
    epoch(++time * 1_000)
    const times = (client: Client) =>
      framesIn(client.bytes).flatMap((frame) =>
        messageNumber(frame) === 1074 ? [(decodeMsmHeader(frame)?.epochTime ?? 0) / 1_000] : [],
      )
    const all = Array.from({ length: time }, (_, index) => index + 1)
    await until(() => times(one).length >= time && times(two).length >= time, 'also of the epochs of the reload')
    t.strictSame(times(one), all, 'each once, in order')
    t.equal(caster().connected, 2)
    const before = one.types().length
    await station.reload('ntrip-caster')
    epoch(++time * 1_000)
    await until(() => one.types().length >= before + 3, 'the next epoch')
    t.strictSame(one.types().slice(before), [1074, 1084, 1124], 'what it knows is not sent to it again')
  })

  t.test('that reads nothing is let go, and holds nobody up', async (t) => {
    const { receiver, rover, caster } = await setUp(t)
    receiver.emit(arpFrame(here))
    const [slow, good] = [await rover(v1), await rover(v1)]
    await until(() => caster().connected === 2, 'both')
    await until(() => good.types().length === 1, 'the position')
    slow.socket.pause()
    const before = good.bytes.length
    const large = largeEpoch()
    let sent = 0
    await until(async () => {
      for (let i = 0; i < 200; i++) receiver.emit(large)
      sent += 200 * large.length
      await new Promise((resolve) => setImmediate(resolve))
      return caster().connected === 1
    }, 'it is let go')
    await until(() => good.bytes.length - before === sent, 'the other has everything')
  })

  t.test('that floods is not read any further; ten sentences a second do no harm', async (t) => {
    const { rover, clock, caster } = await setUp(t)
    const [good, flooding] = [await rover(v1), await rover(v1)]
    await until(() => caster().connected === 2, 'both')
    for (let second = 0; second < 30; second++) {
      good.socket.write('$GPGGA,000000,,,,,0,,,,,,,,*66\r\n'.repeat(20))
      await clock.advance(1_000)
    }
    // More than its budget and what the system keeps for both ends together.
    flooding.socket.write(Buffer.alloc(32 << 20, 10))
    const gga = encodeNmea('GPGGA,120001.00,5159.9999,N,00400.0001,E,5,12,0.8,5.0,M,44.6,M,1.0,0001')
    good.socket.write(gga)
    await until(() => caster().rovers.some(({ lat }) => Number(lat) > 0), 'the position of the good one')
    t.ok(flooding.socket.writableLength > 8 << 20, `${flooding.socket.writableLength} bytes are still on their way`)
    t.equal(caster().connected, 2)
  })

  t.test('is disconnected by command', async (t) => {
    const { rover, caster, command } = await setUp(t)
    const client = await rover(v1)
    await until(() => caster().connected === 1, 'connected')
    t.match(await command('ntrip-rovers'), { text: /^\d+: NTRIP test\/1 at 127\.0\.0\.1, TEST0001/ })
    t.match(await command('ntrip-kick=99'), { status: 200, text: /no rover 99/ })
    t.match(await command(`ntrip-kick=${caster().rovers[0]?.id}`), { status: 200, text: /disconnected/ })
    await client.ends()
    t.match(await command('ntrip-kick=x'), { status: 400 })
  })
})

t.test('P2: a mountpoint typed in other letters takes the right login, for rovers and bases', async (t) => {
  const mounts = [{ name: 'North' }, { name: 'Plain', plainV2: true }]
  const { rover, command, caster, receiver } = await setUp(t, { mounts })
  receiver.emit(arpFrame(here))
  t.match(await command('ntrip-user=anna:s3cret:North,plain'), { status: 200, text: /^user anna set$/ })
  t.match(await command('ntrip-user=ben:s3cret:EAST'), { status: 200, text: /EAST/ }, 'before its mountpoint is there')
  t.match(await command('ntrip-base=East:s3cret'), { status: 200 })
  const ben = await rover(login(v2, 'ben', 's3cret'), 'east')
  await until(() => ben.head !== '', 'an answer')
  t.match(ben.head, /^HTTP\/1\.1 200 /)
  ben.socket.destroy()
  await until(() => caster().connected === 0, 'gone')
  for (const mount of ['North', 'NORTH', 'north', 'nOrTh/', '%6eorth']) {
    for (const head of [v1, v2]) {
      const anna = await rover(login(head, 'anna', 's3cret'), mount)
      await until(() => anna.types().length === 1, `${mount} ${head.slice(0, 30)}`)
      t.match(caster().rovers.at(-1), { user: 'anna', mount: 'North' })
      anna.socket.destroy()
      await until(() => caster().connected === 0, 'gone')
    }
  }
  const wrong = await (await rover(login(v2, 'anna', 'other'), 'NORTH')).answer()
  t.match(
    wrong,
    /^HTTP\/1\.1 401 (.*\r\n)*WWW-Authenticate: Basic realm="\/North"/,
    'the realm is that of the mountpoint',
  )
  const plain = await rover(login(v2, 'anna', 's3cret'), 'PLAIN')
  await until(() => plain.types().length === 1, 'plain')
  t.notMatch(plain.head, 'chunked', 'the settings of the mountpoint count')
  const pushes = [
    'SOURCE s3cret /EAST\r\nSource-Agent: NTRIP other/1\r\n\r\n',
    login('POST /east HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\n\r\n', 'anyone', 's3cret'),
  ]
  for (const head of pushes) {
    const base = await rover(head)
    await until(() => /^(ICY|HTTP\/1\.1) 200 OK/.test(base.text || base.head), `${head.slice(0, 20)}: accepted`)
    t.match(caster().bases, [{ mount: 'East', connected: true }])
    base.socket.destroy()
    await until(() => caster().bases[0]?.connected === false, 'gone')
  }
  t.match(await (await rover('SOURCE s3cret /north\r\n\r\n')).ends(), /^ERROR - Mount Point Taken/)
  t.match(await (await rover(pushes[1]?.replace('/east', '/NORTH') ?? '')).answer(), /^HTTP\/1\.1 409 /)
  t.match(await command('ntrip-base=NORTH:s3cret'), { status: 400, text: /station itself/ })
})

t.test('N3: names and passwords in any script', async (t) => {
  const { rover, command, caster, receiver } = await setUp(t)
  receiver.emit(arpFrame(here))
  const basic = (head: string, bytes: Buffer) =>
    head.replace('\r\n\r\n', `\r\nAuthorization: Basic ${bytes.toString('base64')}\r\n\r\n`)
  for (const [user, password] of [
    ['jürgen', 'geheimß'],
    ['Ольга', 'пароль'],
    ['測量', '密碼密碼'],
  ] as const) {
    t.match(await command(`ntrip-user=${user}:${password}`), { status: 200, text: `user ${user} set` })
    t.match(await command(`ntrip-base=EAST:${password}`), { status: 200 })
    const login = `${user}:${password}`
    const heads = [basic(v1, Buffer.from(login)), basic(v2, Buffer.from(login))]
    if (user === 'jürgen') heads.push(basic(v1, Buffer.from(login, 'latin1')))
    // As a Mac types it.
    heads.push(basic(v2, Buffer.from(login.normalize('NFD'))))
    for (const head of heads) {
      const client = await rover(head)
      await until(() => client.types().length === 1, `${user}: ${client.head}`)
      t.match(caster().rovers.at(-1), { user })
      client.socket.destroy()
      await until(() => caster().connected === 0, 'gone')
    }
    t.match(
      await (await rover(basic(v2, Buffer.from(`${user}:other`)))).answer(),
      /401(.*\r\n)*WWW-Authenticate: Basic realm="[^"]*", charset="UTF-8"\r\n/,
    )
    const base = await rover(`SOURCE ${password} /EAST\r\n\r\n`)
    await until(() => base.text.includes('ICY 200 OK'), `${user}: ${base.text}`)
    base.socket.destroy()
    await until(() => caster().bases[0]?.connected === false, 'gone')
    const client = await rover(heads[0] ?? '')
    await until(() => client.types().length === 1, 'connected')
    t.match(await command(`ntrip-user=${user.normalize('NFD')}`), { text: /deleted, 1 connection ended/ })
    await until(() => caster().connected === 0, 'its connection is ended')
  }
  t.match(await command('ntrip-user=a b:s3cret'), { status: 400 })
  t.match(await command('ntrip-user=anna:s3\u0007cret'), { status: 400 })
  for (const unseen of ['\u200b', '\u2009', '\u3000', '\ufeff'])
    for (const login of [`user=anna:s3cret${unseen}`, `user=${unseen}anna:s3cret`, `base=EAST:s3cret${unseen}`])
      t.match(await command(`ntrip-${login}`), { status: 400, text: /invisible characters/ })
})

t.test('mountpoints', async (t) => {
  const mounts = [
    { name: 'ALL' },
    { name: 'GPS', messages: [1074] },
    { name: 'SLOW', interval_s: 5 },
    { name: 'PLAIN', plainV2: true },
  ]
  const { receiver, epoch, rover, clock, caster } = await setUp(t, { mounts, place: 'Delft; NL', country: 'NLD' })
  receiver.emit(arpFrame(here))
  const clients = await Promise.all(['ALL', 'GPS', 'SLOW'].map((name) => rover(v1, name)))
  const plain = await rover(v2, 'PLAIN')
  await until(() => caster().connected === 4, 'connected')
  for (let time = 1; time <= 10; time++) {
    epoch(time * 1_000)
    await clock.advance(1_000)
  }
  const bias = encodeRtcm({ type: 1230, stationId: 0, biasesAligned: false, biases_m: { l1ca: 0 } })
  receiver.emit(bias)
  const [all, gps, slow] = clients as [Client, Client, Client]
  await until(() => all.types().length === 32 && plain.types().length === 32, 'everything')
  t.strictSame(gps.types(), [1005, ...Array.from({ length: 10 }, () => 1074)])
  t.strictSame(slow.types(), [1005, 1074, 1084, 1124, 1074, 1084, 1124, 1230], 'whole epochs, two of ten')
  t.notMatch(plain.head, 'chunked')

  t.test('the table offers them with what was measured; filters; v1, v2 and a browser', async (t) => {
    const table = await (await rover('GET / HTTP/1.0\r\nUser-Agent: NTRIP x\r\n\r\n')).ends()
    t.match(table, /^SOURCETABLE 200 OK\r\n(.*\r\n)*Content-Length: \d+\r\n/)
    t.ok(table.endsWith('ENDSOURCETABLE\r\n'))
    const rows = parseTable(table)
    t.strictSame(
      rows.map(({ mount }) => mount),
      ['ALL', 'GPS', 'SLOW', 'PLAIN'],
    )
    t.match(rows[0], {
      ...{ identifier: 'Delft  NL', format: 'RTCM 3.2', details: '1005,1074(1),1084(1),1124(1),1230' },
      ...{ systems: 'GPS+GLO+BDS', country: 'NLD', lat: 52, lon: 4, authentication: 'N', carrier: 1 },
    })
    t.equal(rows[1]?.details, '1005,1074(1)', 'P1: of one message no interval is claimed')
    t.strictSame(
      rows.map(({ misc }) => misc),
      [
        'GLONASS without frequency channels',
        '',
        'GLONASS without frequency channels',
        'GLONASS without frequency channels',
      ],
      'MSM4 has none, and no 1020 was sent',
    )
    t.equal(rows[2]?.details, '1005,1074(5),1084(5),1124(5),1230')
    const length = Number(/Content-Length: (\d+)/.exec(table)?.[1])
    t.equal(Buffer.byteLength(table.slice(table.indexOf('\r\n\r\n') + 4)), length)
    const two = await (await rover(v2.replace('MOUNT', '').replace('Host: x', 'Host: base.example:12101'))).ends()
    t.match(two, /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Content-Type: gnss\/sourcetable/)
    t.match(await (await rover('GET / HTTP/1.1\r\nUser-Agent: Mozilla/5\r\n\r\n')).ends(), /^HTTP\/1\.1 200 OK\r\n/)
    const head =
      /^CAS;127\.0\.0\.1;\d+;Delft {2}NL;TEST0001;1;NLD;[\d.]+;[\d.]+;0\.0\.0\.0;0;\r\nNET;TEST0001;Delft {2}NL;N;N;none;none;none;\r\nSTR;/
    t.match(table.split('\r\n\r\n')[1], head)
    t.match(two, /^CAS;base\.example;12101;/m, 'as it was called')
    t.ok(parseTable(table).every(({ network }) => network === 'TEST0001'))
    const some = await (await rover('GET /?STR;G*|SL* HTTP/1.0\r\nUser-Agent: NTRIP x\r\n\r\n')).ends()
    t.strictSame(
      parseTable(some).map(({ mount }) => mount),
      ['GPS', 'SLOW'],
    )
  })

  t.test('one that is not there: the table for NTRIP 1, 404 for NTRIP 2', async (t) => {
    t.match(await (await rover(v1, 'NONE')).ends(), /^SOURCETABLE 200 OK/)
    t.match(await (await rover(v2, 'NONE')).ends(), /^HTTP\/1\.1 404 .*\r\n(.*\r\n)*there is no mountpoint NONE/)
  })
})

t.test('the position goes out whatever messages are chosen, as 1005 or as 1006', async (t) => {
  const { receiver, epoch, rover, station, change } = await setUp(t, { mounts: [{ name: 'GPS', messages: [1074] }] })
  await change({ 'gnss-antenna-height': 1.5 })
  receiver.emit(arpFrame(here))
  const client = await rover(v1, 'GPS')
  await until(() => client.types().length === 1, 'the position')
  epoch(1_000)
  await until(() => client.types().length === 2, 'position and epoch')
  t.strictSame(client.types(), [1006, 1074])
  const [, observations] = framesIn(client.bytes)
  t.notOk(moreFollows(observations as Uint8Array), 'the last one of its epoch says so')
  t.match(station.field('gnss.rtcm.antenna'), { height: 1.5 })
})

t.test('an observation never follows a position that was left out', (t) => {
  const distributor = new Distributor<{ primed: boolean }>({ open: true, reference: () => [] }, {}, () => 0, {
    send: (_taker, { bytes }) => {
      if (isSlow) return false
      sent.push(messageNumber(bytes))
      return true
    },
  })
  const sent: number[] = []
  let isSlow = true
  distributor.add({ primed: false })
  const frame = (bytes: Uint8Array) => ({ type: messageNumber(bytes), bytes, arrival_ms: 0 })
  const second = () => {
    distributor.frame(frame(arpFrame(here)), 1)
    isSlow = false
    distributor.epoch({ frames: [frame(msmFrame(1074, 0, false))], time: 0, satellites: 2, complete: true }, 2)
  }
  second()
  t.strictSame(sent, [], 'the slow one has no position')
  second()
  t.strictSame(sent, [1005, 1074])
  t.end()
})

t.test('what MSM7 has and MSM4 cannot hold becomes invalid', (t) => {
  const lightMs_m = 299_792.458
  const range_m = 75 * lightMs_m
  const head = { type: 1077, stationId: 0, epochTime: 1_000, multiple: false }
  const observations = [
    {
      satellite: 3,
      signal: 2,
      pseudorange_m: range_m,
      phase_m: range_m + ((2 ** 23 - 1) / 2 ** 31) * lightMs_m,
      lock: 700,
    },
    { satellite: 3, signal: 16, pseudorange_m: range_m + 100, phase_m: range_m - 500, lock: 700, cnr_dbhz: 63.9 },
  ]
  const msm7 = encodeMsm({ ...head, observations })
  const [far, near] = decodeMsm(asMsm4({ type: 1077, bytes: msm7 }).bytes)?.observations ?? []
  t.equal(far?.phase_m, undefined, '1.17 km from the range')
  t.ok(Math.abs((far?.pseudorange_m ?? 0) - range_m) < 0.02)
  t.ok(Math.abs((near?.phase_m ?? 0) - range_m + 500) < 0.001)
  t.equal(near?.cnr_dbhz, 63)
  t.end()
})

t.test('MSM7 becomes MSM4 where the mount asks for it', async (t) => {
  const { receiver, epoch, rover } = await setUp(t, { mounts: [{ name: 'THIN', msm4: true, messages: [1074] }] })
  receiver.emit(arpFrame(here))
  const client = await rover(v1, 'THIN')
  await until(() => client.types().length === 1, 'the position')
  epoch(1_000, 1077, 1087)
  await until(() => client.types().length === 2, 'an epoch')
  t.strictSame(client.types(), [1005, 1074])
})

t.test('old rovers get 1004 and 1012, and nothing newer, where the mount asks for it', async (t) => {
  const mounts = [
    { name: 'OLD', legacy: true },
    { name: 'GPS', legacy: true, messages: [1004, 1230] },
    { name: 'BOTH', legacy: 'beside', messages: [1004, 1012, 1077, 1087] },
  ]
  const { receiver, rover } = await setUp(t, { mounts })
  receiver.emit(arpFrame(here))
  const [old, gps, both] = await Promise.all([rover(v1, 'OLD'), rover(v1, 'GPS'), rover(v1, 'BOTH')])
  await until(() => [old, gps, both].every((one) => one.types().length === 1), 'the position')
  receiver.emit(encodeRtcm({ type: 1230, stationId: 0, biasesAligned: false, biases_m: { l1ca: 0 } }))
  receiver.emit(encodeRtcm({ type: 1008, stationId: 0, antennaDescriptor: 'A', antennaSetupId: 0, antennaSerial: '' }))
  const made = encodeLegacy({
    ...{ type: 1004, stationId: 0, epochTime: 1, synchronous: false, smoothing: false, smoothingInterval: 0 },
    satellites: [],
  })
  receiver.emit(made)
  const msm = { stationId: 0, epochTime: 1_000, observations: [{ satellite: 3, signal: 2, pseudorange_m: 22e6 }] }
  receiver.emit(encodeMsm({ ...msm, type: 1077, multiple: true }))
  receiver.emit(encodeMsm({ ...msm, type: 1087, multiple: true, info: { 3: 12 } }))
  receiver.emit(encodeMsm({ ...msm, type: 1127, multiple: false }))
  await until(() => old.types().length === 4 && gps.types().length === 3 && both.types().length === 5, 'an epoch')
  t.strictSame(both.types(), [1005, 1004, 1012, 1077, 1087], 'those of the receiver are not a second set')
  t.strictSame(
    both.frames().map((frame) => decodeLegacy(frame)?.synchronous ?? moreFollows(frame)),
    [false, true, true, true, false],
    'one epoch',
  )
  t.strictSame(old.types(), [1005, 1008, 1004, 1012])
  t.strictSame(gps.types(), [1005, 1230, 1004])
  const table = await (await rover('GET / HTTP/1.0\r\nUser-Agent: NTRIP x\r\n\r\n')).ends()
  const [row] = parseTable(table)
  t.match(row, { mount: 'OLD', details: '1004,1005,1008,1012', carrier: 2, systems: 'GPS+GLO' })
})

t.test('a mount does not mix MSM and observations for old rovers', async (t) => {
  for (const [mount, message] of [
    [{ messages: [1004, 1074] }, /mountpoint OLD cannot send both 1074 and 1004/],
    [{ legacy: true, messages: [1004, 1074] }, /cannot send 1074 with legacy/],
    [{ legacy: true, msm4: true }, /both msm4 and legacy/],
  ] as const) {
    const options = { host: '127.0.0.1', mounts: [{ name: 'OLD', ...mount }] }
    const { station } = await setUpStation(t, { plugins: { 'ntrip-caster': [ntripCaster as AnyPlugin, options] } })
    const found = station.station.plugins().find(({ name }) => name === 'ntrip-caster')
    t.match(found, { state: 'failed', reason: message }, JSON.stringify(mount))
  }
})

t.test('TLS: a certificate that never was one is told by its listener, with the reason', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-caster-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const paths = { cert: join(folder, 'live.pem'), key: join(folder, 'live.key') }
  for (const path of Object.values(paths)) writeFileSync(path, 'none')
  const { clock, station } = await setUp(t, { tls: { port: 0, ...paths } })
  await clock.advance(61_000)
  t.match(station.device.errors(), [{ code: 'listen-rovers-tls' }])
  t.notMatch(JSON.stringify(station.device.errors()), /Invalid time|previous one stays/)
})

t.test('TLS: a renewed certificate is served within a minute, one that ends is told', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-caster-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const authority = createAuthority(folder)
  const names = 'subjectAltName=IP:127.0.0.1\n'
  const paths = { cert: join(folder, 'live.pem'), key: join(folder, 'live.key') }
  const install = (name: string) => {
    const issued = authority.issue(name, `/CN=${name}`, names)
    copyFileSync(issued.cert, paths.cert)
    copyFileSync(issued.key, paths.key)
  }
  install('first')
  const { clock, station } = await setUp(t, { tls: { port: 0, ...paths } })
  const port = () => station.field('ntrip.caster.tls') as number
  await until(() => port() > 0, 'it listens')
  const served = async () => {
    const socket = connectTls({ port: port(), host: '127.0.0.1', ca: readFileSync(authority.ca) })
    await once(socket, 'secureConnect')
    const { subject } = socket.getPeerCertificate()
    socket.destroy()
    return subject.CN
  }
  t.equal(await served(), 'first')
  install('second')
  await clock.advance(60_000)
  t.equal(await served(), 'second')
  rmSync(paths.key)
  await clock.advance(60_000)
  t.match(station.device.errors(), [{ code: 'ntrip-caster-certificate', text: /cannot be read/ }])
  t.equal(await served(), 'second', 'it stays in use')
  install('third')
  await clock.advance(60_000)
  t.same(station.device.errors(), [])
})

t.test('a rover that comes back takes the place of its own dead connection, and of no other', async (t) => {
  const ctx = {
    services: { use: () => ({ list: () => ({ close() {} }) }) },
    log: { debug() {}, info() {} },
    clock: { monotonic: () => 0 },
    defer() {},
  }
  const rovers = new Rovers(ctx as never)
  const [logins, others] = [{} as never, {} as never]
  const connect = (user: string) => {
    const state = { closed: () => {}, isGone: false, isCut: false }
    const connection = {
      remoteAddress: '127.0.0.1',
      isCut: async () => state.isCut,
      onData() {},
      onClose: (fn: () => void) => Object.assign(state, { closed: fn }),
      inheritable() {},
      destroy() {
        state.isGone = true
        state.closed()
      },
    }
    const facts = { user, agent: '', version: 1 as const, chunked: false, since: 0 }
    rovers.add(connection as never, { name: 'A', unverified: true, logins, add() {}, delete() {} } as never, facts)
    return state
  }
  const [dead, alive, other] = [connect('bob'), connect('bob'), connect('eve')]
  other.isCut = true
  t.equal(await rovers.displace('bob', logins), false)
  dead.isCut = true
  t.equal(await rovers.displace('bob', others), false, 'the same name of other logins')
  t.equal(await rovers.displace('bob', logins), true)
  t.equal(dead.isGone, true)
  t.equal(await rovers.displace('bob', logins), false)
  t.notOk(alive.isGone || other.isGone)
  t.same([rovers.ofUser('bob', logins), rovers.ofUser('bob', others)], [1, 0])
})

t.test('a client that sends its request and an end gets its answer, also where a password is derived', async (t) => {
  const { caster, command, receiver } = await setUp(t)
  receiver.emit(arpFrame(here))
  t.match(await command('ntrip-user=anna:s3cret'), { status: 200 })
  for (const [password, answer] of [
    ['s3cret', /^ICY 200 OK\r\n/],
    ['wrong', /^HTTP\/1\.0 401 /],
  ] as const) {
    const client = new Client(caster().port)
    client.socket.end(login(v1, 'anna', password).replace('MOUNT', 'TEST0001'))
    t.match(await client.ends(), answer)
  }
  await until(() => caster().connected === 0, 'nobody is left')
})

t.test('logins', async (t) => {
  const { rover, command, caster, station, receiver } = await setUp(t, { mounts: [{ name: 'A' }, { name: 'B' }] })
  receiver.emit(arpFrame(here))
  t.match(await command('ntrip-users'), { text: /no users/ })
  t.match(await command('ntrip-user=anna:s3cret:A:1'), { status: 200, text: /user anna set/ })
  t.match(await command('ntrip-user=bert:pass word'), { status: 400 })
  t.match(await command('ntrip-user=:x'), { status: 400 })
  t.match(await command('ntrip-users'), { text: /anna: A, at most 1 at a time/ })
  t.match(await command('ntrip-user=olaf:s3cret:A,C'), {
    status: 200,
    text: /olaf set; .*unknown mountpoint C, available: A, B$/,
  })
  t.match(await command('ntrip-user=olaf'), { text: /^user olaf deleted$/ })
  const anna = await rover(login(v1, 'anna', 's3cret'), 'A')
  await until(() => anna.types().length === 1, 'anna')
  t.match(caster().rovers, [{ user: 'anna' }])
  t.match(
    await (await rover(login(v2, 'anna', 's3cret'), 'A')).answer(),
    /^HTTP\/1\.1 503 .*(.|\r|\n)*anna has 1 connections already/,
  )
  t.match(
    await (await rover(login(v1, 'anna', 's3cret'), 'B')).answer(),
    /^HTTP\/1\.0 401 Unauthorized\r\n(.*\r\n)*WWW-Authenticate: Basic realm="\/B"/,
  )
  t.match(await (await rover(v2, 'A')).answer(), /^HTTP\/1\.1 401/)
  t.match(await (await rover(login(v1, 'anna', 'wrong'), 'A')).answer(), /401/)
  t.equal(parseTable(await (await rover('GET / HTTP/1.0\r\n\r\n')).ends())[0]?.authentication, 'B')
  await station.station.change({ 'ntrip-caster-anonymous': 1 }, { source: 'http' })
  const open = await rover(v1, 'B')
  await until(() => open.types().length === 1, 'anonymous')
  t.match(await command('ntrip-user=anna:0ther:A:1'), { status: 200, text: /^user anna set, 1 connection ended$/ })
  await anna.ends()
  await station.station.change({ 'ntrip-caster-anonymous': 0 }, { source: 'http' })
  t.match(await (await rover(login(v1, 'anna', 's3cret'), 'A')).answer(), /401/, 'a login that was right is forgotten')
  t.match(await command('ntrip-user=anna'), { text: /deleted/ })
  t.match(await command('ntrip-user=anna'), { text: /no user anna/ })
  const names = ['carl', 'dora', 'emil', 'fred']
  await Promise.all(names.map((name) => command(`ntrip-user=${name}:s3cret`)))
  for (const name of names) t.match(await command('ntrip-users'), { text: name }, 'none of several at a time is lost')
  await Promise.all(names.map((name) => command(`ntrip-user=${name}`)))
  t.match(await command('ntrip-users'), { text: /no users/ })
  t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')
  t.notMatch(JSON.stringify(await station.station.nvs.read('ntrip-caster').catch(() => ({}))), 's3cret')
})

t.test(
  'a rover keeps its way in while another one at its address sends wrong passwords',
  { skip: gateOnly },
  async (t) => {
    const { rover, command, clock, receiver } = await setUp(t, { mounts: [{ name: 'A' }], maxPerAddress: 100 })
    receiver.emit(arpFrame(here))
    await command('ntrip-user=anna:s3cret')
    const right = async () => {
      const client = await rover(login(v1, 'anna', 's3cret'), 'A')
      await until(() => client.types().length === 1 || client.closed, 'an answer')
      return client.types().length === 1
    }
    t.ok(await right())
    const wrong = await Promise.all(Array.from({ length: 25 }, (_, n) => rover(login(v1, 'anna', `wrong${n}`), 'A')))
    // Little at a time: what counts against an address is forgotten after 10 min.
    await drive(clock, () => wrong.every(({ closed }) => closed), 'their answers', 50)
    t.match(await (await rover(login(v1, 'anna', 'other'), 'A')).ends(), /403/, 'the address is blocked')
    t.ok(await right(), 'the rover behind the same address is not')
  },
)

t.test('what is no request of a rover gets a clear answer, and costs nobody anything', async (t) => {
  const { rover, caster, receiver, epoch, station, command } = await setUp(t)
  receiver.emit(arpFrame(here))
  const good = await rover(v1)
  await until(() => good.types().length === 1, 'a good one')
  for (const [request, answer] of [
    ['\r\n\r\n', /400/],
    ['\x16\x03\x01\x02\x00\x01\n\n', /400/],
    ['GET\r\n\r\n', /400/],
    ['HELLO / HTTP/1.0\r\n\r\n', /405/],
    ['GET / HTTP/9.9\r\n\r\n', /400/],
    ['SOURCE pw MOUNT\r\nSource-Agent: NTRIP x\r\n\r\n', /^ERROR - Mount Point Taken or Invalid\r\n$/],
    ['POST /MOUNT HTTP/1.1\r\nNtrip-Version: Ntrip/2.0\r\n\r\n', /^HTTP\/1\.1 409/],
    ['POST /OTHER HTTP/1.1\r\nNtrip-Version: Ntrip/2.0\r\n\r\n', /^HTTP\/1\.1 404/],
    ['SOURCE pw /OTHER\r\n\r\n', /^ERROR - Mount Point Taken or Invalid\r\n$/],
    [`GET /${'x'.repeat(5_000)} HTTP/1.0\r\n\r\n`, /400 Bad Request(.|\r|\n)*too large/],
    ['a'.repeat(1_000_000), /400|^$/],
    [`GET / HTTP/1.0\r\nX: ${'y'.repeat(1_000_000)}\r\n\r\n`, /400|^$/],
    ['GET /%zz%00 HTTP/1.0\r\n\r\n', /SOURCETABLE/],
  ] as [string, RegExp][]) {
    t.match(await (await rover(request)).ends(), answer, JSON.stringify(request.slice(0, 40)))
  }
  const silent = await rover('GET /MOUNT HT')
  await drive(station.clock, () => silent.closed, 'a request that does not come in 10 s', 10_000)
  t.equal(silent.text, '')
  epoch(1_000)
  await until(() => good.types().length === 4, 'the good one goes on')
  t.equal(caster().connected, 1)
  const loud = () => station.lines.filter(({ level }) => level >= 30).length
  const before = loud()
  const rounds = sample(100, 20_000, 300)
  for (let i = 0; i < rounds; i++) {
    const client = new Client(caster().port)
    client.socket.write(Buffer.from(Array.from({ length: 40 }, (_, at) => (i * 31 + at * 17) & 255)))
    client.socket.end('\r\n\r\n')
    if (i % 10 === 9) await client.ends()
  }
  t.match(await command('ntrip-user=anna:s3cret'), { status: 200 })
  const deriving = new Set<number>()
  let mostDeriving = 0
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return
      deriving.add(id)
      mostDeriving = Math.max(mostDeriving, deriving.size)
    },
    before: (id) => void deriving.delete(id),
  }).enable()
  t.teardown(() => void hook.disable())
  const guesses = Array.from({ length: 40 }, (_, n) => {
    const client = new Client(caster().port)
    client.socket.write(login(v1.replace('MOUNT', 'TEST0001'), 'anna', `guess ${n}`))
    return client
  })
  await drive(station.clock, () => guesses.every(({ closed }) => closed), 'every guess is refused', 100)
  t.ok(guesses.every(({ text }) => !text.includes('ICY')))
  t.equal(mostDeriving, 1, 'one password is derived at a time: files and names need the same threads')
  t.ok(loud() - before < 10, `${loud() - before} lines`)
  epoch(2_000)
  await until(() => good.types().length === 7, 'still')
})

t.test('a foreign base', async (t) => {
  const source = 'SOURCE s3cret /EAST\r\nSource-Agent: NTRIP other/1\r\nSTR: \r\n\r\n'
  const post = (password: string, mount = 'EAST') =>
    login(
      `POST /${mount} HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: NTRIP other/2\r\nTransfer-Encoding: chunked\r\n\r\n`,
      'anyone',
      password,
    )
  const position = Buffer.from(arpFrame(there, 7))
  const observations = (time: number) => Buffer.from(msmFrame(1074, time * 1_000, false, 7))

  async function withBase(t: Test) {
    const rig = await setUp(t)
    rig.receiver.emit(arpFrame(here))
    t.match(await rig.command('ntrip-base=EAST:s3cret'), { status: 200, text: /can now push to EAST/ })
    return rig
  }

  t.test('pushes to a mountpoint of its own: to the rovers of that one and to nobody else', async (t) => {
    const { rover, caster, epoch, station } = await withBase(t)
    const [east, own] = [await rover(v2, 'EAST'), await rover(v1)]
    await until(() => own.types().length === 1 && east.head.includes('200'), 'both rovers')
    const table = async () => parseTable(await (await rover('GET / HTTP/1.0\r\n\r\n')).ends())
    t.match(
      (await table()).map(({ mount }) => mount),
      ['TEST0001'],
      'not offered before a base is there',
    )
    const base = await rover(source)
    await until(() => base.text === 'ICY 200 OK\r\n\r\n', 'accepted')
    base.socket.write(observations(1))
    base.socket.write(position)
    base.socket.write(observations(2))
    await until(() => east.types().length === 2, 'its stream')
    t.strictSame(east.types(), [1005, 1074], 'the position first')
    const damaged = Buffer.from(observations(3))
    damaged[20] = (damaged[20] as number) ^ 1
    for (const byte of Buffer.concat([damaged, Buffer.from('noise'), observations(4)]))
      base.socket.write(Buffer.from([byte]))
    await until(() => east.types().length === 3, 'what is whole')
    const late = await rover(v1, 'EAST')
    await until(() => late.types().length === 1, 'a newcomer gets the position')
    epoch(1_000)
    await until(() => own.types().length === 4, 'the own stream')
    t.strictSame(own.types(), [1005, 1074, 1084, 1124])
    t.equal(east.types().length, 3)
    t.match(caster().bases, [
      {
        mount: 'EAST',
        unverified: true,
        connected: true,
        agent: 'NTRIP other/1',
        ip: '127.0.0.1',
        frames: 4,
        rovers: 2,
      },
    ])
    t.match(caster().rovers, [{ unverified: true }, { unverified: false }, { unverified: true }])
    t.strictSame(Value.Errors(NtripCasterInfo, caster()), [])
    t.equal((station.field('gnss.rtcm.subscribers') as unknown[]).length, 1, 'only the own stream has subscribers')
    const [, row] = await table()
    t.match(row, { mount: 'EAST', misc: 'unverified', details: '1005,1074', systems: 'GPS', lat: 52 })
    t.match(row?.generator, 'NTRIP other/1')
    base.socket.destroy()
    await until(() => caster().bases[0]?.connected === false, 'gone')
    t.notOk(east.closed, 'rovers stay')
    const again = await rover(post('s3cret'))
    await until(() => /^HTTP\/1\.1 200 OK\r\nNtrip-Version/.test(again.head), 'by NTRIP 2')
    again.socket.write(chunkOf(Buffer.concat([observations(5), position, observations(6)])))
    await until(() => east.types().length === 5, 'its stream')
    t.strictSame(east.types().slice(3), [1005, 1074], 'with its own position first')
    again.socket.end('0\r\n\r\n')
    await again.ends()
  })

  t.test('is refused in words that it knows; one that is silent makes room', async (t) => {
    const { rover, caster, command, clock } = await withBase(t)
    const answer = async (head: string) => (await rover(head)).ends()
    t.equal(await answer(source.replace('s3cret', 'wrong')), 'ERROR - Bad Password\r\n')
    t.equal(await answer(source.replace('EAST', 'WEST')), 'ERROR - Mount Point Taken or Invalid\r\n')
    t.equal(await answer(source.replace('EAST', 'TEST0001')), 'ERROR - Mount Point Taken or Invalid\r\n')
    t.match(await answer(post('wrong')), /^HTTP\/1\.1 401 (.*\r\n)*WWW-Authenticate: Basic realm="\/EAST"/)
    t.match(await answer(post('s3cret', 'WEST')), /^HTTP\/1\.1 404 /)
    t.match(await answer(post('s3cret', 'TEST0001')), /^HTTP\/1\.1 409 /)
    const first = await rover(source)
    await until(() => first.text === 'ICY 200 OK\r\n\r\n', 'accepted')
    t.equal(await answer(source), 'ERROR - Mount Point Taken or Invalid\r\n')
    t.match(await answer(post('s3cret')), /^HTTP\/1\.1 409 /)
    await clock.advance(9_000)
    first.socket.write(position)
    await until(() => caster().bases[0]?.frames === 1, 'it speaks')
    await clock.advance(9_000)
    t.match(await answer(post('s3cret')), /^HTTP\/1\.1 409 /)
    await clock.advance(1_000)
    const second = await rover(source)
    await until(() => second.text === 'ICY 200 OK\r\n\r\n', 'after 10 s of silence')
    await first.ends()
    await clock.advance(65_000)
    await second.ends()
    t.match(caster().bases, [{ connected: false }])
    const flood = await rover(source)
    await until(() => flood.head !== '' || flood.text.includes('ICY'), 'accepted')
    flood.socket.write(Buffer.alloc(1_100_000, 0xd3))
    await clock.advance(65_000)
    await flood.ends()
    const bad = await rover(post('s3cret'))
    await until(() => bad.head !== '', 'accepted')
    bad.socket.write('this is no chunk\r\n')
    await bad.ends()
    for (let n = 0; n < 5; n++) t.equal(await answer(source.replace('s3cret', 'wrong')), 'ERROR - Bad Password\r\n')
    const known = await rover(source)
    await until(() => known.text === 'ICY 200 OK\r\n\r\n', 'the password that was right lately is answered at once')
    const paced = await rover(source.replace('s3cret', 'other'))
    const before_ms = clock.monotonic()
    await drive(clock, () => paced.text !== '', 'an answer', 100)
    t.ok(clock.monotonic() - before_ms >= 2_000, 'after five wrong passwords answers come late')
    t.match(await command('ntrip-base=TEST0001:s3cret'), { status: 400, text: /station itself/ })
    t.match(await command('ntrip-base=a b:s3cret'), { status: 400 })
    t.match(await command('ntrip-base=WEST:x'), { status: 400 })
    t.match(await command('ntrip-bases'), { text: /^EAST$/m })
  })

  t.test('and its rovers keep their connections over a reload, and no frame is lost', async (t) => {
    const { rover, caster, station, command } = await withBase(t)
    const east = [await rover(v1, 'EAST'), await rover(v2, 'EAST')]
    const base = await rover(post('s3cret'))
    await until(() => base.head !== '', 'accepted')
    base.socket.write(chunkOf(position))
    await until(() => east.every((client) => client.types().length === 1), 'the position')
    for (let time = 1; time <= 5; time++) {
      const chunk = chunkOf(observations(time))
      base.socket.write(chunk.subarray(0, 5 * time))
      await station.reload('ntrip-caster')
      base.socket.write(chunk.subarray(5 * time))
    }
    const count = (client: Client) => client.types().filter((type) => type === 1074).length
    await until(() => east.every((client) => count(client) === 5), 'every frame')
    t.match(caster().bases, [{ connected: true, rovers: 2 }])
    t.match(await command('ntrip-base=EAST:0ther'), { status: 200 })
    await base.ends()
    t.match(caster().bases, [{ connected: false, rovers: 2 }], 'a base with the password before it is let go')
    t.match(await command('ntrip-base=EAST'), { text: /deleted/ })
    await Promise.all([...east, base].map((client) => client.ends()))
    t.strictSame(caster().bases, [])
    t.match(await command('ntrip-base=EAST'), { text: /no base may push/ })
    t.notMatch(JSON.stringify([station.lines, station.station.document()]), 's3cret')
  })
})

t.test('the parameters: off, another port; and the stream that is closed', async (t) => {
  const { rover, caster, station } = await setUp(t)
  const change = (values: object) => station.station.change(values, { source: 'http' })
  const client = await rover(v1)
  await until(() => caster().connected === 1, 'connected')
  await change({ 'ntrip-caster-en': 0 })
  await client.ends()
  await until(() => caster().connected === 0, 'nobody')
  t.match(caster(), { enabled: false, port: 0 })
  await change({ 'ntrip-caster-en': 1 })
  await until(() => caster().port > 0, 'open again')
  const again = await rover(v1)
  await until(() => again.text === 'ICY 200 OK\r\n\r\n', 'no reference, nothing goes out')
})

t.test('the time is said only when it is known', async (t) => {
  const machine = new SimulatedMachine(() => {})
  machine.isClockSynchronised = async () => false
  const plugins: TestStationOptions['plugins'] = { 'ntrip-caster': [ntripCaster as AnyPlugin, { host: '127.0.0.1' }] }
  const { station } = await setUpStation(t, { machine, plugins, variant: { changes: { 'ntrip-caster-port': 0 } } })
  const port = () => (station.field('ntrip.caster') as { port: number }).port
  await until(() => port() > 0, 'it listens')
  const table = async () => {
    const client = new Client(port())
    client.socket.write(v2.replace('MOUNT', ''))
    return client.ends()
  }
  t.notMatch(await table(), /^Date:/m)
  const utc_ms = station.clock.now() + 60_000
  station.device.setUtc(utc_ms)
  t.match(await table(), `Date: ${new Date(utc_ms).toUTCString()}`)
})

t.test('who comes from the world needs a login, whatever the local network needs', async (t) => {
  const { isLocal } = LocalNetwork.prototype
  LocalNetwork.prototype.isLocal = () => false
  t.teardown(() => {
    LocalNetwork.prototype.isLocal = isLocal
  })
  const { station, receiver } = await setUpStation(t, {
    plugins: { 'ntrip-caster': [ntripCaster as AnyPlugin, { host: '127.0.0.1', world: true }] },
    variant: { changes: { 'ntrip-caster-port': 0, 'ntrip-caster-anonymous': 1 } },
  })
  const port = () => (station.field('ntrip.caster') as { port: number }).port
  await until(() => port() > 0, 'it listens')
  receiver.emit(arpFrame(here))
  const ask = (request: string) => {
    const client = new Client(port())
    t.teardown(() => client.socket.destroy())
    client.socket.write(request.replace('MOUNT', 'TEST0001'))
    return client
  }
  t.match(await ask(v1).ends(), /^HTTP\/1\.0 401/)
  const [row] = parseTable(await ask('GET / HTTP/1.0\r\n\r\n').ends())
  t.equal(row?.authentication, 'B', 'the table says so: readers exist that send their login only then')
  await station.station.command('ntrip-user=anna:s3cret', { source: 'console' })
  const anna = ask(login(v1, 'anna', 's3cret'))
  await until(() => anna.types().length === 1, 'the position')
})

t.test('chunks', async (t) => {
  const reader = new ChunkReader()
  const bytes = Buffer.concat([chunkOf(Buffer.from('hello ')), Buffer.from('5;x=y\r\nworld\r\n0\r\n\r\n')])
  const parts = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])))
  t.equal(Buffer.concat(parts).toString(), 'hello world')
  t.ok(reader.over)
  for (const bad of ['zz\r\n', 'fffffff\r\n', '1\r\nab\r\n', `${'0'.repeat(100)}`])
    t.throws(() => new ChunkReader().push(Buffer.from(bad)), RangeError)
})
