/** The net of a fleet: pairs, windows, judgements, from the RTCM of bases under one sky. */
import t, { type Test } from 'tap'
import { opposing } from '../../../plugins/fleet/fleet-net/judgement/opposing.js'
import { type Evidence, stepped, unjudged } from '../../../plugins/fleet/fleet-net/judgement/step.js'
import { type NetPlace, pairsOf as pairSteps } from '../../../plugins/fleet/fleet-net/pairs/pairs.js'
import { allAtOnce } from '../../../runtime/lib/baseline/index.js'
import { distance, geodeticToEcef, offsetEnu, roundEcef } from '../../../runtime/lib/gnss/index.js'
import { Random } from '../../../runtime/lib/simulation/index.js'
import { gateOnly } from '../../harness/index.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'
import { NetRig, type NetRigOptions, startNet } from './net-rig.js'
import { fleetRig } from './rig.js'
import { fleetStation } from './stations.js'

const pairsOf = (places: Iterable<NetPlace>, reach_km: number) => allAtOnce(pairSteps(places, reach_km))

const database = await openDatabase()
t.teardown(() => database.close())

const places = [
  { lat: 52.0, lon: 4.3, alt: 50 },
  { lat: 52.08, lon: 4.32, alt: 45 },
  { lat: 52.02, lon: 4.45, alt: 60 },
  { lat: 51.93, lon: 4.38, alt: 40 },
  { lat: 52.0, lon: 4.36, alt: 55 },
]

async function setUp(options: Partial<NetRigOptions> = {}) {
  await database.exec('drop schema public cascade; create schema public')
  return new NetRig(database, { places, ...options })
}

const tried = async (rig: NetRig) => {
  const [row] = await rig
    .rows<{ all: number; tried: number }>('select count(*)::int as all, count(tried)::int as tried from fleet_net_pair')
    .catch(() => [])
  return row ?? { all: 0, tried: 0 }
}
const vectors = (rig: NetRig) =>
  rig.rows<{ one: string; other: string; status: string }>('select one, other, status from fleet_net_vector')

/** A window of all pairs, and their computation. */
async function window(rig: NetRig, minutes = 32) {
  const [before] = await rig.rows<{ now: number }>('select count(*)::int as now from fleet_net_pair')
  await rig.minutes(minutes)
  const now_s = rig.shared.clock.now() / 1_000
  await rig.settles(async () => {
    const [row] = await rig.rows<{ n: number }>(
      'select count(*)::int as n from fleet_net_pair where tried > to_timestamp($1)',
      [now_s - 600],
    )
    return row?.n === before?.now
  }, 'all pairs were compared')
}

/** Where it does not matter how many there are: six pairs. */
const four = { places: places.slice(0, 4) }

async function pairsAreThere(rig: NetRig, count: number) {
  await rig.passes(async () => (await tried(rig)).all >= count, `${count} pairs`)
}

t.test('pairs: neighbours, and the nearest three', async (t) => {
  const at = (lat: number, lon: number, serial: string) => ({ serial, arp: geodeticToEcef({ lat, lon, alt: 0 }) })
  const keys = (all: readonly { one: string; other: string }[]) => all.map(({ one, other }) => `${one}-${other}`).sort()
  t.strictSame(keys(pairsOf([], 50)), [])
  t.strictSame(keys(pairsOf([at(52, 4, 'A')], 50)), [])
  t.strictSame(keys(pairsOf([at(52, 4, 'A'), at(52.1, 4, 'B')], 50)), ['A-B'])
  t.strictSame(keys(pairsOf([at(52, 4, 'A'), at(53, 4, 'B')], 50)), [], 'out of reach')
  t.strictSame(keys(pairsOf([at(10, 179.95, 'A'), at(10, -179.95, 'B'), at(10.1, 180, 'C')], 50)), [
    'A-B',
    'A-C',
    'B-C',
  ])
  const poles = ['A', 'B', 'C', 'D'].map((serial, n) => at(89.9, 90 * n, serial))
  t.ok(keys(pairsOf(poles, 50)).length >= 5, 'around the pole')
  const same = Array.from({ length: 40 }, (_, n) => at(52, 4, `S${n}`))
  const line = Array.from({ length: 40 }, (_, n) => at(0, 4 + n / 10, `L${n}`))
  t.ok(least(pairsOf(line, 50), line) >= 3, 'in one line')
  t.ok(least(pairsOf(same, 50), same) >= 2, 'at one place')
  const roof = [0, 3, 6].flatMap((east) => [0, 3, 6].map((north) => ({ east, north, up: 0 })))
  const around = ['A', 'B', 'C', 'D'].map((serial, n) => at(52.1, 4 + n / 20, serial))
  const array = roof.map((offset, n) => ({ serial: `R${n}`, arp: offsetEnu(at(52, 4, '').arp, offset) }))
  const beyond = pairsOf([...around, ...array], 50).filter(({ one, other }) => one < 'R' && other >= 'R')
  t.ok(least(beyond, array) >= 3, 'bases on one roof do not take the pairs with others from each other')
  t.strictSame(keys(pairsOf([at(Number.NaN, 4, 'A'), at(52, 4, 'B')], 50)), [])
})

function least(pairs: readonly { one: string; other: string }[], all: readonly { serial: string }[]): number {
  const counts = new Map(all.map(({ serial }) => [serial, 0]))
  for (const { one, other } of pairs) {
    for (const serial of [one, other]) if (counts.has(serial)) counts.set(serial, (counts.get(serial) ?? 0) + 1)
  }
  return Math.min(...counts.values())
}

t.test('pairs of 10,000 stations', async (t) => {
  const random = new Random(1)
  const all = Array.from({ length: 10_000 }, (_, n) => ({
    serial: `S${n}`,
    arp: geodeticToEcef({ lat: 47 + 8 * random.uniform(), lon: 6 + 9 * random.uniform(), alt: 100 }),
  }))
  const begun_ms = performance.now()
  const pairs = pairsOf(all, 50)
  t.comment(`${pairs.length} pairs in ${(performance.now() - begun_ms).toFixed(0)} ms`)
  t.ok(pairs.length > 25_000 && pairs.length < 35_000)
  t.ok(least(pairs, all) >= 3)
  const arpOf = new Map(all.map(({ serial, arp }) => [serial, arp]))
  // The nearest of some, by brute force.
  for (const { serial, arp } of all.slice(0, 50)) {
    const nearest = all
      .filter((other) => other.serial !== serial)
      .map((other) => ({ serial: other.serial, apart: distance(other.arp, arp) }))
      .sort((one, other) => one.apart - other.apart)
    const own = new Set(pairs.flatMap(({ one, other }) => (one === serial ? [other] : other === serial ? [one] : [])))
    if (!nearest.slice(0, 3).every((one) => own.has(one.serial))) t.fail(`${serial} lacks one of its nearest`)
  }
  t.ok(pairs.every(({ one, other }) => distance(arpOf.get(one) as never, arpOf.get(other) as never) <= 50_000))
})

t.test('a contradiction counts once two neighbours repeat it by another window', async (t) => {
  const up = { east: 0, north: 0, up: -0.1 }
  const sigma = { east: 0.01, north: 0.01, up: 0.01 }
  const wrong = { state: 'contradicts', reason: 'neighbours', offset: up, sigma, vectors: 3, leftOut: [] } as const
  const right = { ...wrong, state: 'agrees', offset: { ...up, up: 0 } } as const
  const arp = { x: 1, y: 2, z: 3 }
  const at = (newest_s: number, opposing_s: number[] = []): Evidence => ({
    ...{ serial: 'A', arp, now_s: newest_s + 10, newest_s, window_s: 0, opposing_s, length_s: 3_600, neighbours: [] },
    cause: { kind: 'height', values: {}, text: '' },
  })
  const agreed = stepped(undefined, right as never, at(10_000, []))
  t.match(agreed, { state: 'agrees' })
  const once = stepped(agreed, wrong as never, at(20_000, [20_000, 19_000, 18_000]))
  t.match(
    once,
    { state: 'unknown', reason: 'pending', cause: { kind: '' }, doubted_s: 20_000 },
    'no agreement any more',
  )
  const same = stepped(once, wrong as never, at(22_000, [22_000, 22_000, 22_000]))
  t.match(same, { state: 'unknown', reason: 'pending', doubted_s: 20_000, since_s: once.since_s }, 'the same window')
  t.match(stepped(same, wrong as never, at(23_000, [23_000, 22_000])), { state: 'unknown' }, 'one neighbour')
  const twice = stepped(same, wrong as never, at(23_000, [22_500, 23_000]))
  t.match(twice, { state: 'contradicts', cause: { kind: 'height' } })
  t.match(stepped(twice, wrong as never, at(24_000, [])), { state: 'contradicts' }, 'it stays')
  t.match(stepped(same, unjudged, at(23_000)), { state: 'unknown', doubted_s: undefined })
  const ahead = { ...once, doubted_s: 9_000_000 }
  const back = stepped(ahead, wrong as never, at(21_000, [21_000, 21_000]))
  t.match(back, { state: 'unknown', doubted_s: 21_000 }, 'a doubt of the future')
  t.match(stepped(back, wrong as never, at(24_000, [24_000, 24_000])), { state: 'contradicts' })
})

t.test('a neighbour opposes a position if its vector is nearer to the corrected one', async (t) => {
  const arp = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })
  const otherArp = geodeticToEcef({ lat: 52.05, lon: 4.1, alt: 50 })
  const vector = (other: string, t_s: number, up: number, more = {}) => {
    const truth = offsetEnu(arp, { east: 0, north: 0, up })
    const measured = { x: otherArp.x - truth.x, y: otherArp.y - truth.y, z: otherArp.z - truth.z }
    return { one: 'A', other, t_s, status: 'fixed', measured, oneArp: arp, otherArp, ...more }
  }
  const turned = { ...vector('x', 5, -0.1) }
  const { x, y, z } = turned.measured
  const vectors = [
    ...[vector('B', 1, -0.1), vector('B', 2, -0.09), vector('C', 3, -0.02), vector('D', 4, -0.1, { status: 'float' })],
    { ...turned, one: '0', other: 'A', measured: { x: -x, y: -y, z: -z }, oneArp: otherArp, otherArp: arp },
    vector('W', 6, -0.1),
  ]
  const offset = { east: 0, north: 0, up: -0.1 }
  t.strictSame(opposing({ serial: 'A', arp, offset }, vectors as never, new Set(['W'])), [2, 5])
})

t.test('of five bases, the one that announces 10 cm too much height is found, and no other', async (t: Test) => {
  const rig = await setUp({ errors: { 4: { east: 0, north: 0, up: 0.1 } } })
  const net = await startNet(t, rig)
  await pairsAreThere(rig, 8)
  const survey = { ...rig.arps[0], acc: 0.02, frame: 'ITRF2020', epoch: '2026.0' }
  rig.shared.documents.set('B0', { gnss: { ref: { chosen: 'survey', survey } } })
  const begin = (serial: string) => net.json('POST', '/fleet/net/acceptance', { serial, hours: 2 })
  t.match(await begin('B0'), { status: 200, body: { outcome: 'running', by: 'anna', serial: 'B0' } })
  t.match(await begin('B0'), { status: 409, body: { message: /a test of B0 is running/ } })
  t.match(await begin('NOBODY'), { status: 404 })
  const wrong = await begin('B4')
  t.match(wrong, { status: 200 })
  await window(rig)
  t.ok((await vectors(rig)).filter(({ status }) => status === 'fixed').length >= 4)
  await rig.passes(() => net.judgement('B4')?.reason === 'pending', 'contradicted once')
  t.not(net.judgement('B4')?.state, 'contradicts', 'one window is not enough')
  await net.station.reload('fleet-net')
  t.match(await net.json('GET', '/fleet/net/acceptance/1'), {
    body: { outcome: 'running', evidence: { neighbours: [{ windows: 1, verdict: 'unknown' }] } },
  })
  await window(rig)
  await rig.passes(() => net.judgement('B4')?.state === 'contradicts', 'contradicted')
  const found = net.judgement('B4')
  t.match(found, { cause: { kind: 'height', text: /10\.\d cm|0\.\d+ m|\d+ mm/ } })
  t.ok(Math.abs((found?.offset.up ?? 0) + 0.1) < 0.03, `${found?.offset.up} m`)
  for (const serial of ['B0', 'B1', 'B2', 'B3']) t.equal(net.judgement(serial)?.state, 'agrees', serial)
  t.match(
    rig.shared.events.find(
      ({ serial, kind, text }) => serial === 'B4' && kind === 'position' && /contradicted/.test(text),
    ),
    {
      text: /^contradicted by \d neighbours: /,
    },
  )

  await t.test('the routes tell it', async (t) => {
    const { body } = await net.json('GET', '/fleet/net')
    t.equal(body.next, '')
    t.equal(body.stations.find((one: { serial: string }) => one.serial === 'B4').state, 'contradicts')
    t.ok(body.pairs.every(({ status }: { status: string }) => status !== ''))
    t.match(await net.json('GET', '/fleet/net?group=none'), { body: { stations: [], pairs: [] } })
    t.match(await net.json('GET', '/fleet/net?after=B3'), { body: { stations: [{ serial: 'B4' }] } })
    const one = await net.json('GET', '/fleet/net/stations/B4')
    t.match(one, { body: { judgement: { cause: { kind: 'height' } }, days: [{ offset: { up: Number } }] } })
    t.ok(Math.abs(one.body.days[0].offset.up + 0.1) < 0.03, 'the curve of the day')
    t.match(await net.json('GET', '/fleet/net/stations/NOBODY'), { status: 404 })
  })
  await t.test('acceptance: the right one is accepted, the wrong one rejected, with evidence', async (t) => {
    const test = async (id: number) => (await net.json('GET', `/fleet/net/acceptance/${id}`)).body
    // Two windows of half an hour are no test of two hours.
    await window(rig)
    await rig.passes(async () => (await test(wrong.body.id)).outcome !== 'running', 'the end', 60_000)
    const [accepted, rejected] = [await test(1), await test(wrong.body.id)]
    t.match(accepted, { outcome: 'accepted', reason: /neighbours confirm the position/, evidence: { cause: '' } })
    t.match(rejected, { outcome: 'rejected', evidence: { cause: /height/ } })
    t.match(accepted.evidence, {
      reference: { method: 'survey', frame: 'ITRF2020', epoch: 2026, accuracy: 0.02, antenna: { descriptor: '' } },
      neighbours: [{ distance: Number, epochs: Number, satellites: Number, verdict: 'agrees' }],
    })
    t.match(rejected.evidence.reference, { method: '', frame: '', accuracy: 0 })
    const { epochs, neighbours } = accepted.evidence
    t.ok(epochs > 0 && epochs === neighbours.reduce((sum: number, one: { epochs: number }) => sum + one.epochs, 0))
    t.ok(neighbours.every(({ first, last }: { first: number; last: number }) => last - first >= 1_800))
    t.equal(neighbours.find(({ serial }: { serial: string }) => serial === 'B4')?.state ?? 'contradicts', 'contradicts')
    for (const { windows, fixed } of accepted.evidence.neighbours) t.ok(windows === 3 && fixed >= 0.5)
    t.match((await net.json('GET', '/fleet/net/acceptance')).body, [{ serial: 'B4' }, { serial: 'B0' }])
    t.match(await net.json('GET', '/fleet/net/acceptance/99'), { status: 404 })
  })
  await t.test('it announces the right position: nothing is known of this one yet', async (t) => {
    const station = rig.shared.stations.get('B4')
    t.equal(await net.contradicted(), '1')
    rig.shared.set('B4', undefined)
    t.equal(await net.contradicted(), '0', 'a station that was removed')
    rig.shared.set('B4', station)
    rig.announce(4, roundEcef(rig.streams.truths[4] as never))
    t.equal(net.judgement('B4'), undefined)
    t.equal(await net.contradicted(), '0')
    const cancelled = await begin('B4')
    const remove = (id: number) => net.json('DELETE', `/fleet/net/acceptance/${id}`)
    t.match(await remove(cancelled.body.id), { status: 200, body: { outcome: 'cancelled', reason: /by anna/ } })
    t.ok(rig.shared.events.some(({ text, by }) => text === 'acceptance test cancelled' && by === 'anna'))
    t.match(await remove(cancelled.body.id), { status: 409, body: { message: /has ended already/ } })
    t.match(await remove(1_000), { status: 404 })
    const { body } = await begin('B4')
    for (let n = 0; n < 10; n++) {
      const serial = `OTHER${n}`
      rig.shared.set(serial, {
        ...(rig.shared.stations.get('B4') as never as object),
        serial,
        arp: { x: n, y: 0, z: 0 },
      } as never)
      const { status, body } = await begin(serial)
      t.equal(status, n < 9 ? 200 : 409, JSON.stringify(body))
    }
    rig.announce(4, roundEcef(offsetEnu(rig.arps[4] as never, { east: 1, north: 0, up: 0 })))
    const path = `/fleet/net/acceptance/${body.id}`
    await rig.passes(async () => (await net.json('GET', path)).body.outcome === 'undecided', 'no test of two positions')
    t.match(await net.json('GET', path), { body: { reason: /announces another position/ } })
  })
})

/** All true, of one window that has just ended. */
async function storeVectors(rig: NetRig) {
  for (const [n, one] of rig.arps.entries())
    for (const [m, other] of rig.arps.entries()) {
      if (n >= m) continue
      await rig.rows(
        `insert into fleet_net_vector (t, one, other, status, measured, covariance, one_arp, other_arp, epochs, satellites, height_doubt)
         values (to_timestamp($1), $2, $3, 'fixed', $4, '{1e-5,0,0,0,1e-5,0,0,0,1e-5}', $5, $6, 60, 20, 0)`,
        [
          ...[rig.shared.clock.now() / 1_000, `B${n}`, `B${m}`, [other.x - one.x, other.y - one.y, other.z - one.z]],
          ...[one, other].map(({ x, y, z }) => [x, y, z]),
        ],
      )
    }
}

/** Queries with this text wait from now on. @returns to let them pass */
function hold(rig: NetRig, text: string): () => void {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  rig.shared.held = { text, until, waiting: 0 }
  return () => {
    rig.shared.held = undefined
    release()
  }
}

t.test('G2: the pairs of bases whose clocks differ by milliseconds are fixed', async (t) => {
  const rig = await setUp({ ...four, clocks: ['jumping', 1, -2, 5] })
  await startNet(t, rig)
  await pairsAreThere(rig, 6)
  await window(rig)
  const found = await vectors(rig)
  t.equal(found.length, 6)
  // The longest is 12 km.
  t.ok(found.filter(({ status }) => status === 'fixed').length >= 4, JSON.stringify(found))
})

t.test('a station that announces another position during the judgement is not judged there', async (t) => {
  const rig = await setUp()
  const net = await startNet(t, rig)
  await pairsAreThere(rig, 8)
  await storeVectors(rig)
  // It has judged the positions by then.
  const release = hold(rig, 'from fleet_net_base where serial')
  await rig.passes(() => rig.shared.held?.waiting === 1, 'judged')
  rig.announce(4, roundEcef(offsetEnu(rig.arps[4] as never, { east: 50, north: 0, up: 0 })))
  release()
  await rig.settles(() => net.judgement('B0')?.state === 'agrees', 'stored')
  t.equal(net.judgement('B4'), undefined)
  t.strictSame(await rig.rows(`select state from fleet_net_base where serial = 'B4'`), [])
})

t.test('judgements are recorded as they are stored, although the rest cannot be stored', async (t) => {
  const rig = await setUp()
  const recorded = () => rig.shared.events.filter(({ text }) => text === 'not known any more').length
  const net = await startNet(t, rig)
  await pairsAreThere(rig, 8)
  for (let n = 0; n < 1_100; n++) {
    const arp = geodeticToEcef({ lat: -50 + Math.floor(n / 300), lon: (n % 300) - 150, alt: 0 })
    rig.shared.set(`C${n}`, fleetStation(`C${n}`, { arp, online: 'offline' }))
    await rig.rows(
      `insert into fleet_net_base (serial, state, reason, east_m, north_m, up_m, sigma, vectors, neighbours, since, judged, cause, arp)
       values ($1, 'agrees', 'confirmed', 0, 0, 0, '{0,0,0}', 3, '{}', 'epoch', 'epoch', '{}', $2)`,
      [`C${n}`, [arp.x, arp.y, arp.z]],
    )
  }
  const insert = 'insert into fleet_net_base'
  const release = hold(rig, insert)
  await rig.passes(() => rig.shared.held?.waiting === 1, 'the first are stored')
  rig.shared.fails = insert
  release()
  await rig.settles(() => recorded() > 0, 'recorded')
  t.equal(recorded(), 1_000)
  await rig.settles(() => net.judgement('C0')?.state === 'unknown', 'told')
  rig.shared.fails = ''
  await rig.passes(() => recorded() >= 1_100, 'the others')
  t.equal(recorded(), 1_100, 'each once')
})

t.test('a slow database: one plan at a time, and only of the leading instance', async (t) => {
  const rig = await setUp()
  await startNet(t, rig)
  let release = hold(rig, 'select one, other from fleet_net_pair')
  await rig.passes(() => rig.shared.held?.waiting === 1, 'the first plan')
  for (let n = 0; n < 3; n++) {
    rig.announce(4, roundEcef(offsetEnu(rig.arps[4] as never, { east: 1, north: 0, up: 0 })))
    for (let k = 0; k < 5; k++) await rig.shared.clock.advance(5_000)
    await rig.rows('select 1')
  }
  t.equal(rig.shared.held?.waiting, 1)
  release()
  await pairsAreThere(rig, 8)
  await rig.rows('delete from fleet_net_pair')
  release = hold(rig, 'select one from fleet_net_pair limit 1')
  await rig.passes(() => rig.shared.held?.waiting === 1, 'the next plan', 60_000)
  rig.shared.isFollowing = true
  release()
  for (let k = 0; k < 5; k++) await rig.shared.clock.advance(5_000)
  for (let k = 0; k < 5; k++) await rig.rows('select 1')
  t.equal((await tried(rig)).all, 0, 'another instance leads by now')
})

t.test('an instance that stops while it claims pairs leaves none of them leased', async (t) => {
  const rig = await setUp()
  const net = await startNet(t, rig)
  const held = async () => (await rig.rows(`select key from fleet_job where locked_by <> ''`)).length
  const release = hold(rig, 'set locked_by = $1')
  await rig.passes(() => rig.shared.held?.waiting === 1, 'it claims')
  await pairsAreThere(rig, 8)
  const claimed = rig.shared.held?.until
  await net.station.stop()
  release()
  await claimed
  for (let k = 0; k < 20; k++) await rig.rows('select 1')
  t.equal(await held(), 0)
})

t.test('stations that cannot be compared: each is named with its reason, and the others are compared', async (t) => {
  const rig = await setUp()
  const net = await startNet(t, rig)
  await pairsAreThere(rig, 8)
  await rig.minutes(10)
  rig.instead.set('B0', (payload) => Array.from({ length: 40 }, () => payload))
  rig.instead.set('B1', () => [Buffer.alloc(5_000, 0xd3), Buffer.alloc(70_000)])
  rig.instead.set('B2', () => [])
  rig.announce(3, roundEcef(offsetEnu(rig.arps[3] as never, { east: 0, north: 0, up: 1 })))
  rig.instead.set('B4', (payload) => [payload, rig.streamOf('B0')])
  await window(rig, 24)
  const reasons = (await rig.rows<{ reason: string }>('select reason from fleet_net_pair')).map(({ reason }) => reason)
  t.comment(JSON.stringify(reasons))
  t.strictSame(await vectors(rig), [])
  for (const reason of [/^B0 publishes more than 25 times/, /^B1 publishes more than 64 KiB/])
    t.ok(
      reasons.some((text) => reason.test(text)),
      String(reason),
    )
  t.ok(reasons.every((text) => /^B\d /.test(text)))
  rig.instead.clear()
  await window(rig, 42)
  t.ok((await vectors(rig)).length >= 8, 'compared again')
  t.match(
    net.station.lines.filter(({ level }) => level >= 40),
    [],
  )
})

t.test('a query that fails loses no pair that was claimed', async (t) => {
  const rig = await setUp(four)
  rig.shared.update('B0', { online: 'offline' })
  // That the pairs of B0 cannot be compared is stored at once.
  rig.shared.fails = 'update fleet_net_pair set status'
  await startNet(t, rig)
  await pairsAreThere(rig, 6)
  const held = async () => (await rig.rows(`select key from fleet_job where locked_by <> ''`)).length
  await rig.passes(async () => (await held()) === (await tried(rig)).all, 'all are claimed')
  rig.shared.fails = ''
  await window(rig)
  t.ok((await vectors(rig)).length === 3, 'no pair waits for the end of its lease')
  const reasons = await rig.rows(`select distinct reason from fleet_net_pair where one = 'B0'`)
  t.strictSame(reasons, [{ reason: 'B0 is offline' }])
})

t.test('two instances share the pairs; one is killed, and the other takes its pairs over', async (t) => {
  const rig = await setUp(four)
  await startNet(t, rig, { atOnce: 4 })
  await pairsAreThere(rig, 6)
  const held = () =>
    rig.rows<{ by: string; n: number }>(
      `select locked_by as by, count(*)::int as n from fleet_job where locked_by <> '' group by locked_by`,
    )
  await rig.passes(async () => (await held()).length === 1, 'the first has some')
  const [first] = await held()
  t.equal(first?.n, 4)
  const other = await startNet(t, rig, { atOnce: 4, leads: false })
  await rig.passes(async () => (await held()).length === 2, 'both have some')
  const all = (await tried(rig)).all
  t.strictSame(
    (await held()).map(({ n }) => n).toSorted((one, next) => one - next),
    [all - 4, 4],
  )
  // A killed one cannot release its leases.
  rig.shared.isDown = true
  await other.station.stop()
  rig.shared.isDown = false
  /** Until the vectors of all windows that have ended are computed: the simulated time is faster. */
  const passes = async (minutes: number) => {
    await rig.minutes(minutes)
    const ended_s = rig.shared.clock.now() / 1_000 + 900 + 15 - 30
    await rig.settles(async () => {
      const late = await rig.rows(
        'select key from fleet_job where locked_by = $1 and locked_until < to_timestamp($2)',
        [first?.by, ended_s],
      )
      return late.length === 0
    }, 'the vectors')
  }
  await passes(33)
  t.equal((await tried(rig)).tried, 4, 'the leases of the other have not ended')
  for (let n = 0; n < 5 && (await tried(rig)).tried < all; n++) await passes(33)
  t.equal((await tried(rig)).tried, all, 'those of the other')
})

t.test('in the whole application: a viewer reads, and starts no acceptance test', { skip: gateOnly }, async (t) => {
  const { fleet, get, send } = await fleetRig(t, { sources: { 'fleet-net': {} } })
  t.strictSame(await get('/fleet/net'), { stations: [], pairs: [], next: '' })
  const { body: anna } = await send('POST', '/fleet/people', { user: 'anna', role: 'admin' })
  const as = (key: unknown) => ({ authorization: `Bearer ${String(key)}` })
  const { body: bob } = await send('POST', '/fleet/people', { user: 'bob', role: 'viewer' }, as(anna.key))
  const { body: otto } = await send('POST', '/fleet/people', { user: 'otto', role: 'operator' }, as(anna.key))
  const begin = (key: unknown) => send('POST', '/fleet/net/acceptance', { serial: 'NOBODY' }, as(key))
  t.match(await send('DELETE', '/fleet/net/acceptance/1', undefined, as(bob.key)), { status: 403 })
  t.match(await begin(bob.key), { status: 403, body: { message: /needs the role operator/ } })
  t.match(await begin(otto.key), { status: 404 })
  t.equal((await fleet.request('/fleet/net/acceptance', { headers: as(bob.key) })).status, 200)
  t.equal((await fleet.request('/fleet/net/stations/NOBODY', { headers: as(bob.key) })).status, 404)
})
