/** Which base of a net announces a wrong position, and why: thousands of simulated nets, and each rule by a small one. */
import t from 'tap'
import {
  type CauseEvidence,
  causesOf,
  type DailyOffset,
  judgeNet,
  movementOf,
  type NetBase,
  type NetJudgement,
  type NetVector,
} from '../../runtime/lib/baseline/index.js'
import { enu, type FrameName, offsetEnu, transformed } from '../../runtime/lib/gnss/index.js'
import { Random } from '../../runtime/lib/simulation/index.js'
import type { Ecef, Enu } from '../../schemas/services.js'
import { few } from '../harness/index.js'
import { covarianceOf, minus, noOffset, origin, plus, SimulatedNet, turned } from './support/nets.js'

t.setTimeout(600_000)

const seeds = few(
  40,
  Array.from({ length: 1_000 }, (_, seed) => seed),
)

/** Noise of vectors in rough air. */
const rough = 1.6

/** The faults of a net: the bases that are wrong. */
type Faults = (random: Random, net: SimulatedNet) => readonly number[]

/** Shares, percent, over all nets. */
interface Outcome {
  /** All wrong bases named, and no other. */
  right: number
  /** Wrong bases that are named. */
  named: number
  /** The same, of nets whose faults are large enough to be told with the vectors that the base has. */
  rightOfDetectable: number
  /** A sound base named. */
  innocents: number
  /** Sound bases that agree. */
  agrees: number
}

/** @param noise of the vectors, see `SimulatedNet` */
function outcome(faults: Faults, noise = 1): Outcome {
  const counts = {
    right: 0,
    wrong: 0,
    named: 0,
    detectable: 0,
    rightOfDetectable: 0,
    innocents: 0,
    agrees: 0,
    sound: 0,
  }
  for (const seed of seeds) {
    const random = new Random(seed * 7_919 + 13)
    const net = new SimulatedNet(random, { noise })
    const before = [...net.announced]
    const wrong = faults(random, net)
    const judged = [...judgeNet(net.bases, net.vectors)].map(([, { state }]) => state)
    const named = judged.flatMap((state, base) => (state === 'contradicts' ? [base] : []))
    const isRight = named.length === wrong.length && wrong.every((base) => named.includes(base))
    const isDetectable = wrong.every((base) => net.detectability(base, before, wrong) > 7.6)
    if (isRight) counts.right++
    counts.wrong += wrong.length
    counts.named += wrong.filter((base) => named.includes(base)).length
    if (isDetectable) counts.detectable++
    if (isRight && isDetectable) counts.rightOfDetectable++
    if (named.some((base) => !wrong.includes(base))) counts.innocents++
    counts.agrees += judged.filter((state, base) => state === 'agrees' && !wrong.includes(base)).length
    counts.sound += judged.length - wrong.length
  }
  const percent = (part: number, of: number) => Math.round((10_000 * part) / Math.max(1, of)) / 100
  return {
    right: percent(counts.right, seeds.length),
    named: percent(counts.named, counts.wrong),
    rightOfDetectable: percent(counts.rightOfDetectable, counts.detectable),
    innocents: percent(counts.innocents, seeds.length),
    agrees: percent(counts.agrees, counts.sound),
  }
}

const anyBase = (random: Random) => Math.floor(random.uniform() * 12)
const anyTwo = (random: Random) => {
  const one = anyBase(random)
  return [one, (one + 1 + Math.floor(random.uniform() * 11)) % 12] as const
}
const anySize = (random: Random, least_m: number, most_m: number) => least_m * (most_m / least_m) ** random.uniform()
const level = (random: Random, size: number): Enu => {
  const angle = 2 * Math.PI * random.uniform()
  return { east: size * Math.cos(angle), north: size * Math.sin(angle), up: 0 }
}
const upright = (random: Random, size: number): Enu => ({ ...noOffset, up: random.uniform() < 0.5 ? size : -size })
const datum: Enu = { east: -0.62, north: -0.65, up: 0.02 }
const one =
  (fault: (random: Random) => Enu): Faults =>
  (random, net) => {
    const base = anyBase(random)
    net.displace(base, fault(random))
    return [base]
  }
const two =
  (fault: (random: Random) => Enu): Faults =>
  (random, net) => {
    const both = anyTwo(random)
    for (const base of both) net.displace(base, fault(random))
    return both
  }

t.test('simulated nets of twelve bases', async (t) => {
  t.test('without a wrong base, none is named', async (t) => {
    const outlier: Faults = (random, { links }) => {
      const link = links[Math.floor(random.uniform() * links.length)]
      const angle = Math.PI * (random.uniform() - 0.5)
      const size = 0.2 + 0.8 * random.uniform()
      const flat = level(random, size * Math.cos(angle))
      const wrong = turned({ ...flat, up: size * Math.sin(angle) })
      if (link) for (const [n, error] of link.errors.entries()) link.errors[n] = plus(error, wrong)
      return []
    }
    for (const noise of [1, rough]) {
      for (const [name, faults] of Object.entries({ 'no fault': () => [], 'one wrong vector': outlier })) {
        const { innocents, agrees } = outcome(faults, noise)
        t.comment(`${name}, noise ${noise}: ${innocents} % innocents, ${agrees} % agree`)
        t.equal(innocents, 0)
        t.ok(agrees > 99, `${agrees} % agree`)
      }
    }
  })

  const wrong: Readonly<Record<string, Faults>> = {
    'one level, 5 cm to 5 m': one((random) => level(random, anySize(random, 0.05, 5))),
    'one height, 5 cm to 5 m': one((random) => upright(random, anySize(random, 0.05, 5))),
    'two level, 5 cm to 5 m': two((random) => level(random, anySize(random, 0.05, 5))),
    'two heights, 5 cm to 5 m': two((random) => upright(random, anySize(random, 0.05, 5))),
    'one in another frame': one(() => datum),
    'two in another frame': two(() => datum),
    'two swapped': (random, net) => {
      const both = anyTwo(random)
      net.swap(...both)
      return both
    },
  }
  // One miss more than 1 %: few nets do not tell shares of 1 %.
  const least = 99 - 100 / seeds.length
  for (const [name, faults] of Object.entries(wrong)) {
    t.test(name, async (t) => {
      const { right, named, innocents, agrees } = outcome(faults)
      t.comment(`${named} % of the wrong ones named, ${right} % of the nets right, ${agrees} % of the others agree`)
      t.equal(innocents, 0)
      t.ok(named >= least, `${named} % of the wrong ones`)
      t.ok(right >= 97, `${right} % of the nets`)
    })
  }
  for (const name of ['one height, 5 cm to 5 m', 'two heights, 5 cm to 5 m'] as const) {
    t.test(`${name}, in rough air`, async (t) => {
      const { named, right, rightOfDetectable, innocents } = outcome(wrong[name] as Faults, rough)
      t.comment(
        `${named} % of the wrong ones named, ${right} % of the nets right, ${rightOfDetectable} % if detectable`,
      )
      t.equal(innocents, 0)
      t.ok(rightOfDetectable >= least, `${rightOfDetectable} % of detectable faults`)
    })
  }

  t.test('faults of 2 to 5 cm never name an innocent', async (t) => {
    for (const fault of [level, upright]) {
      const small = outcome(one((random) => fault(random, anySize(random, 0.02, 0.05))))
      t.comment(`${fault === level ? 'level' : 'height'}: ${small.right} % named`)
      t.equal(small.innocents, 0)
    }
  })
})

/** Displacements of announced positions by ID (east, north, metres), and vectors `A-B` with an error to the east. */
function judged(
  displaced: Readonly<Record<string, readonly [number, number]>>,
  links: Readonly<Record<string, number>>,
  { sigma_m = 0.005, tolerance_m, apart_m = 4_000 }: { sigma_m?: number; tolerance_m?: number; apart_m?: number } = {},
): Record<string, NetJudgement> {
  // The last one is a kilometre away at least.
  const last = Object.keys(displaced).length - 1
  const truth = Object.keys(displaced).map((_, index) =>
    offsetEnu(origin, { ...noOffset, east: apart_m * index + (index === last ? 1_000 : 0) }),
  )
  const bases: NetBase[] = Object.entries(displaced).map(([id, [east, north]], index) => ({
    id,
    arp: plus(truth[index] ?? origin, turned({ east, north, up: 0 })),
  }))
  const at = (id: string) => Object.keys(displaced).indexOf(id)
  const vectors = Object.entries(links).map(([link, east]): NetVector => {
    const [from = '', to = ''] = link.split('-')
    const [p, q] = [bases[at(from)]?.arp ?? origin, bases[at(to)]?.arp ?? origin]
    const real = minus(truth[at(to)] ?? origin, truth[at(from)] ?? origin)
    const offset = plus(minus(real, minus(q, p)), turned({ ...noOffset, east }))
    return { from, to, offset, covariance: covarianceOf({ east: sigma_m, north: sigma_m, up: 2 * sigma_m }) }
  })
  return Object.fromEntries(judgeNet(bases, vectors, tolerance_m === undefined ? {} : { tolerance_m }))
}

/** States as letters in the order of the bases: agrees, contradicts, unknown. */
const states = (of: Record<string, NetJudgement>) =>
  Object.values(of)
    .map(({ state }) => state[0])
    .join('')
const right = [0, 0] as const
const links = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 0]))

t.test('majority', async (t) => {
  const cases: [string, Parameters<typeof judged>, string][] = [
    ['two that agree', [{ A: right, B: right }, links('A-B')], 'aa'],
    ['two that disagree', [{ A: [1, 0], B: right }, links('A-B')], 'uu'],
    [
      'a chain: the third decides, but one neighbour names nobody',
      [{ A: [1, 0], B: right, C: right }, links('A-B', 'B-C')],
      'uaa',
    ],
    ['a triangle with one wrong', [{ A: [1, 0], B: right, C: right }, links('A-B', 'B-C', 'A-C')], 'caa'],
    ['a triangle of which each differs', [{ A: [1, 0], B: [0, 1], C: right }, links('A-B', 'B-C', 'A-C')], 'uuu'],
    [
      'a triangle of which one vector is wrong',
      [
        { A: right, B: right, C: right },
        { 'A-B': 0.5, 'B-C': 0, 'A-C': 0 },
      ],
      'aaa',
    ],
    [
      'two pairs against each other',
      [{ A: right, B: right, C: [1, 0], D: [1, 0] }, links('A-B', 'C-D', 'A-C', 'B-D', 'A-D', 'B-C')],
      'uuuu',
    ],
    [
      'two pairs against each other by one vector',
      [{ A: right, B: right, C: [1, 0], D: [1, 0] }, links('A-B', 'C-D', 'A-C')],
      'uuuu',
    ],
    [
      'two with the same fault against three',
      [
        { A: right, B: right, C: right, D: [1, 0], E: [1, 0] },
        links('A-B', 'B-C', 'A-C', 'D-E', 'D-A', 'D-B', 'E-B', 'E-C'),
      ],
      'aaacc',
    ],
    ['parts are judged separately', [{ A: right, B: right, C: [1, 0], D: right }, links('A-B', 'C-D')], 'aauu'],
    [
      'kilometres',
      [{ A: [8_000, -3_000], B: right, C: right, D: right }, links('A-B', 'A-C', 'A-D', 'B-C', 'C-D')],
      'caaa',
    ],
    [
      'two swapped beside each other',
      [
        { A: [4_000, 0], B: [-4_000, 0], C: right, D: right, E: right },
        links('A-B', 'A-C', 'A-D', 'B-D', 'B-E', 'C-D', 'D-E'),
      ],
      'ccaaa',
    ],
    [
      'within the tolerance',
      [{ A: [0.02, 0], B: right, C: right, D: right }, links('A-B', 'A-C', 'A-D', 'B-C', 'C-D')],
      'aaaa',
    ],
    ['a common shift cannot be seen', [{ A: [1, 1], B: [1, 1], C: [1, 1] }, links('A-B', 'B-C', 'A-C')], 'aaa'],
  ]
  for (const [name, given, expected] of cases) t.equal(states(judged(...given)), expected, name)
})

t.test('two receivers at one place have one vote', async (t) => {
  const wrong: [number, number] = [0.3, 0]
  const twins = { A: wrong, T: wrong, C: right }
  t.equal(states(judged(twins, links('A-T', 'A-C', 'T-C'), { apart_m: 3 })), 'uuu')
  const sound = { A: right, T: right, C: right }
  t.equal(states(judged(sound, links('A-T', 'A-C', 'T-C'), { apart_m: 3 })), 'aaa')
})

t.test('a height that antennas of different models explain names nobody', async (t) => {
  const judge = (heightDoubt_m: number, error: Enu = { ...noOffset, up: 0.1 }) => {
    const net = new SimulatedNet(new Random(3))
    net.displace(0, error)
    const doubted = net.vectors.map((vector) =>
      vector.from === 'b0' || vector.to === 'b0' ? { ...vector, heightDoubt_m } : vector,
    )
    return judgeNet(net.bases, doubted).get('b0')
  }
  t.match(judge(0), { state: 'contradicts' })
  t.match(judge(0.12), { state: 'unknown', reason: 'antennas' })
  t.match(judge(0.05), { state: 'contradicts' }, 'more than they may differ')
  t.match(judge(0.12, { east: 0.05, north: 0, up: 0 }), { state: 'contradicts' }, '5 cm to the east are no antenna')
})

t.test('star: one base with its neighbours', async (t) => {
  const star = (own: readonly [number, number], ...neighbours: (readonly [number, number])[]) => {
    const ids = neighbours.map((_, index) => `N${index}`)
    const places = Object.fromEntries(neighbours.map((place, index) => [`N${index}`, place]))
    return states(judged({ own, ...places }, links(...ids.map((id) => `own-${id}`))))
  }
  t.equal(star(right, right), 'aa', 'one neighbour that agrees')
  t.equal(star([1, 0], right), 'uu', 'one neighbour that disagrees')
  t.equal(star([1, 0], right, right)[0], 'c', 'two with the same offset')
  t.equal(star(right, [1, 0], [0, 1]), 'uuu', 'two with different offsets')
  t.equal(star(right, right, [1, 0]), 'aau', 'one of two agrees')
  t.equal(star(right, right, [1, 0], [1, 0]), 'uuuu', 'two against one and the own')
  t.equal(star([1, 0], right, right, right, [1, 0])[0], 'c', 'three against one')
  t.equal(star(right, right, right, right, [1, 0]), 'aaaau', 'one of four is wrong')
  t.equal(star([0.3, 0.2], right, right, right, right)[0], 'c', 'four')
})

t.test('what is said', async (t) => {
  const { A, B } = judged({ A: [0.3, -0.4], B: right, C: right, D: right }, links('A-B', 'A-C', 'A-D', 'B-C', 'C-D'))
  t.match(A, { state: 'contradicts', reason: 'outvoted', vectors: 3, leftOut: [] })
  t.ok(A && Math.abs(A.offset.east + 0.3) < 0.002 && Math.abs(A.offset.north - 0.4) < 0.002, 'true minus announced')
  t.ok(A && A.sigma.east > 0.003 && A.sigma.east < 0.01 && A.sigma.up > A.sigma.east)
  t.match(B, { state: 'agrees', reason: 'confirmed', vectors: 1 })
  const left = judged({ A: right, B: right, C: right }, { 'A-B': 0.5, 'B-C': 0, 'A-C': 0 })
  t.same([left.A?.leftOut, left.B?.leftOut, left.C?.leftOut], [['B'], ['A'], []], 'a wrong vector is marked')
  const alone = judged({ A: right, B: right }, {})
  t.match(alone.A, { state: 'unknown', reason: 'no-vectors', offset: noOffset, sigma: { up: Infinity } })
  const rough = judged({ A: right, B: right, C: right }, links('A-B', 'B-C', 'A-C'), { sigma_m: 0.2 })
  t.match(rough.A, { state: 'unknown', reason: 'imprecise' })
  const wide = judged({ A: [0.1, 0], B: right, C: right }, links('A-B', 'B-C', 'A-C'), { tolerance_m: 0.5 })
  t.equal(states(wide), 'aaa', 'a larger tolerance')
})

t.test('hostile and malformed input is ignored', async (t) => {
  const offset = { x: 0, y: 0, z: 0 }
  const covariance = covarianceOf({ east: 0.005, north: 0.005, up: 0.01 })
  const bases = ['A', 'B', 'C'].map((id, index) => ({ id, arp: { ...origin, x: origin.x + 3_000 * index } }))
  const good = [
    { from: 'A', to: 'B', offset, covariance },
    { from: 'B', to: 'C', offset, covariance },
  ]
  const of = (vectors: NetVector[], some: NetBase[] = bases) =>
    [...judgeNet(some, vectors)].map(([, { state }]) => state[0]).join('')
  const far = { x: 5, y: 0, z: 0 }
  const bad: Record<string, NetVector> = {
    'an unknown base': { from: 'A', to: 'X', offset: far, covariance },
    'a base to itself': { from: 'A', to: 'A', offset: far, covariance },
    'not a number': { from: 'A', to: 'C', offset: { ...far, y: Number.NaN }, covariance },
    'an infinite offset': { from: 'A', to: 'C', offset: { ...far, y: Infinity }, covariance },
    'no covariance': { from: 'A', to: 'C', offset: far, covariance: new Float64Array(0) },
    'an infinite covariance': { from: 'A', to: 'C', offset: far, covariance: new Float64Array(9).fill(Infinity) },
    'a negative covariance': { from: 'A', to: 'C', offset: far, covariance: covariance.map((value) => -value) },
    'a covariance of rank one and more': {
      from: 'A',
      to: 'C',
      offset: far,
      covariance: Float64Array.of(1, 2, 2, 2, 1, 2, 2, 2, 1),
    },
    'a huge covariance': { from: 'A', to: 'C', offset: far, covariance: covariance.map((value) => value * 1e300) },
  }
  for (const [name, vector] of Object.entries(bad)) t.equal(of([...good, vector]), 'aaa', name)
  const exact = { from: 'A', to: 'C', offset: { x: 0.004, y: 0, z: 0 }, covariance: new Float64Array(9) }
  t.equal(of([...good, exact]), 'aaa', 'a covariance of zero is not believed')
  t.equal(of([], []), '', 'nothing')
  const nowhere = { id: 'D', arp: { x: Number.NaN, y: 0, z: 0 } }
  t.equal(of(good, [...bases, nowhere, ...bases]), 'aaa', 'bases without a position, and IDs twice')
  t.equal(of(good, [{ id: 'A', arp: offset }, ...bases.slice(1)]), 'aaa', 'a base in the middle of the Earth')
  for (const tolerance_m of [Number.NaN, Infinity, -1, 0]) {
    t.equal([...judgeNet(bases, good, { tolerance_m })][0]?.[1].state, 'agrees', `tolerance ${tolerance_m}`)
  }
})

t.test('windows of the same pair', async (t) => {
  const bases = ['A', 'B'].map((id, index) => ({ id, arp: { ...origin, x: origin.x + 3_000 * index } }))
  const covariance = covarianceOf({ east: 0.01, north: 0.01, up: 0.01 })
  const of = (offsets: readonly number[]) =>
    judgeNet(
      bases,
      // Every other window is measured the other way round.
      offsets.map((x, index) =>
        index % 2 === 0
          ? { from: 'A', to: 'B', offset: { x, y: 0, z: 0 }, covariance }
          : { from: 'B', to: 'A', offset: { x: -x, y: 0, z: 0 }, covariance },
      ),
      { tolerance_m: 0.006 },
    ).get('B')
  const single = of([0.01])
  const many = of(Array.from({ length: 40 }, () => 0.01))
  t.ok(single && many && many.sigma.east < single.sigma.east, 'many are better than one')
  t.ok(many && many.sigma.east > 0.01 / Math.sqrt(3), 'but not as if they were independent')
  t.match(of([0, 0, 3, 0.001, 0]), { state: 'agrees' }, 'a window that differs from the others is left out')
  t.match(of([0, 3]), { state: 'unknown', reason: 'no-vectors' }, 'two windows that differ say nothing')
})

t.test('five hundred bases, some wrong', async (t) => {
  const net = new SimulatedNet(new Random(5), { size: 500, side_km: 380 })
  const wrong = [3, 77, 78, 200, 201, 333, 499]
  for (const base of wrong) net.displace(base, { east: 0.7, north: 0.4, up: 1 + base })
  const judgements = [...judgeNet(net.bases, net.vectors).values()]
  const named = judgements.flatMap(({ state }, base) => (state === 'contradicts' ? [base] : []))
  t.same(named, wrong)
  t.ok(judgements.filter(({ state }) => state === 'agrees').length > 480)
  for (let base = 0; base < 500; base++) net.displace(base, { east: base, north: (base * 77) % 500, up: 0 })
  const chaos = [...judgeNet(net.bases, net.vectors).values()]
  t.notOk(
    chaos.some(({ state }) => state !== 'unknown'),
    'no two agree: nobody is named',
  )
})

t.test('causes', async (t) => {
  const now = 2026.9
  const sigma = { east: 0.004, north: 0.004, up: 0.008 }
  const of = (offset: Partial<Enu>, more: Partial<CauseEvidence> = {}) =>
    causesOf({ id: 'A', arp: origin, offset: { ...noOffset, ...offset }, sigma, now, ...more })
  const text = (...given: Parameters<typeof of>) => of(...given)[0]?.text

  t.test('height', async (t) => {
    t.match(of({ up: 0.134 }), [{ kind: 'height', values: { up_m: 0.134, point: 'marker', isSure: false } }])
    t.equal(
      text({ up: 0.134 }),
      "The announced height is 0.134 m less than the neighbours say: is it the marker's instead of the antenna's?",
    )
    t.match(text({ up: -0.134 }), /0\.134 m more than .*phase centre/)
    t.match(of({ up: 1.504 }, { antennaHeight_m: 1.5 }), [{ values: { point: 'marker', isSure: true } }])
    t.match(of({ up: -1.504 }, { antennaHeight_m: 1.5 }), [{ values: { point: 'twice', isSure: true } }])
    t.match(of({ up: -0.09 }, { phaseCentre_m: 0.085 }), [{ values: { point: 'phase-centre', isSure: true } }])
    t.match(of({ up: 1.53 }, { antennaHeight_m: 1.5 }), [{ values: { isSure: false } }], '3 cm off is not the same')
    const rough = { antennaHeight_m: 0.2, sigma: { ...sigma, up: 0.05 } }
    t.match(of({ up: 0.2 }, rough), [{ values: { isSure: false } }], 'an imprecise height is not sure')
    t.match(of({ up: 0.02 }), [{ kind: 'unexplained' }])
    t.match(of({ up: 0.134, east: 0.2 }), [{ kind: 'unexplained' }])
  })

  t.test('frame', async (t) => {
    const between = (frame: FrameName, epoch: number, at: Ecef, plate: 'EURA' | 'AUST' | 'NOAM') =>
      enu(at, transformed({ position: at, frame, epoch }, { frame: 'ITRF2020', epoch: now }, plate).position)
    const europe = between('ETRF2000', 2010, origin, 'EURA')
    const neighbours = { frame: 'ITRF2020', epoch: now } as const
    const [found] = of(europe, { neighbours })
    t.match(found, { kind: 'frame', values: { frame: 'ETRF2000', epoch: 2010, neighbours: 'ITRF2020' } })
    t.match(
      found?.text,
      /^The offset of 0\.\d+ m is the difference between ETRF2000 at 2010\.0 and ITRF2020 at 2026\.9: /,
    )
    t.equal(found?.values.others, '')
    const [similar] = of(between('ETRF2014', 2010, origin, 'EURA'), { neighbours })
    t.match(
      similar?.text,
      /given in ETRF2014 at 2010\.0\. It may also be given in ETRF2020 at 2015\.0\.$/,
      'one of several',
    )
    t.match(of(europe), [{ kind: 'frame' }], 'the frame of the neighbours is unknown')
    t.match(of({ ...europe, north: europe.north + 0.1 }, { neighbours }), [{ kind: 'unexplained' }])
    const reverse = { east: -europe.east, north: -europe.north, up: -europe.up }
    t.match(of(reverse, { neighbours: { frame: 'ETRF2000', epoch: 2010 } }), [{ values: { frame: 'ITRF2020' } }])
    const sydney = { x: -4_646_000, y: 2_553_000, z: -3_534_000 }
    const australia = between('GDA2020', 2020, sydney, 'AUST')
    t.match(of(australia, { arp: sydney, neighbours }), [{ values: { frame: 'GDA2020', others: /^(?!.*ETRF)/ } }])
    const denver = { x: -1_266_000, y: -4_725_000, z: 4_078_000 }
    const america = between('NAD83(2011)', 2010, denver, 'NOAM')
    t.match(of(america, { arp: denver, neighbours }), [{ values: { frame: 'NAD83(2011)' } }])
    const old = between('ITRF2014', 2010, origin, 'EURA')
    t.match(of(old, { neighbours, datum: { plate: 'EURA' } }), [{ values: { frame: 'ITRF2014', epoch: 2010 } }])
    t.match(of(old, { neighbours }), [{ kind: 'unexplained' }], 'without a plate, epochs say nothing')
    t.match(of({ east: 0.03 }, { neighbours }), [{ kind: 'unexplained' }], 'too small')
  })

  t.test('swapped and far', async (t) => {
    const other = offsetEnu(origin, { east: 9_000, north: 400, up: 20 })
    const near = (place: Ecef) => offsetEnu(place, { east: 2, north: -3, up: 4 })
    const others = [{ id: 'B', arp: other, byRanges: near(origin) }]
    t.match(of({ east: 9_000 }, { byRanges: near(other), others }), [
      { kind: 'swapped', values: { one: 'A', other: 'B' } },
    ])
    const honest = [{ id: 'B', arp: other, byRanges: near(other) }]
    t.match(of({ east: 9_000 }, { byRanges: near(other), others: honest }), [{ kind: 'far', text: /9\d{3} m away/ }])
    t.match(of({ east: 0.4 }, { byRanges: near(origin), others }), [{ kind: 'unexplained' }])
  })

  t.test('unexplained', async (t) => {
    t.equal(
      text({ east: -0.42, north: 0.003, up: 0.031 }),
      'The announced position is 0.420 m too far east and 0.031 m too low.',
    )
    t.match(of({ east: -0.42 })[0]?.values, { east_m: -0.42, north_m: 0, up_m: 0 })
  })
})

t.test('movement', async (t) => {
  const start_s = Date.UTC(2026, 1, 1) / 1_000
  const sigma = { east: 0.003, north: 0.003, up: 0.006 }
  const curve = (seed: number, days: number, at: (day: number) => Partial<Enu>, noise_m = 0.003): DailyOffset[] => {
    const random = new Random(seed)
    return Array.from({ length: days }, (_, day) => {
      const { east = 0, north = 0, up = 0 } = at(day)
      const noise = () => noise_m * random.normal()
      return {
        t_s: start_s + day * 86_400,
        offset: { east: east + noise(), north: north + noise(), up: up + 2 * noise() },
        sigma,
      }
    })
  }
  const step = movementOf(curve(1, 90, (day) => (day < 41 ? {} : { east: 0.011 })))
  t.match(step, { kind: 'moved', values: { kind: 'step' } })
  t.match(step?.text, /^The antenna moved 1[012] mm to the east on about 1[234] March 2026\.$/)
  const sinking = (day: number) => ({ north: -0.02 * (day / 365.25), up: -0.04 * (day / 365.25) })
  const drift = movementOf(curve(2, 390, sinking))
  t.match(drift, { values: { kind: 'drift' } })
  t.match(drift?.text, /mm to the south and \d+ mm down since February 2026: it drifts by (19|20|21) mm to the south/)
  t.match(movementOf(curve(2, 250, sinking))?.text, /since February 2026\.$/, 'no yearly rate from part of a year')
  const small = movementOf(curve(6, 90, (day) => (day < 41 ? {} : { east: 0.006 }), 0.001))
  t.match(small, { values: { kind: 'step' } }, 'a sudden move of 6 mm')
  for (const days of [60, 120, 180, 270, 365, 400]) {
    for (let month = 0; month < 12; month++) {
      const wave = (day: number) => Math.sin(2 * Math.PI * (day / 365.25 + month / 12))
      const yearly = curve(month, days, (day) => ({ east: 0.003 * wave(day), up: 0.005 * wave(day) }), 0.001)
      t.equal(movementOf(yearly), undefined, `${days} days of a yearly wave of 3 and 5 mm`)
    }
  }
  t.match(movementOf(curve(3, 20, (day) => (day < 10 ? {} : { up: 0.1 }))), { text: /mm up/ }, 'three weeks are enough')
  t.equal(movementOf(curve(4, 13, (day) => (day < 7 ? {} : { up: 1 }))), undefined, 'less than 14 days')
  t.equal(movementOf([]), undefined)
  const outliers = curve(5, 60, (day) => (day % 11 === 3 ? { east: 0.4 } : {}))
  t.equal(movementOf(outliers), undefined, 'single days')
  const broken = curve(1, 90, (day) => (day < 41 ? {} : { east: 0.011 })).map((one, day) =>
    day % 7 === 0 ? { ...one, offset: { ...one.offset, east: Number.NaN } } : one,
  )
  t.match(movementOf(broken), { kind: 'moved' }, 'days that are not numbers are left out')
  let alarms = 0
  const curves = seeds.slice(0, 200)
  for (const seed of curves) {
    // Noise that lasts for days, as multipath and weather do.
    const random = new Random(seed + 1_000)
    const walk = { east: 0, north: 0, up: 0 }
    const days = curve(seed, 90, () => {
      for (const axis of ['east', 'north', 'up'] as const) walk[axis] = 0.7 * walk[axis] + 0.002 * random.normal()
      return walk
    })
    if (movementOf(days)) alarms++
  }
  t.comment(`${alarms} of ${curves.length} curves without a move raise an alarm`)
  t.equal(alarms, 0)
})
