/** The evidence of an acceptance test, and the cause of a wrong position: pure, from vectors and documents. */
import fc from 'fast-check'
import t from 'tap'
import { evidenceOf } from '../../../plugins/fleet/fleet-net/acceptance/evidence.js'
import { outcomeOf } from '../../../plugins/fleet/fleet-net/acceptance/outcome.js'
import { probableCause, rangedOf, withMovement } from '../../../plugins/fleet/fleet-net/judgement/cause.js'
import { type Reference, referenceOf } from '../../../plugins/fleet/fleet-net/judgement/reference.js'
import { announcedVectors, byStation, netVectors } from '../../../plugins/fleet/fleet-net/judgement/vectors.js'
import type { StoredVector } from '../../../plugins/fleet/fleet-net/store/store.js'
import { allAtOnce, type NetCause, type NetJudgement, type Steps } from '../../../runtime/lib/baseline/index.js'
import { pairsOf } from '../../../runtime/lib/baseline/net/pairs.js'
import { announcedAs, distance, geodeticToEcef, offsetEnu } from '../../../runtime/lib/gnss/index.js'
import { Random } from '../../../runtime/lib/simulation/index.js'
import type { Ecef, Enu, FleetStation } from '../../../schemas/services.js'

const arp = geodeticToEcef({ lat: 52, lon: 4.3, alt: 50 })
const nowhere: Enu = { east: 0, north: 0, up: 0 }
const calm: Enu = { east: 0.004, north: 0.004, up: 0.008 }
const minus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x - q.x, y: p.y - q.y, z: p.z - q.z })
const placed = (n: number) => offsetEnu(arp, { east: 5_000 * Math.cos(n), north: 5_000 * Math.sin(n), up: 0 })

/** ECEF, from standard deviations at the station. */
function covarianceOf(sigma: Enu): Float64Array {
  const covariance = new Float64Array(9)
  for (const axis of ['east', 'north', 'up'] as const) {
    const { x, y, z } = minus(offsetEnu(arp, { ...nowhere, [axis]: 1 }), arp)
    const unit = [x, y, z]
    for (let k = 0; k < 9; k++) covariance[k] += sigma[axis] ** 2 * (unit[Math.floor(k / 3)] ?? 0) * (unit[k % 3] ?? 0)
  }
  return covariance
}

/** Vectors of S to B1, B2, …, in turn from either side. */
function vectorsOf(
  neighbours: number,
  windows: number,
  { offset = nowhere, sigma = calm, heightDoubt_m = 0 } = {},
): StoredVector[] {
  const found: StoredVector[] = []
  for (let window = 0; window < windows; window++)
    for (let n = 1; n <= neighbours; n++) {
      const isFirst = n % 2 === 0
      const there = placed(n)
      const truth = minus(offsetEnu(arp, offset), there)
      found.push({
        ...{ id: found.length + 1, t_s: 1_000_000 + 3_600 * window, status: 'fixed' },
        ...{ one: isFirst ? 'S' : `B${n}`, other: isFirst ? `B${n}` : 'S' },
        ...{ oneArp: isFirst ? arp : there, otherArp: isFirst ? there : arp },
        measured: isFirst ? minus({ x: 0, y: 0, z: 0 }, truth) : truth,
        ...{ covariance: covarianceOf(sigma), oneRanges: undefined, otherRanges: undefined },
        ...{ epochs: 120, satellites: 20 + n, heightDoubt_m },
      })
    }
  return found
}

const agreeing = (offset = nowhere, sigma = calm): NetJudgement => ({
  ...{ state: 'agrees', reason: 'confirmed', offset, sigma, vectors: 4, leftOut: [] },
})
const plain = referenceOf(undefined, arp)

function examined(vectors: StoredVector[], judgement: NetJudgement, hours = 3) {
  const judged = new Map([['S', judgement], ...[1, 2, 3, 4].map((n) => [`B${n}`, agreeing()] as const)])
  const times = { begun_s: 1_000_000 - 3_600, every_s: 3_600 }
  const evidence = evidenceOf({ serial: 'S', arp, vectors, judged, judgement, reference: plain, cause: '', ...times })
  return { evidence, ...outcomeOf(evidence, judgement, hours) }
}

/** The vectors of B1 as those of another base. */
const asOf = (serial: string, east: number, from: Ecef, vectors: StoredVector[]) => {
  const place = offsetEnu(from, { ...nowhere, east })
  return vectors
    .filter(({ one }) => one === 'B1')
    .map((vector) => ({ ...vector, one: serial, oneArp: place, measured: minus(arp, place) }))
}

t.test('a position that two neighbours confirm to 5 cm is accepted, with all that was measured', async (t) => {
  const { evidence, outcome } = examined(vectorsOf(3, 3), agreeing())
  t.equal(outcome, 'accepted')
  t.equal(evidence.epochs, 3 * 3 * 120)
  t.equal(evidence.neighbours.length, 3)
  t.match(evidence.neighbours[0], {
    ...{ serial: 'B1', distance: 5_000, windows: 3, fixed: 1, epochs: 360, satellites: 21, antennas: 0 },
    ...{ first: 1_000_000, last: 1_007_200, verdict: 'agrees', state: 'agrees' },
  })
  t.equal(examined([], { ...agreeing(), state: 'unknown' }).outcome, 'undecided', 'no evidence is no acceptance')
  t.equal(examined(vectorsOf(1, 9), agreeing()).outcome, 'undecided', 'one neighbour')
  t.equal(examined(vectorsOf(4, 1), agreeing()).outcome, 'undecided', 'one window')
  const beside = (serial: string, place: Ecef) =>
    vectorsOf(2, 3).map((vector) => {
      const [here, there] = vector.one === serial ? ['oneArp', 'otherArp'] : ['otherArp', 'oneArp']
      if (vector.one !== serial && vector.other !== serial) return vector
      const measured = here === 'otherArp' ? minus(place, arp) : minus(arp, place)
      return { ...vector, [here as string]: place, [there as string]: arp, measured }
    })
  const fiveMetres = { ...nowhere, east: 5 }
  for (const [place, name] of [
    [offsetEnu(placed(1), fiveMetres), 'of the other neighbour'],
    [offsetEnu(arp, fiveMetres), 'of the station'],
  ] as const)
    t.equal(examined(beside('B2', place), agreeing()).outcome, 'undecided', `a receiver on the mast ${name}`)
})

t.test('of several bases at one place, one with a verdict counts: that with most fixed windows', async (t) => {
  const vectors = vectorsOf(2, 6)
  const verdicts = (more: StoredVector[]) => {
    const { evidence, outcome } = examined([...vectors, ...more], agreeing(), 6)
    return `${outcome} ${evidence.neighbours.map(({ serial, verdict }) => `${serial} ${verdict}`).join(', ')}`
  }
  const beside = asOf('A1', 5, placed(1), vectors)
  const right = 'accepted A1 unknown, B1 agrees, B2 agrees'
  t.equal(verdicts(beside.map((vector) => ({ ...vector, status: 'float' }))), right, 'it has no fixed window')
  t.equal(verdicts(beside.slice(0, 1)), right, 'it has one window')
  t.equal(verdicts(beside.slice(0, 3)), right, 'it has fewer windows')
  t.equal(verdicts(beside), 'accepted A1 agrees, B1 unknown, B2 agrees')
  const near = [...asOf('A1', 15, arp, vectors), ...asOf('A2', 30, arp, vectors)]
  t.equal(verdicts(near), 'accepted A1 unknown, A2 agrees, B1 agrees, B2 agrees', '15 m from one that does not count')
})

t.test('different antennas make the height uncertain, and more windows and neighbours do not help', async (t) => {
  for (const windows of [2, 70]) {
    const offset = { ...nowhere, up: 0.04 }
    const vectors = vectorsOf(4, windows, { offset, heightDoubt_m: 0.12 })
    const { evidence, outcome, reason } = examined(vectors, agreeing(offset), windows)
    t.equal(outcome, 'undecided')
    t.match(reason, /^the height is only known to 1\d cm: the antennas differ/)
    for (const { antennas, offset } of evidence.neighbours) {
      t.equal(antennas, 0.12)
      t.ok(Math.abs(offset.up - 0.04) < 0.001, 'true minus announced')
    }
  }
  const oneAlike = vectorsOf(4, 3, { heightDoubt_m: 0.12 }).map((vector) =>
    vector.one === 'B1' ? { ...vector, heightDoubt_m: 0 } : vector,
  )
  t.equal(examined(oneAlike, agreeing()).outcome, 'accepted', 'one neighbour has the same antenna')
  const contradicting = vectorsOf(4, 3, { offset: { ...nowhere, east: 0.5 } })
  const others = (at: number) =>
    oneAlike.map((vector, n) => (n % 4 === 0 && n >= at ? contradicting[n] : vector) as never)
  t.equal(examined(others(0), agreeing()).outcome, 'undecided', 'it contradicts the position')
  t.equal(examined(others(8), agreeing()).outcome, 'undecided', 'its vectors are not the same')
  const besideStation = [...oneAlike.filter(({ one }) => one !== 'B1'), ...asOf('A1', 5, arp, oneAlike)]
  t.equal(examined(besideStation, agreeing()).outcome, 'undecided', 'it is on the mast of the station')
})

t.test('a position that is confirmed, and not known to 5 cm, is undecided, in words', async (t) => {
  const rough = { east: 0.008, north: 0.008, up: 0.016 }
  const of = (offset: Enu, sigma: Enu) => examined(vectorsOf(3, 3, { offset, sigma: rough }), agreeing(offset, sigma))
  t.match(of({ ...nowhere, north: 0.04 }, calm), {
    outcome: 'undecided',
    reason: /^the horizontal position differs by 4\.0 cm ± 1\.1 cm/,
  })
  t.match(of(nowhere, { ...calm, up: 0.04 }), {
    outcome: 'undecided',
    reason: /^the height is only known to 8\.0 cm \(/,
  })
  t.equal(of({ ...nowhere, up: -0.03 }, calm).outcome, 'accepted')
  t.equal(examined(vectorsOf(3, 3), { ...agreeing(), state: 'contradicts' }).outcome, 'rejected')
})

/** The station moves before this window of 24. */
const moved = (window: number, east: number, neighbours = 3) =>
  vectorsOf(3, 24).map((vector, at, all) => {
    if (at < 3 * window || at % 3 >= neighbours) return vector
    return { ...(vectorsOf(3, 24, { offset: { ...nowhere, east } })[at] ?? vector), id: all[at]?.id ?? 0 }
  })

t.test('a position that changed during the test is undecided, although most windows confirm it', async (t) => {
  const reason = /^the position changed during the test, or the vectors do not repeat \(B1, B2, B3\): /
  for (const [window, east] of [
    [13, 0.4],
    [16, 0.4],
    [18, 0.4],
    [23, 0.4],
    [16, 0.1],
    [16, 0.05],
  ] as const)
    t.match(examined(moved(window, east), agreeing(), 24), { outcome: 'undecided', reason }, `${east} m at ${window} h`)
  const { evidence, outcome } = examined(moved(16, 0.4, 1), agreeing(), 24)
  t.equal(outcome, 'accepted', 'a neighbour that moved confirms nothing, and the others do')
  t.match(evidence.neighbours, [{ steady: false, verdict: 'unknown' }, { steady: true, verdict: 'agrees' }, {}])
  t.ok(Math.abs((evidence.neighbours[0]?.change.east ?? 0) - 0.4) < 0.001)
  t.equal(examined(moved(24, 0), agreeing(), 24).outcome, 'accepted')
})

t.test('a wrong fixing of one window, or a rough height, is no move', async (t) => {
  const wrong = (axis: keyof Enu) =>
    moved(24, 0).map((vector, at) => {
      const offset = { ...nowhere, [axis]: 0.15 }
      return Math.floor(at / 3) === 7 && at % 3 < 2 ? (vectorsOf(3, 24, { offset })[at] ?? vector) : vector
    })
  for (const axis of ['east', 'up'] as const)
    t.equal(examined(wrong(axis), agreeing(), 24).outcome, 'accepted', `15 cm ${axis}, of two of three neighbours`)
  const random = new Random(5)
  const up = minus(offsetEnu(arp, { ...nowhere, up: 1 }), arp)
  const rough = ({ measured, ...vector }: StoredVector): StoredVector => {
    const by = 0.03 * random.normal()
    const { x, y, z } = measured
    return { ...vector, measured: { x: x + by * up.x, y: y + by * up.y, z: z + by * up.z } }
  }
  const calmOnes = vectorsOf(4, 24)
  const outcomes = Array.from({ length: 40 }, () => examined(calmOnes.map(rough), agreeing(), 24).outcome)
  const accepted = outcomes.filter((outcome) => outcome === 'accepted').length
  t.ok(accepted >= 36, `3 cm of height: ${accepted} of 40`)
})

t.test('a position that changed by 5 cm for the last quarter of the test is undecided', async (t) => {
  for (const hours of [4, 5, 6, 8, 12, 24, 48, 71])
    for (const axis of ['east', 'north', 'up'] as const) {
      const offset = { ...nowhere, [axis]: 0.05 }
      const after = vectorsOf(3, hours, { offset })
      const vectors = vectorsOf(3, hours).map((vector, at) =>
        at < 3 * Math.ceil(0.75 * hours) ? vector : (after[at] ?? vector),
      )
      t.equal(examined(vectors, agreeing(), hours).outcome, 'undecided', `${hours} h, ${axis}`)
    }
})

t.test('the windows of an accepted position cover 70 % of the test', async (t) => {
  const online = (windows: number) => examined(vectorsOf(3, windows), agreeing(), 24)
  t.match(online(2), { outcome: 'undecided', reason: /^only 2 of 24 h have windows, and 70 % are needed/ })
  t.equal(online(16).outcome, 'undecided')
  t.match(online(17), { outcome: 'accepted', evidence: { covered: 17 } })
})

t.test('the reference in a document', async (t) => {
  const chosen = { ...arp, acc: 0.02, frame: 'ITRF2020', epoch: '2020.0' }
  const antenna = { descriptor: 'TRM59800.00     SCIS', serial: '123', height: 1.5 }
  const documentOf = (ref: object) => ({ gnss: { ref: { chosen: 'manual', ...ref }, rtcm: { antenna } } })
  t.strictSame(referenceOf(documentOf({ manual: chosen, announced: { frame: '', epoch: 0, plate: 'EURA' } }), arp), {
    ...{ method: 'manual', frame: 'ITRF2020', epoch: 2020, plate: 'EURA', accuracy_m: 0.02 },
    antenna: { descriptor: 'TRM59800.00     SCIS', serial: '123', height_m: 1.5 },
  })
  t.match(referenceOf(documentOf({ manual: { ...chosen, frame: 'RD/NAP' } }), arp), { frame: 'RD/NAP', epoch: 2020 })
  t.match(
    referenceOf(documentOf({ manual: { ...chosen, x: arp.x + 1 } }), arp),
    { method: '', frame: '', accuracy_m: 0, antenna: { height_m: 1.5 } },
    'of another position',
  )
  const announced = announcedAs({ position: arp, frame: 'ITRF2020', epoch: 2020 }, { frame: 'ETRF2000', plate: 'EURA' })
  t.ok(distance(announced.position, arp) > 0.5)
  const wish = { manual: chosen, announced: { frame: 'ETRF2000', epoch: 0, plate: 'EURA' } }
  t.match(referenceOf(documentOf(wish), announced.position), { frame: 'ETRF2000', epoch: 2020, accuracy_m: 0.02 })
  t.match(referenceOf(documentOf(wish), arp), { method: '' }, 'determined there, and announced elsewhere')
  await t.test('hostile documents', async (t) => {
    const part = fc.oneof(
      fc.anything(),
      fc.constantFrom('__proto__', 'manual', 'survey', 'x'.repeat(99), '\u0000\ud800'),
    )
    const values = fc.record({ x: part, y: part, z: part, acc: part, frame: part, epoch: part })
    const hostile = fc.record({ chosen: part, manual: values, survey: values, announced: fc.anything() })
    fc.assert(
      fc.property(fc.oneof(hostile, fc.anything()), fc.anything(), (ref, rtcm) => {
        const { frame, antenna, accuracy_m } = referenceOf({ gnss: { ref, rtcm } }, arp)
        return frame.length <= 32 && antenna.descriptor.length <= 32 && Number.isFinite(accuracy_m)
      }),
    )
    const lie = { ...arp, acc: 1e9, frame: `${'A'.repeat(999)}`, epoch: '9'.repeat(999) }
    t.match(referenceOf(documentOf({ manual: lie, announced: { plate: 'constructor' } }), arp), {
      ...{ accuracy_m: 0, frame: 'A'.repeat(32), epoch: 0, plate: '' },
    })
  })
})

const causeOf = (offset: Enu, reference: Partial<Reference> = {}, vectors: StoredVector[] = [], wrong = ['S']) =>
  probableCause({
    ...{
      serial: 'S',
      arp,
      judgement: { offset, sigma: calm },
      ranged: allAtOnce(rangedOf(vectors)),
      wrong: new Set(wrong),
    },
    ...{ reference: { ...plain, ...reference }, now_ms: Date.UTC(2026, 0, 1) },
  })

t.test('causes: the survey, the ranges, the datum, the marker', async (t) => {
  const off = { east: 1.2, north: -0.3, up: 1.1 }
  t.equal(causeOf(off).kind, 'unexplained')
  t.match(causeOf(off, { accuracy_m: 2 }), {
    kind: 'survey',
    values: { acc_m: 2 },
    text: /^The position is as accurate as its survey says \(2\.0 m\)/,
  })
  t.equal(causeOf(off, { accuracy_m: 0.5 }).kind, 'unexplained', 'more than three standard deviations')
  t.equal(causeOf({ east: 0.06, north: 0.02, up: 0 }, { accuracy_m: 0.03 }).kind, 'unexplained', 'it promises 3 cm')
  const [vector] = vectorsOf(1, 1)
  const at = (ranges: Ecef) => [{ ...(vector as StoredVector), oneRanges: arp, otherRanges: ranges }]
  t.equal(causeOf(off, { accuracy_m: 1_000 }, at(placed(1)), ['S', 'B1']).kind, 'swapped')
  t.equal(causeOf(off, { accuracy_m: 1_000 }, at(placed(1)), ['S']).kind, 'far', 'the other is right')
  const up = { ...nowhere, up: 0.2 }
  t.match(causeOf(up, { antenna: { descriptor: '', serial: '', height_m: 0.2 } }), {
    kind: 'height',
    values: { point: 'marker', isSure: true },
  })
  const wrong = announcedAs({ position: arp, frame: 'ITRF2014', epoch: 2005 }, { epoch: 2026, plate: 'EURA' }).position
  const moved = {
    ...nowhere,
    ...(({ x, y, z }) => {
      const along = (axis: keyof Enu) => {
        const unit = minus(offsetEnu(arp, { ...nowhere, [axis]: 1 }), arp)
        return x * unit.x + y * unit.y + z * unit.z
      }
      return { east: along('east'), north: along('north'), up: along('up') }
    })(minus(wrong, arp)),
  }
  t.match(causeOf(moved, { frame: 'ITRF2014', epoch: 2005, plate: 'EURA' }), {
    kind: 'frame',
    values: { frame: 'ITRF2014', epoch: 2005 },
  })
})

t.test('a movement is the cause only of an offset that it explains, and that nothing else does', async (t) => {
  const step = (east_mm: number): NetCause => ({ kind: 'moved', values: { kind: 'step', east_mm }, text: 'It moved.' })
  const offset = { east: 0.2, north: 0, up: 0.05 }
  const unexplained = causeOf(offset)
  const kind = (cause: typeof unexplained, movement: NetCause | undefined) => withMovement(cause, offset, movement).kind
  t.equal(kind(unexplained, step(180)), 'moved')
  t.equal(kind(unexplained, step(5)), 'unexplained', '5 mm')
  t.equal(kind(unexplained, step(-180)), 'unexplained', 'the other way')
  t.equal(kind(unexplained, undefined), 'unexplained')
  t.equal(kind(causeOf(offset, { accuracy_m: 2 }), step(180)), 'moved', 'a survey to 2 m does not move the antenna')
  for (const kindOf of ['swapped', 'far', 'frame', 'height'] as const)
    t.equal(kind({ kind: kindOf, values: {}, text: '' }, step(180)), kindOf)
})

t.test('the vectors of a large net are handled in small steps', async (t) => {
  const vectors = vectorsOf(4, 300)
  const arps = new Map([['S', arp], ...[1, 2, 3, 4].map((n) => [`B${n}`, placed(n)] as const)])
  const inPieces = <T>(name: string, steps: Steps<T>): T => {
    for (let count = 0; ; count++) {
      const { done, value } = steps.next()
      if (!done) continue
      t.ok(count >= vectors.length, `${name}: ${count} steps`)
      return value
    }
  }
  const stationOf = (serial: string) => ({ serial, arp: arps.get(serial) }) as FleetStation
  const announced = inPieces('announced', announcedVectors(vectors, stationOf))
  t.equal(announced.length, vectors.length)
  const net = inPieces('net', netVectors(announced))
  t.equal(net.bases.length, 5)
  t.equal(inPieces('by station', byStation(announced)).get('S')?.length, vectors.length)
  t.equal(inPieces('ranged', rangedOf(vectors)).size, 5)
  const places = new Map(net.bases.map(({ id }, place) => [id, place]))
  t.equal(inPieces('pairs', pairsOf(places, net.vectors)).length, 4)
  arps.set('B1', arp)
  t.equal(allAtOnce(announcedVectors(vectors, stationOf)).length, 900, 'B1 announces another position')
})
