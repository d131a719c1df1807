import { join } from 'node:path'
import t, { type Test } from 'tap'
import { counts, Delivery } from '../../../plugins/fleet/fleet-caster/delivery.js'
import {
  epochUtc_ms,
  Framer,
  greatCircle_m,
  messageNumber,
  referencePoint,
  sameReference,
} from '../../../runtime/lib/gnss/index.js'
import { parseTable } from '../../../runtime/lib/ntrip/index.js'
import type { FleetDatabase } from '../../../schemas/services.js'
import { drive, settled } from '../../harness/drive.js'
import { until } from '../../harness/index.js'
import { createAuthority } from '../../harness/peers/certificates.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'
import type { Client } from '../rtcm/ntrip/rig.js'
import { FakeFleet, ggaAt, SimulatedBase, startInstance } from './caster-rig.js'

const database = await openDatabase()
t.teardown(() => database.close())

async function setUp(t: Test, options: Record<string, unknown> = {}) {
  // Tables of the test before: its stations have the same names.
  await database.exec('drop schema public cascade; create schema public')
  const shared = new FakeFleet(database)
  const instance = await startInstance(t, shared, options)
  const { clock } = shared
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** Seconds in which these bases publish. */
  const seconds = async (count: number, ...bases: SimulatedBase[]) => {
    for (let n = 0; n < count; n++) {
      await clock.advance(1_000)
      for (const base of bases) base.publish()
      await settled()
    }
  }
  /** Advances in steps of seconds, in which these bases publish, until the condition is true. */
  const reach = async (condition: () => boolean, what: string, step_s: number, ...bases: SimulatedBase[]) => {
    const publishing = {
      monotonic: () => clock.monotonic(),
      advance: (ms: number) => seconds(ms / 1_000, ...bases),
    }
    await drive(publishing, condition, what, step_s * 1_000)
  }
  const get = async (client: Client, what: string, ...bases: SimulatedBase[]) => {
    const before = client.types().length
    await reach(() => client.types().length > before, what, 1, ...bases)
  }
  return { shared, clock, seconds, reach, get, turn, ...instance }
}

/** Observations in what a rover got. */
const epochsOf = (client: Client) => client.types().filter((type) => type >= 1071 && type <= 1137).length
const countOf = (shared: FakeFleet, part: RegExp) => shared.events.filter(({ text }) => part.test(text)).length
const near = { lat: 52, lon: 4 }

t.test('the rovers of a base are counted over all instances', async (t) => {
  const { shared, rover, get, reach, roversOn } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const other = await startInstance(t, shared)
  const clients = [await rover('A1'), await rover('A1'), await other.rover('A1')]
  for (const client of clients) await get(client, 'an epoch', base)
  const both = (count: number) =>
    reach(() => roversOn('A1') === count && other.roversOn('A1') === count, `${count} rovers`, 5, base)
  await both(3)
  clients[2]?.socket.destroy()
  await both(2)
  await other.station.stop()
  t.equal(roversOn('A1'), 2)
  t.equal(roversOn('B1'), 0)
})

t.test('a base is subscribed while it has rovers, and each gets its position first', async (t) => {
  const { shared, clock, rover, get, seconds, block, station } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  await seconds(2, base)
  t.same(shared.topics, [], 'nobody asked for it')
  const one = await rover('A1')
  t.same(new Set(shared.topics), new Set(['base/A1/drtk', 'base/A1/drtk/cert', 'base/A1/drtk/sig']))
  await get(one, 'an epoch', base)
  const [first, ...rest] = one.frames()
  t.equal(messageNumber(first as Uint8Array), 1005)
  t.ok(sameReference(referencePoint(first as Uint8Array)?.arp as never, base.model.truth))
  t.ok(rest.length >= 5, 'an epoch of all constellations, and 1230')
  const two = await rover('A1')
  await until(() => two.types().length === 2, 'the reference messages, before the next epoch')
  t.same(two.types(), [1005, 1230])
  await station.reload('fleet-caster')
  await get(one, 'another version of fleet-caster feeds the same rovers', base)
  await station.reload('ntrip-caster')
  await get(two, 'and so does another version of ntrip-caster', base)
  t.equal(block().connected, 2)
  one.socket.destroy()
  two.socket.destroy()
  await until(() => block().connected === 0, 'they are gone')
  await clock.advance(59_000)
  t.equal(shared.topics.length, 3, 'one that reconnects gets the next epoch')
  await clock.advance(2_000)
  t.same(shared.topics, [])
})

t.test('only fit bases are offered and serve, and why is said', async (t) => {
  const { shared, rover, get, seconds, json } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  new SimulatedBase(shared, 'B2', 53, 5, { verdict: 'unknown' })
  new SimulatedBase(shared, 'C3', 53, 6, { verdict: 'degraded' })
  new SimulatedBase(shared, 'D4', 53, 6, { online: 'offline' })
  new SimulatedBase(shared, 'E5', 53, 6, { arp: undefined })
  const table = async () => {
    const client = await rover('')
    await client.ends()
    return parseTable(client.text.slice(client.head.length + 4)).map(({ mount, nmea, lat }) => ({ mount, nmea, lat }))
  }
  t.match(await table(), [
    { mount: 'NEAR', nmea: 1 },
    { mount: 'A1', nmea: 0, lat: 52 },
  ])
  t.equal((await table()).length, 2)
  const client = await rover('A1')
  await get(client, 'an epoch', base)
  for (const [values, why] of [
    [{ verdict: 'unfit', why: 'the antenna has moved' }, /its verdict is unfit: the antenna has moved/],
    [{ verdict: 'fit', online: 'offline' }, /it is offline/],
    [{ online: 'unknown' }, /never seen online/],
  ] as const) {
    shared.update('A1', values as never)
    const before = client.types().length
    await seconds(3, base)
    t.equal(client.types().length, before, `silence: ${why}`)
    t.match((await json('GET', '/fleet/rovers')).body.silent, [{ mount: 'A1', why }])
  }
  t.match(await table(), [{ mount: 'NEAR' }])
  shared.update('A1', { online: 'online', verdict: 'fit' })
  const before = client.types().length
  await get(client, 'it is fit again', base)
  t.equal(client.types()[before], 1005, 'the position comes again before any observation')
  const unknown = await rover('NOBODY')
  t.match(await unknown.ends(), /^SOURCETABLE 200 OK/)
})

t.test('stale RTCM by the time of its epoch, and one of the future, are not relayed', async (t) => {
  const { shared, clock, rover, get, seconds, json } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const client = await rover('A1')
  await get(client, 'an epoch', base)
  const before = client.types().length
  for (const late_ms of [-16_000, -100_000, 10_000, -5 * 86_400_000]) {
    await clock.advance(1_000)
    base.publish(base.payload(clock.now() + late_ms))
    await seconds(1)
    t.equal(client.types().length, before, `${late_ms} ms`)
    t.match((await json('GET', '/fleet/rovers')).body.silent, [{ why: /its RTCM is .* s (old|in the future)/ }])
  }
  t.equal(countOf(shared, /its RTCM is/), 1, 'recorded once')
  await get(client, 'fresh again', base)
  // Nothing at all comes.
  await seconds(17)
  t.match((await json('GET', '/fleet/rovers')).body.silent, [{ why: 'no RTCM for 15 s' }])
})

t.test('a 1005 that is not the announced reference silences the base', async (t) => {
  const { shared, clock, rover, get, seconds, json } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const client = await rover('A1')
  await get(client, 'an epoch', base)
  const before = client.types().length
  const { x, y, z } = base.model.truth
  await clock.advance(1_000)
  base.publish(base.payload(clock.now(), { x: x + 0.02, y, z }))
  await clock.advance(1_000)
  base.publish(base.payload(clock.now(), { x: x + 0.02, y, z }))
  await seconds(1)
  t.equal(client.types().length, before)
  t.match((await json('GET', '/fleet/rovers')).body.silent, [{ why: /position in its RTCM is 0.02 m from/ }])
  t.equal(countOf(shared, /position in its RTCM/), 1)
  shared.update('A1', { arp: { x: x + 0.02, y, z }, reference: '2' })
  await clock.advance(1_000)
  base.publish(base.payload(clock.now(), { x: x + 0.02, y, z }))
  await until(() => client.types().length > before, 'the station announces it: rovers get it, first of all')
  t.equal(client.types()[before], 1005)
})

t.test('a station that signs is relayed with its signature alone', async (t) => {
  const pki = createAuthority(join(t.testdir(), 'pki'))
  const { shared, clock, rover, get, seconds, json, station } = await setUp(t, { authorities: pki.ca })
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon, { rtcm: { signed: true, rate_s: 1 } })
  base.sign(pki.issue('a1', '/CN=A1', ''))
  const client = await rover('A1')
  await get(client, 'a signed epoch', base)
  let before = client.types().length
  const silent = async (what: string) => {
    await seconds(1)
    t.equal(client.types().length, before, what)
  }
  // Unsigned: the signature could still follow on MQTT 3.1.1.
  await clock.advance(1_000)
  shared.publish(base.topic, base.payload())
  await clock.advance(1_000)
  shared.publish(base.topic, base.payload())
  await silent('no signature')
  t.equal(countOf(shared, /has no signature/), 1)
  const payload = base.payload()
  const good = base.signature(payload)
  shared.publish(base.topic, base.payload(), { ...good, sig: 'AAAA' })
  await silent('a forged signature')
  t.equal(countOf(shared, /the signature is not of this payload/), 1)
  shared.publish(base.topic, payload, good)
  await until(() => client.types().length > before, 'the good one')
  before = client.types().length
  shared.publish(base.topic, payload, good)
  shared.publish(base.topic, payload, good)
  await silent('a replay')
  t.equal(countOf(shared, /number \d+ after/), 1, 'recorded once')
  // MQTT 3.1.1: the signature is a message of its own.
  await clock.advance(1_000)
  const later = base.payload()
  shared.publish(base.topic, later)
  shared.publish(`${base.topic}/sig`, Buffer.from(JSON.stringify(base.signature(later))))
  await until(() => client.types().length > before, 'a signature in JSON')
  before = client.types().length
  for (const junk of ['{', '[]', 'null', '"x"', '{"sig":1}']) {
    await clock.advance(1_000)
    shared.publish(base.topic, base.payload())
    shared.publish(`${base.topic}/sig`, Buffer.from(junk))
    await silent(`signature ${junk}`)
  }
  shared.update('A1', { rtcm: { signed: false, rate_s: 1 } })
  await clock.advance(1_000)
  shared.publish(base.topic, base.payload())
  await clock.advance(1_000)
  shared.publish(base.topic, base.payload())
  await silent('it says that it signs no longer')
  await clock.advance(60_000)
  await station.reload('fleet-caster')
  await seconds(1)
  shared.publish(base.topic, payload, good)
  await silent('a replay after a reload')
  const second = await startInstance(t, shared, { authorities: pki.ca })
  const other = await second.rover('A1')
  await clock.advance(1_000)
  shared.publish(base.topic, base.payload())
  await seconds(1)
  t.equal(epochsOf(other), 0, 'another instance knows from the database that it signs')
  await get(other, 'and relays signed ones', base)
  t.match((await json('GET', '/fleet/rovers')).body.silent, [])
})

t.test('F6: the number of a signer that could not be stored is stored later', async (t) => {
  const pki = createAuthority(join(t.testdir(), 'pki'))
  const { shared, clock, rover, get } = await setUp(t, { authorities: pki.ca })
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon, { rtcm: { signed: true, rate_s: 1 } })
  base.sign(pki.issue('a1', '/CN=A1', ''))
  shared.fails = 'insert into fleet_caster_signer'
  await get(await rover('A1'), 'a signed epoch', base)
  // It is the only one.
  await clock.advance(61_000)
  shared.fails = ''
  const isStored = async () => (await database.query('select sequence from fleet_caster_signer')).rows.length > 0
  await drive(clock, isStored, 'its number')
  t.pass()
})

t.test('without authorities a station that signs is not relayed', async (t) => {
  const { shared, rover, seconds, json } = await setUp(t)
  const base = new SimulatedBase(shared, 'A2', near.lat, near.lon, { rtcm: { signed: true, rate_s: 1 } })
  const client = await rover('A2')
  await seconds(17, base)
  t.equal(client.types().length, 0)
  t.match((await json('GET', '/fleet/rovers')).body.silent, [{ why: /has no signature|authorities is not set/ }])
})

t.test('a station that publishes the messages of an epoch one by one is relayed whole, and once', async (t) => {
  const { shared, rover, get, seconds, clock } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const client = await rover('A1')
  await get(client, 'an epoch', base)
  await seconds(1)
  const before = client.types().length
  const frames = client.frames().slice(0, 0)
  new Framer({ onFrame: (frame) => void frames.push(Buffer.from(frame.bytes)) }).push(base.payload(), clock.monotonic())
  for (const frame of [...frames, ...frames.slice(1)]) base.publish(Buffer.from(frame))
  await until(() => client.types().length >= before + frames.length, 'all messages')
  await seconds(1)
  t.strictSame(
    client
      .types()
      .slice(before)
      .filter((type) => type > 1070 && type < 1138),
    [1074, 1084, 1094, 1124],
  )
})

t.test('hostile publications are bounded, counted, and harm nobody', async (t) => {
  const { shared, clock, rover, get, seconds, station } = await setUp(t)
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const client = await rover('A1')
  await get(client, 'an epoch', base)
  const before = client.bytes.length
  const good = base.payload()
  const bad = Buffer.from(good)
  for (let at = 5; at < bad.length; at += 5) bad[at] = (bad[at] as number) ^ 0xff
  await clock.advance(1_000)
  const hostile = [
    Buffer.alloc(0),
    Buffer.alloc(10_000_000, 0xd3),
    Buffer.alloc(65_536, 0xd3),
    Buffer.from('nonsense'),
    bad,
  ]
  for (const payload of hostile) shared.publish(base.topic, payload)
  shared.publish(`${base.topic}/cert`, Buffer.alloc(10_000_000, 0x2d))
  shared.publish(`${base.topic}/sig`, Buffer.alloc(10_000_000, 0x7b))
  await seconds(1)
  t.equal(client.bytes.length, before)
  await clock.advance(1_000)
  const mixed = Buffer.concat([Buffer.from('$GPGGA,*00\r\nxx'), base.payload(), Buffer.from([0xd3, 0, 9, 1])])
  shared.publish(base.topic, mixed)
  await until(() => client.bytes.length > before, 'whole frames are relayed')
  t.notMatch(client.text, 'GPGGA')
  const epochs = epochsOf(client)
  for (let n = 0; n < 100; n++) base.publish()
  await seconds(1)
  t.equal(epochsOf(client), epochs, 'the same epoch once')
  await get(client, 'after all that', base)
  const metrics = (await station.request('/metrics')).text
  for (const why of ['size', 'garbage', 'flood', 'repeated'])
    t.match(metrics, new RegExp(`fleet_caster_refused_total\\{why="${why}"\\} [1-9]`))
  t.match(metrics, /fleet_caster_garbage_bytes_total [1-9]/)
})

t.test('NEAR', async (t) => {
  t.test('serves from the nearest fit base, and moves only for a gain that lasts', async (t) => {
    const { shared, rover, get, seconds, json, block, station } = await setUp(t)
    const [west, east] = [new SimulatedBase(shared, 'W', 52, 4), new SimulatedBase(shared, 'E', 52, 4.5)]
    new SimulatedBase(shared, 'MOVED', 52, 4.01, { verdict: 'unfit' })
    const client = await rover('NEAR')
    await seconds(3, west, east)
    t.equal(client.types().length, 0, 'a rover without a position gets nothing')
    t.same(shared.topics, [])
    client.socket.write(ggaAt(52, 4.1, 0))
    await seconds(2, west, east)
    t.equal(client.types().length, 0, 'a GGA without a fix is no position')
    client.socket.write(ggaAt(52, 4.1))
    await get(client, 'the west', west, east)
    t.equal(messageNumber(client.frames()[0] as Uint8Array), 1005)
    const baseOf = async () => (await json('GET', '/fleet/rovers')).body.near[0].base as string
    t.equal(await baseOf(), 'W')
    t.match(station.station && (await json('GET', '/fleet/rovers')).body.near, [{ changes: 0, lat: 52 }])
    // East of the middle by 500 m: not far enough.
    client.socket.write(ggaAt(52, 4.257))
    await seconds(60, west, east)
    t.equal(await baseOf(), 'W', 'a small gain')
    client.socket.write(ggaAt(52, 4.4))
    await seconds(8, west, east)
    client.socket.write(ggaAt(52, 4.4))
    await seconds(8, west, east)
    t.equal(await baseOf(), 'W', 'a gain that may pass')
    const before = client.frames().length
    await seconds(30, west, east)
    t.equal(await baseOf(), 'E', 'it lasts')
    const later = client.frames().slice(before)
    const change = later.findIndex((frame) => {
      const point = referencePoint(frame)
      return point !== undefined && sameReference(point.arp, east.model.truth)
    })
    t.ok(change > 0)
    const firstOfEast = later.slice(change).map(messageNumber)
    t.equal(firstOfEast[0], 1005, 'the position of the new base before its observations')
    t.ok(
      later
        .slice(0, change)
        .every(
          (frame) =>
            !referencePoint(frame) ||
            sameReference((referencePoint(frame) as never as { arp: never }).arp, west.model.truth),
        ),
    )
    t.match(block().rovers, [{ mount: 'NEAR' }])
    t.match((await json('GET', '/fleet/rovers')).body.near, [{ base: 'E', changes: 1, why: /km nearer than W/ }])
    t.match((await station.request('/metrics')).text, /fleet_caster_near_changes_total 1/)
    // At once where the present one is not fit, and with the position of a base that others use already.
    const direct = await rover('W')
    await get(direct, 'another rover of the west', west, east)
    const sent = client.frames().length
    shared.update('E', { verdict: 'unfit', why: 'moved' })
    t.equal(await baseOf(), 'W')
    await until(() => client.frames().length > sent, 'before the next publication')
    t.ok(sameReference(referencePoint(client.frames()[sent] as Uint8Array)?.arp as never, west.model.truth))
    await get(client, 'from the west', west, east)
    shared.update('W', { online: 'offline' })
    t.equal(await baseOf(), '')
    t.match((await json('GET', '/fleet/rovers')).body.near, [{ why: 'no fit base within 100 km' }])
    shared.update('W', { online: 'online' })
    await get(client, 'again', west, east)
    await station.reload('ntrip-caster')
    await get(client, 'its only GGA is remembered over a reload', west, east)
  })

  t.test('leaves a base that is silent, and does not come back to it at once', async (t) => {
    const { shared, rover, get, seconds, json } = await setUp(t)
    const [one, other] = [new SimulatedBase(shared, 'ONE', 52, 4), new SimulatedBase(shared, 'OTHER', 52, 4.2)]
    const client = await rover('NEAR', { gga: ggaAt(52, 4) })
    await get(client, 'the nearest', one, other)
    await seconds(17, other)
    const baseOf = async () => (await json('GET', '/fleet/rovers')).body.near[0]
    t.match(await baseOf(), { base: 'OTHER', why: /ONE serves no longer: no RTCM for 15 s/ })
    await seconds(100, other)
    t.match(await baseOf(), { base: 'OTHER', changes: 1 })
    await seconds(300, one, other)
    t.match(await baseOf(), { base: 'ONE' }, 'after five minutes it gets another chance')
  })

  t.test('a rover is moved to a nearer base only once that base sends', async (t) => {
    const { shared, rover, get, seconds, json } = await setUp(t)
    const far = new SimulatedBase(shared, 'FAR', 52, 4.3)
    const client = await rover('NEAR', { gga: ggaAt(52, 4) })
    await get(client, 'the only one', far)
    // Online and fit, as the broker has kept it; it died long ago.
    const dead = new SimulatedBase(shared, 'DEAD', 52, 4)
    const ofRover = async () => (await json('GET', '/fleet/rovers')).body.near[0]
    for (let minute = 0; minute < 15; minute++) {
      const before = epochsOf(client)
      await seconds(60, far)
      await until(() => epochsOf(client) - before >= 4 * 58, 'no second is lost')
      t.match(await ofRover(), { base: 'FAR', changes: 0 })
    }
    // It sends observations, but no position yet.
    for (let second = 0; second < 400; second++) {
      const frames: Uint8Array[] = []
      new Framer({ onFrame: ({ bytes }) => void frames.push(Buffer.from(bytes)) }).push(dead.payload(), 0)
      dead.publish(Buffer.concat(frames.filter((frame) => messageNumber(frame) !== 1005)))
      await seconds(1, far)
    }
    t.match(await ofRover(), { base: 'FAR', changes: 0 }, 'without its position it is of no use')
    await seconds(400, far, dead)
    t.match(await ofRover(), { base: 'DEAD', changes: 1 }, 'it is repaired')
    client.socket.write(ggaAt(0, 0))
    await seconds(10, far, dead)
    t.match(await ofRover(), { base: 'DEAD', changes: 1 }, 'zeros are no position')
  })

  t.test('without the broker no rover is moved, and afterwards it has its base at once', async (t) => {
    const { shared, rover, get, seconds, json } = await setUp(t)
    const [one, other] = [new SimulatedBase(shared, 'ONE', 52, 4), new SimulatedBase(shared, 'OTHER', 52, 4.5)]
    const client = await rover('NEAR', { gga: ggaAt(52, 4) })
    await get(client, 'the nearest', one, other)
    const ofRover = async () => (await json('GET', '/fleet/rovers')).body.near[0]
    shared.connect(false)
    await seconds(180)
    t.match(await ofRover(), { base: 'ONE', changes: 0 })
    t.match((await rover('NEAR', { gga: ggaAt(52, 4) })).types(), [])
    shared.connect(true)
    await seconds(10)
    t.match(await ofRover(), { base: 'ONE', changes: 0 }, 'stations need a moment to come back')
    await get(client, 'again', one, other)
    t.match(await ofRover(), { base: 'ONE', changes: 0 })
  })

  t.test('finds the nearest of 10,000 as a search through all of them does', async (t) => {
    const { Grid } = await import('../../../plugins/fleet/fleet-caster/near/grid.js')
    const grid = new Grid()
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const places = Array.from({ length: 10_000 }, (_, n) => {
      const lat = n < 50 ? 89 + random() : random() * 180 - 90
      return { name: `S${n}`, place: { lat, lon: random() * 360 - 180 } }
    })
    for (const { name, place } of places) grid.set(name, place)
    for (let n = 0; n < 300; n++) {
      const lat = n < 30 ? 90 - random() : random() * 180 - 90
      const from = { lat, lon: n % 3 === 0 ? 179.9 : random() * 360 - 180 }
      const accepts = (name: string) => Number(name.slice(1)) % 2 === 0
      const expected = places
        .filter(({ name }) => accepts(name))
        .map(({ name, place }) => ({ name, distance_m: greatCircle_m(from, place) }))
        .filter(({ distance_m }) => distance_m <= 300_000)
        .sort((one, other) => one.distance_m - other.distance_m)[0]
      t.same(grid.nearest(from, 300_000, accepts), expected)
    }
    for (const { name } of places) grid.set(name, undefined)
    t.equal(
      grid.nearest({ lat: 0, lon: 0 }, 20_000_000, () => true),
      undefined,
    )
  })
})

t.test('rover accounts', async (t) => {
  const { shared, clock, rover, get, json, seconds, block } = await setUp(t, { anonymous: false })
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon)
  new SimulatedBase(shared, 'B2', 53, 5)
  const other = await startInstance(t, shared, { anonymous: false })
  const accounts = '/fleet/rovers/accounts'
  const add = async (values: object) => {
    const { status, body } = await json('POST', accounts, values)
    t.equal(status, 200)
    t.ok(body.password.length >= 20)
    return { user: body.name as string, password: body.password as string }
  }
  const refused = async (client: Client) => (await client.ends()).split('\r\n')[0]

  t.equal(await refused(await rover('A1')), 'HTTP/1.0 401 Unauthorized', 'nobody without one')
  // P2: entered in other letters than the mountpoint has.
  const bob = await add({ name: 'bob', mounts: ['a1'], most: 2 })
  t.equal((await json('POST', accounts, { name: 'bob' })).status, 400, 'the name is taken')
  t.equal((await json('POST', accounts, { name: 'x y' })).status, 400)
  t.equal((await json('POST', accounts, { name: 'eve', from_s: 5, until_s: 4 })).status, 400)
  t.equal(await refused(await rover('A1', { ...bob, password: 'wrong' })), 'HTTP/1.0 401 Unauthorized')
  t.equal(await refused(await rover('B2', bob)), 'HTTP/1.0 401 Unauthorized', 'not for this mountpoint')
  const one = await rover('A1', bob)
  await get(one, 'an epoch', base)
  await clock.advance(1_000)
  const two = await other.rover('A1', bob)
  t.match(two.text, 'ICY 200 OK')
  await clock.advance(1_000)
  await until(
    async () => (await database.query('select * from fleet_caster_connection')).rows.length === 2,
    'both are counted',
  )
  t.equal(await refused(await rover('A1', bob)), 'HTTP/1.0 503 Service Unavailable', 'two on all instances')
  t.match((await json('GET', accounts)).body, [{ name: 'bob', most: 2, mounts: ['a1'], note: '' }])
  t.notMatch(JSON.stringify((await json('GET', accounts)).body), bob.password)
  t.equal((await json('PATCH', `${accounts}/bob`, { note: 'tractor' })).status, 200)
  await seconds(1, base)
  t.notOk(one.closed, 'a note ends nothing')

  for (const name of ['ann', 'cat', 'dan']) {
    const known = await rover('A1', await add({ name }))
    t.match(known.text, 'ICY 200 OK')
    known.socket.destroy()
  }

  // The database is down: whoever is there stays, and whoever was there lately comes back.
  shared.isDown = true
  await get(one, 'an epoch without the database', base)
  two.socket.destroy()
  await until(() => other.block().connected === 0, 'gone')
  const back = await other.rover('A1', bob)
  t.match(back.text, 'ICY 200 OK')
  t.equal(await refused(await rover('A1', { user: 'new', password: 'x' })), 'HTTP/1.0 503 Service Unavailable')
  t.equal((await json('GET', accounts)).status, 503)
  t.equal((await json('DELETE', `${accounts}/bob`)).status, 503)
  await clock.advance(3_600_000)
  one.socket.destroy()
  const again = await rover('A1', bob)
  t.match(again.text, 'ICY 200 OK', 'an hour later too')
  const reads = { text: 'from fleet_caster_account where name', until: Promise.resolve(), waiting: 0 }
  shared.held = reads
  shared.up()
  await seconds(1, base)
  shared.held = undefined
  t.notOk(again.closed, 'nothing was changed meanwhile')
  t.equal(reads.waiting, 2, 'F12: each instance reads the accounts that it knows at once')

  // Deleted: ended everywhere.
  t.equal((await json('DELETE', `${accounts}/bob`)).status, 200)
  await until(() => again.closed && back.closed, 'ended on both instances')
  t.equal(await refused(await rover('A1', bob)), 'HTTP/1.0 401 Unauthorized')
  t.equal((await json('DELETE', `${accounts}/bob`)).status, 404)
  t.equal((await json('PATCH', `${accounts}/bob`, { most: 1 })).status, 404)
  const typed = await add({ name: 'jürgen'.normalize('NFD'), mounts: ['a1'] })
  t.equal((await json('POST', accounts, { name: 'jürgen' })).status, 400, 'N3: it is the same name')
  for (const name of ['bob\u200b', '\u3000bob']) {
    const { status, body } = await json('POST', accounts, { name })
    t.match([status, JSON.stringify(body)], [400, /invisible characters/], 'N3')
  }
  const jurgen = await rover('A1', typed)
  t.match(jurgen.text, 'ICY 200 OK', 'P2: an account takes its mountpoint in any letters')
  t.equal((await json('DELETE', `${accounts}/${encodeURIComponent('jürgen'.normalize('NFD'))}`)).status, 200)
  await until(() => jurgen.closed, 'ended')

  const tom = await add({ name: 'tom', most: 2 })
  let resolve = () => {}
  const answered = new Promise<void>((done) => {
    resolve = done
  })
  shared.held = { text: 'sum(connections)', until: answered, waiting: 0 }
  const logins = Promise.all(Array.from({ length: 20 }, () => rover('A1', tom)))
  await until(() => shared.held?.waiting === 20, 'all of them ask for the connections at other instances')
  resolve()
  const crowd = await logins
  shared.held = undefined
  t.equal(crowd.filter(({ text }) => text.startsWith('ICY 200')).length, 2, 'of twenty logins at once, two are served')
  for (const { socket } of crowd) socket.destroy()

  const eve = await add({ name: 'eve', until_s: Math.floor(clock.now() / 1000) + 100 })
  const client = await rover('B2', eve)
  t.match(client.text, 'ICY 200 OK')
  const changed = (await json('PATCH', `${accounts}/eve`, { password: 'new' })).body
  await until(() => client.closed, 'a new password ends those of the old one')
  t.equal(await refused(await rover('B2', eve)), 'HTTP/1.0 401 Unauthorized')
  const renewed = await rover('B2', { ...eve, password: changed.password })
  t.match(renewed.text, 'ICY 200 OK')
  await clock.advance(140_000)
  await until(() => renewed.closed, 'it expires while it is connected')
  t.equal(await refused(await rover('B2', { ...eve, password: changed.password })), 'HTTP/1.0 401 Unauthorized')
  t.match(shared.events.filter(({ kind }) => kind === 'account').map(({ text, by }) => [text, by])[0], [
    /bob added/,
    'anna',
  ])
  await until(() => block().connected === 0, 'nobody is left')
})

t.test('rovers count once over reloads, and their accounts still end them', async (t) => {
  const { shared, clock, rover, json, station } = await setUp(t, { anonymous: false })
  new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const other = await startInstance(t, shared, { anonymous: false })
  const accounts = '/fleet/rovers/accounts'
  const add = async (values: object) => {
    const { body } = await json('POST', accounts, values)
    return { user: body.name as string, password: body.password as string }
  }
  const bob = await add({ name: 'bob', most: 2, until_s: Math.floor(clock.now() / 1_000) + 600 })
  const [one, near1] = [await rover('A1', bob), await rover('NEAR', bob)]
  t.match([one.text, near1.text], ['ICY 200 OK', 'ICY 200 OK'])
  const counted = async () => (await json('GET', '/fleet/rovers')).body.accounts
  const both = [
    { mount: 'A1', user: 'bob', connections: 1 },
    { mount: 'NEAR', user: 'bob', connections: 1 },
  ]
  const sorted = async () =>
    (await counted()).sort((a: { mount: string }, b: { mount: string }) => (a.mount < b.mount ? -1 : 1))
  for (const plugin of ['fleet-caster', 'ntrip-caster', 'fleet-caster']) {
    await station.reload(plugin)
    t.same(await sorted(), both, `after a reload of ${plugin}`)
  }
  await clock.advance(120_000)
  t.match((await other.rover('A1', bob)).text, '503', 'they count at other instances')
  t.match((await rover('A1', bob)).text, '503')
  t.notOk(one.closed || near1.closed)
  await clock.advance(600_000)
  await until(() => one.closed && near1.closed, 'their account expires')
  t.same(await counted(), [])
})

t.test('an account that is deleted while its login waits lets nobody in', async (t) => {
  const { shared, rover, json, block } = await setUp(t, { anonymous: false })
  new SimulatedBase(shared, 'A1', near.lat, near.lon)
  const { body } = await json('POST', '/fleet/rovers/accounts', { name: 'bob' })
  let resolve = () => {}
  const answered = new Promise<void>((done) => {
    resolve = done
  })
  shared.held = { text: 'sum(connections)', until: answered, waiting: 0 }
  const login = rover('A1', { user: 'bob', password: body.password })
  await until(() => shared.held?.waiting === 1, 'it asks for the connections at other instances')
  t.equal((await json('DELETE', '/fleet/rovers/accounts/bob')).status, 200)
  resolve()
  const client = await login
  t.match(client.text, 'HTTP/1.0 503')
  t.equal(block().connected, 0)
})

t.test('what was delivered is counted by base and day', async (t) => {
  const { shared, clock, rover, get, json, seconds } = await setUp(t)
  const base = new SimulatedBase(shared, 'DEL', near.lat, near.lon)
  const client = await rover('DEL')
  await get(client, 'an epoch', base)
  await seconds(20, base)
  await clock.advance(4_000)
  base.publish()
  await clock.advance(1_000)
  base.publish(base.payload(clock.now() - 60_000))
  await until(async () => {
    await seconds(1, base)
    await clock.advance(20_000)
    const { bases } = (await json('GET', '/fleet/delivery')).body
    return bases.find(({ serial }: { serial: string }) => serial === 'DEL')?.acknowledged > 20
  }, 'the rover acknowledges')
  await clock.advance(60_000)
  const row = async () =>
    (await json('GET', '/fleet/delivery')).body.bases.find(({ serial }: { serial: string }) => serial === 'DEL')
  const found = await row()
  t.ok(found.expected > found.published, 'the epochs of four seconds are missing')
  t.equal(found.lost.before, found.expected - found.published)
  t.ok(found.refused >= 1)
  t.ok(found.relayed >= 21 && found.relayed <= found.published)
  t.ok(found.acknowledged <= found.relayed)
  await until(async () => {
    const { rows } = await database.query<{ n: number }>(
      `select relayed::int as n from fleet_caster_delivery where serial = 'DEL'`,
    )
    return rows[0]?.n === found.relayed
  }, 'it is stored')
  client.socket.destroy()
  await until(async () => (await json('GET', '/fleet/rovers')).body.accounts.length === 0, 'the rover has left')
  const { published } = await row()
  await seconds(5, base)
  t.equal((await row()).published, published, 'without a rover nothing is lost')
  t.equal((await json('GET', '/fleet/delivery?day=2020-01-01')).body.bases.length, 0)
  t.equal((await json('GET', '/fleet/delivery?day=2020-99-01')).status, 400)
  t.match((await json('GET', '/fleet/delivery?serial=DEL')).body.bases, [{ serial: 'DEL' }])
  t.strictSame((await json('GET', '/fleet/delivery?serial=OTHER')).body.bases, [])
  t.equal((await json('GET', '/fleet/delivery?serial=a%20b')).status, 400)
})

t.test('the time of an epoch is read in the time scale of its constellation', async (t) => {
  const shared = new FakeFleet(database)
  const base = new SimulatedBase(shared, 'T', near.lat, near.lon)
  const { framesIn } = await import('../rtcm/ntrip/rig.js')
  // Both ends of the week of GPS, of the day of Moscow, and of the week of BeiDou.
  const sunday = Date.UTC(2026, 10, 22)
  for (const at_ms of [
    sunday - 18_000,
    sunday - 1_000,
    sunday,
    sunday - 4_000,
    sunday + 75_600_000,
    sunday + 75_599_000,
  ]) {
    const frames = framesIn(base.payload(at_ms)).filter(
      (frame) => messageNumber(frame) > 1070 && messageNumber(frame) < 1140,
    )
    t.equal(frames.length, 4)
    for (const frame of frames)
      for (const off_ms of [0, 3_600_000, -3_600_000])
        t.equal(epochUtc_ms(frame, at_ms + off_ms, 18), at_ms, `${messageNumber(frame)} at ${at_ms}`)
  }
})

t.test('mountpoints by label; a serial number counts before a label', async (t) => {
  const { shared, rover, get } = await setUp(t, { names: 'label', near: '' })
  const base = new SimulatedBase(shared, 'A1', near.lat, near.lon, { labels: { mount: 'MUNICH' } })
  new SimulatedBase(shared, 'B2', 53, 5, { labels: { mount: 'A1' } })
  const client = await rover('MUNICH')
  await get(client, 'an epoch', base)
  const same = await rover('A1')
  await get(same, 'its serial number too', base)
  await get(await rover('Munich'), 'P2: in other letters, as of the caster of a station', base)
  await get(await rover('a1'), 'P2: the serial number, too', base)
  const table = await (await rover('')).ends()
  t.match(table, /STR;MUNICH;/)
  t.match(table, /STR;B2;/)
  t.notMatch(table, /STR;(A1|NEAR);/)
})

t.test('who reads while it is stored misses nothing, and counts nothing twice', async (t) => {
  const row = { expected: 0, published: 0, refused: 0, relayed: 0, acknowledged: 0 }
  let isWritten = () => {}
  const written = new Promise<void>((done) => {
    isWritten = done
  })
  const stub = {
    query: async (text: string, columns: number[][]) => {
      if (text.startsWith('select')) return [{ serial: 'DEL', ...row }]
      await written
      row.relayed += columns[2 + counts.indexOf('relayed')]?.[0] ?? 0
      return []
    },
  }
  const delivery = new Delivery(() => stub as unknown as FleetDatabase)
  const base = delivery.of('DEL')
  for (let n = 0; n < 3; n++) base.relayed(Date.UTC(2026, 10, 21))
  const storing = delivery.store()
  const reading = delivery.read('2026-11-21')
  await settled()
  base.relayed(Date.UTC(2026, 10, 21))
  isWritten()
  await storing
  t.match(await reading, [{ serial: 'DEL', relayed: 4 }])
})
