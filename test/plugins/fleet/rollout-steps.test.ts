/** The steps of a rollout, on simulated stations: pure, so that every order of events can be tried. */
import fc from 'fast-check'
import t from 'tap'
import { observation_s } from '../../../plugins/fleet/fleet-rollout/epochs.js'
import { Neighbourhood } from '../../../plugins/fleet/fleet-rollout/neighbours.js'
import { isOpen, type Plan, planOf, wavesOf } from '../../../plugins/fleet/fleet-rollout/plan.js'
import {
  type Action,
  isBusy,
  isNear,
  next,
  type Rollout,
  type Target,
} from '../../../plugins/fleet/fleet-rollout/steps.js'
import type { FleetStation } from '../../../schemas/services.js'
import { sample } from '../../harness/sample.js'
import { fleetStation } from './stations.js'

const image = { image: 'https://example.net/2.0.0.rtkb', version: '2.0.0' }
const planWith = (given: Partial<Plan> = {}): Plan =>
  planOf({ name: 'test', filter: {}, what: image, apart_km: 0, ...given })

/** What a simulated station does with an image. */
type Fate = 'good' | 'goes back' | 'stays silent' | 'no RTCM' | 'refuses' | 'new error'

/** A fleet whose stations install images; the rollout is stored as JSON, as in a database. */
class World {
  now_s = 1_800_000_000
  rollout: Rollout
  readonly stations = new Map<string, FleetStation>()
  readonly fates: ReadonlyMap<string, Fate>
  targets: Target[]
  ended = ''
  readonly told: string[] = []
  readonly sentBack: string[] = []
  readonly rovers = new Map<string, number>()
  readonly contradicted = new Set<string>()
  /** Contradicted within their stated accuracy. */
  readonly surveyed = new Set<string>()
  readonly judgements = new Map<string, { state: 'agrees' | 'unknown'; window_s: number }>()
  /** Since when a station installs. */
  readonly #asked = new Map<string, number>()
  busiest = 0

  constructor(plan: Plan, stations: readonly FleetStation[], fates: ReadonlyMap<string, Fate> = new Map()) {
    this.fates = fates
    for (const station of stations) this.stations.set(station.serial, station)
    this.rollout = { id: 1, plan, state: 'running', wave: 0 }
    this.targets = wavesOf(plan, stations).flatMap((serials, wave) =>
      serials.map(
        (serial): Target => ({
          ...{ serial, wave, state: 'waiting', reason: '', since_s: this.now_s, asked: 0, asked_s: 0, well_s: 0 },
          before: undefined,
        }),
      ),
    )
  }

  get busy(): Target[] {
    return this.targets.filter(isBusy)
  }

  of(state: Target['state']): string[] {
    return this.targets.filter((target) => target.state === state).map(({ serial }) => serial)
  }

  #set(serial: string, facts: Partial<FleetStation>): void {
    this.stations.set(serial, { ...(this.stations.get(serial) as FleetStation), ...facts })
  }

  #epochs(serial: string): number | undefined {
    const { since_s, state } = this.targets.find((target) => target.serial === serial) as Target
    const { rtcm, version } = this.stations.get(serial) as FleetStation
    if (state === 'measuring' && this.now_s - since_s < observation_s(rtcm.rate_s)) return undefined
    return this.fates.get(serial) === 'no RTCM' && version === '2.0.0' ? 0 : 30
  }

  /** @param forgets the instance is killed after it stored the step, before it did anything */
  step(forgets = false): Action[] {
    const stored = JSON.parse(JSON.stringify(this.targets)) as Target[]
    const actions = next(this.rollout, stored, {
      now_s: this.now_s,
      stationsNow_s: this.now_s,
      station: (serial) => this.stations.get(serial),
      epochs: (serial) => this.#epochs(serial),
      rovers: (serial) => this.rovers.get(serial) ?? 0,
      judgement: (serial) => {
        const cause = { kind: this.surveyed.has(serial) ? 'survey' : 'height', values: {}, text: '' }
        if (this.contradicted.has(serial)) return { state: 'contradicts', window_s: this.now_s, cause }
        const found = this.judgements.get(serial)
        return found && { ...found, cause }
      },
      elsewhere: [],
      neighbours: (station, apart_km) => new Neighbourhood(this.stations.values()).of(station, apart_km),
    })
    for (const action of actions) {
      if (action.do === 'target')
        this.targets = this.targets.map((target) => (target.serial === action.target.serial ? action.target : target))
      if (action.do === 'wave') this.rollout = { ...this.rollout, wave: action.wave }
      if (action.do === 'end') {
        this.rollout = { ...this.rollout, state: action.state }
        this.ended = action.reason
      }
    }
    this.busiest = Math.max(this.busiest, this.busy.length)
    if (forgets) return actions
    for (const action of actions) {
      if (action.do === 'ask') this.#told(action.target.serial)
      if (action.do === 'back') this.#back(action.target.serial)
    }
    return actions
  }

  #told(serial: string): void {
    this.told.push(serial)
    if (this.fates.get(serial) === 'refuses') this.#set(serial, { update: { state: 'failed', failed: true } })
    else if (this.fates.get(serial) !== 'stays silent') this.#asked.set(serial, this.now_s)
  }

  #back(serial: string): void {
    this.sentBack.push(serial)
    if (this.stations.get(serial)?.version === '2.0.0') this.#set(serial, { version: '1.0.0', online: 'online' })
  }

  /** Time passes: what was begun is finished. */
  pass(seconds: number): void {
    this.now_s += seconds
    for (const [serial, since_s] of this.#asked) {
      const fate = this.fates.get(serial) ?? 'good'
      const age_s = this.now_s - since_s
      const now: Partial<FleetStation> =
        age_s < 60
          ? { update: { state: 'installing', failed: false } }
          : age_s < 120
            ? { online: 'offline', onlineSince_s: since_s + 60 }
            : fate === 'goes back'
              ? { online: 'online', version: '1.0.0', update: { state: 'failed', failed: true } }
              : {
                  ...{ online: 'online', version: '2.0.0', update: { state: 'idle', failed: false } },
                  errors: fate === 'new error' ? ['gnss-link'] : [],
                }
      this.#set(serial, now)
      if (age_s >= 120) this.#asked.delete(serial)
    }
  }

  run(seconds = 20_000, forgets: () => boolean = () => false): void {
    const end_s = this.now_s + seconds
    while (this.now_s < end_s && (this.rollout.state === 'running' || this.rollout.state === 'paused')) {
      this.step(forgets())
      this.pass(10)
    }
  }
}

/** Stations in a grid of 20 km. */
const grid = (count: number): FleetStation[] =>
  Array.from({ length: count }, (_, at) =>
    fleetStation(`S${String(at).padStart(3, '0')}`, {
      place: { lat: 48 + 0.18 * (at % 10), lon: 8 + 0.27 * Math.floor(at / 10), alt: 100 },
    }),
  )

t.test('a good image reaches every station, wave by wave', async (t) => {
  const world = new World(planWith(), grid(40))
  world.run(600)
  t.equal(world.of('done').length, 1, 'the canary alone, while it soaks')
  t.equal(world.told.length, 1)
  world.run()
  t.equal(world.rollout.state, 'done')
  t.equal(world.of('done').length, 40)
  t.equal(world.told.length, 40, 'each was told once')
  t.ok(world.busiest <= 20)
})

t.test('P1: a station that publishes rarely is observed for as long as that takes', async (t) => {
  const stations = grid(3).map((station) => ({ ...station, rtcm: { signed: false, rate_s: 300 } }))
  const world = new World(planWith({ soak_s: 60 }), stations)
  world.run(60_000)
  t.equal(world.rollout.state, 'done')
  t.equal(world.told.length, 3)
})

t.test('a station whose position is newly contradicted is not proven, and one that was before is', async (t) => {
  const stations = grid(3)
  const [[canary = ''] = []] = wavesOf(planWith(), stations)
  const world = new World(planWith({ soak_s: 60 }), stations)
  world.contradicted.add(canary)
  world.run()
  t.equal(world.rollout.state, 'done', 'it was so before')
  const other = new World(planWith({ limit_s: 1_000 }), stations)
  other.run(100)
  other.contradicted.add(canary)
  other.run()
  t.match(other.ended, /its neighbours contradict its position/)
  const coarse = new World(planWith({ soak_s: 60 }), stations)
  coarse.surveyed.add(canary)
  coarse.run(100)
  coarse.contradicted.add(canary)
  coarse.run()
  t.equal(coarse.rollout.state, 'done', 'within its stated accuracy')
  const later = new World(planWith({ soak_s: 3_600 }), stations)
  later.run(900)
  t.strictSame(later.of('done'), [canary])
  later.contradicted.add(canary)
  later.run()
  t.match(later.ended, /contradict its position afterwards/)
  t.strictSame(later.sentBack, [canary])
})

t.test('with `position`, a wave ends once its positions are confirmed by windows after the change', async (t) => {
  const stations = grid(3)
  const [[canary = ''] = []] = wavesOf(planWith(), stations)
  const begin = (plan: Partial<Plan> = {}, isJudged = true) => {
    const world = new World(planWith({ position: true, soak_s: 60, ...plan }), stations)
    if (isJudged) for (const { serial } of stations) world.judgements.set(serial, { state: 'agrees', window_s: 1 })
    world.run(2_000)
    return world
  }
  const reasonOf = (world: World) => world.targets.find(({ serial }) => serial === canary)?.reason
  t.ok(begin({ position: false }).told.length > 1, 'not without the option')
  t.ok(begin({}, false).told.length > 1, 'not for stations that were never confirmed')
  const world = begin()
  t.strictSame(world.of('done'), [canary])
  t.match(reasonOf(world), /have not confirmed its position yet/)
  world.judgements.set(canary, { state: 'unknown', window_s: world.now_s })
  world.run(1_000)
  t.equal(world.told.length, 1, 'unknown confirms nothing')
  world.judgements.set(canary, { state: 'agrees', window_s: world.now_s })
  world.run(200)
  t.equal(reasonOf(world), '')
  t.ok(world.told.length > 1, 'confirmed')

  const wrong = begin()
  wrong.run(5_000)
  wrong.contradicted.add(canary)
  wrong.run(100)
  t.match(wrong.ended, /contradict its position afterwards/)
  t.strictSame(wrong.sentBack, [canary])

  const silent = begin()
  silent.run(7_000)
  t.equal(silent.told.length, 1)
  silent.run(1_000)
  t.ok(silent.told.length > 1, 'after 2.5 h')
  t.match(reasonOf(silent), /did not confirm its position in 2\.5 h/)
})

for (const [fate, reason] of [
  ['goes back', /update failed/],
  ['refuses', /update failed/],
  ['stays silent', /told three times/],
  ['no RTCM', /no RTCM arrives/],
  ['new error', /new errors: gnss-link/],
] as [Fate, RegExp][]) {
  t.test(`an image with which a station ${fate} stops after the canary`, async (t) => {
    const stations = grid(20)
    const [[canary = ''] = []] = wavesOf(planWith(), stations)
    const world = new World(planWith(), stations, new Map([[canary, fate]]))
    world.run()
    t.equal(world.rollout.state, 'stopped')
    t.match(world.ended, reason)
    t.strictSame(world.of('failed'), [canary])
    t.ok(
      world.told.every((serial) => serial === canary),
      'no other station was told',
    )
    t.equal(world.stations.get(canary)?.version, '1.0.0', 'it is back on its old version')
    t.equal(world.busy.length, 0)
  })
}

t.test('stations on trial are told to go back when others fail', async (t) => {
  const stations = grid(10)
  const fates = new Map<string, Fate>(stations.slice(0, 1).map(({ serial }) => [serial, 'refuses']))
  const world = new World(planWith({ waves: [{ count: 10 }] }), stations, fates)
  world.run()
  t.equal(world.rollout.state, 'stopped')
  t.equal(world.of('undone').length + world.of('failed').length + world.of('waiting').length, 10)
  t.equal(world.busy.length, 0)
})

t.test('a station that undid its change has failed; an older document does not tell', async (t) => {
  for (const [document_s, state, ahead_s] of [
    [999, undefined, 0],
    [1_001, 'failed', 0],
    [999 + 7_200, undefined, 7_200],
    [1_001 - 7_200, 'failed', -7_200],
  ] as const) {
    const target: Target = {
      ...{ serial: 'S', wave: 0, state: 'proving', reason: 'new errors: mqtt-broker-change', since_s: 1_000 },
      ...{ asked: 1, asked_s: 990, well_s: 0, before: { version: '1.0.0', errors: [], hadEpochs: false } },
    }
    const plan = planWith({ what: { change: { 'mqtt-host': 'broker.example' } } })
    const station = fleetStation('S', { errors: ['mqtt-broker-change'], document_s })
    const actions = next({ id: 1, plan, state: 'running', wave: 0 }, [target], {
      ...{
        now_s: 1_010,
        stationsNow_s: 1_010 + ahead_s,
        station: () => station,
        epochs: () => 30,
        judgement: () => undefined,
        rovers: () => 0,
        elsewhere: [],
        neighbours: () => [],
      },
    })
    const [first] = actions
    t.equal(first?.do === 'target' ? first.target.state : undefined, state)
    t.equal(
      actions.some((action) => action.do === 'end'),
      state === 'failed',
    )
  }
})

t.test('errors that are accepted do not stop it', async (t) => {
  const stations = grid(10)
  const world = new World(
    planWith({ errors: 2 }),
    stations,
    new Map([
      ['S003', 'refuses'],
      ['S007', 'goes back'],
    ]),
  )
  world.run()
  t.equal(world.rollout.state, 'done')
  t.strictSame(
    world.of('failed').sort((one, other) => one.localeCompare(other)),
    ['S003', 'S007'],
  )
  t.equal(world.of('done').length, 8)
})

t.test('a station that becomes unfit while its wave soaks has failed', async (t) => {
  const world = new World(planWith(), grid(5))
  world.run(400)
  const [canary = ''] = world.of('done')
  world.stations.set(canary, { ...fleetStation(canary), verdict: 'unfit', cause: 'moved', verdictSince_s: world.now_s })
  world.run()
  t.equal(world.rollout.state, 'stopped')
  t.match(world.ended, /became unfit \(moved\) afterwards/)
  t.equal(world.told.length, 1)
})

t.test(
  'a short outage while its wave soaks is no failure, whatever the clocks of station and instance say',
  async (t) => {
    for (const since_s of [1, 1_700_000_000, 1_900_000_000]) {
      const world = new World(planWith({ soak_s: 3_000 }), grid(5))
      world.run(400)
      const [canary = ''] = world.of('done')
      const well = world.stations.get(canary) as FleetStation
      for (const trouble of [
        { verdict: 'unfit', cause: 'receiver', verdictSince_s: since_s },
        { online: 'offline', onlineSince_s: since_s, verdictSince_s: 1 },
      ] as const) {
        world.stations.set(canary, { ...well, ...trouble })
        world.run(120)
        world.stations.set(canary, well)
        world.run(20)
      }
      t.strictSame(world.of('done'), [canary])
      world.stations.set(canary, { ...well, online: 'offline', onlineSince_s: since_s })
      world.run(240)
      t.match(world.ended, /afterwards/)
    }
  },
)

t.test('stations with rovers wait, unless forced; offline ones wait', async (t) => {
  const stations = grid(3)
  const world = new World(planWith({ waves: [] }), stations)
  world.rovers.set('S001', 2)
  world.stations.set('S002', { ...(stations[2] as FleetStation), online: 'offline' })
  world.run(3_000)
  t.strictSame(world.of('done'), ['S000'])
  t.match(
    world.targets.map(({ reason }) => reason).sort((one, other) => one.localeCompare(other)),
    ['', '2 rovers are connected', 'it is offline'],
  )
  world.rovers.clear()
  world.run(3_000)
  t.equal(world.of('done').length, 2)
  const forced = new World(planWith({ force: true }), stations)
  forced.rovers.set('S001', 2)
  forced.run()
  t.equal(forced.rollout.state, 'done')
})

t.test('outside its window nothing begins, and what is under way ends', async (t) => {
  const plan = planWith({ window: { from: '22:00', to: '05:30' } })
  const midnight_s = 1_800_000_000 - (1_800_000_000 % 86_400)
  t.ok(isOpen(plan, midnight_s + 3_600))
  t.ok(isOpen(plan, midnight_s + 22 * 3_600))
  t.notOk(isOpen(plan, midnight_s + 6 * 3_600))
  const world = new World(plan, grid(2))
  world.now_s = midnight_s + 5.4 * 3_600
  world.run(200)
  t.equal(world.busy.length, 1, 'begun in time')
  world.run(4 * 3_600)
  t.equal(world.of('done').length, 1)
  t.match(world.targets.find(({ state }) => state === 'waiting')?.reason, /outside/)
})

t.test('paused: nothing begins, what is under way ends; stopped by a person: it goes back', async (t) => {
  const world = new World(planWith({ waves: [{ count: 2 }] }), grid(6))
  world.run(60)
  world.rollout = { ...world.rollout, state: 'paused' }
  world.run(2_000)
  t.equal(world.of('done').length, 2)
  t.equal(world.told.length, 2)
  world.rollout = { ...world.rollout, state: 'running' }
  world.run(120)
  t.ok(world.busy.length > 0)
  world.rollout = { ...world.rollout, state: 'stopping' }
  world.step()
  t.equal(world.rollout.state, 'stopped')
  t.equal(world.busy.length, 0)
  t.ok(world.sentBack.length > 0)
})

t.test('neighbours are never changed at the same time, whatever dies when', async (t) => {
  const place = fc.record({
    lat: fc.double({ min: 47, max: 49, noNaN: true }),
    lon: fc.double({ min: 8, max: 11, noNaN: true }),
  })
  const fate = fc.constantFrom<Fate>('good', 'good', 'good', 'goes back', 'stays silent', 'refuses')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.option(place, { nil: undefined }), fate), { minLength: 2, maxLength: 25 }),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 0, max: 2 ** 31 }),
      (given, apart_km, seed) => {
        const stations = given.map(([at], index) => fleetStation(`P${index}`, { place: at && { ...at, alt: 0 } }))
        const fates = new Map(given.map(([, fated], index) => [`P${index}`, fated]))
        const plan = planWith({ apart_km, errors: 100, waves: [{ percent: 30 }], soak_s: 30 })
        const world = new World(plan, stations, fates)
        let random = seed
        const forgets = () => {
          random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
          return random % 5 === 0
        }
        for (let turn = 0; turn < 4_000 && world.rollout.state === 'running'; turn++) {
          world.step(forgets())
          const busy = world.busy.map(({ serial }) => world.stations.get(serial) as FleetStation)
          for (const [at, one] of busy.entries()) {
            for (const other of busy.slice(at + 1)) if (isNear(one, other, apart_km)) return false
          }
          world.pass(10)
        }
        // Nothing is left between, although a fifth of all orders were lost. A neighbour of a station that stayed away waits.
        const isHeld = world.targets.some(({ reason }) => /is not fit$|the only fit base/.test(reason))
        return world.busy.length === 0 && (world.rollout.state === 'done' || isHeld)
      },
    ),
    { numRuns: sample(12, 500, 30) },
  )
  t.pass()
})

t.test('rovers keep a fit base: the last one of its neighbours is not changed', async (t) => {
  const at = (serial: string, lat: number, more: Partial<FleetStation> = {}) =>
    fleetStation(serial, { place: { lat, lon: 8, alt: 0 }, ...more })
  const plan = planWith({ apart_km: 50, waves: [], errors: 5, soak_s: 10 })
  const reasonOf = (world: World, serial: string) => world.targets.find((one) => one.serial === serial)?.reason
  // BROKEN is no part of the rollout: another make, or another filter.
  const world = new World(plan, [at('ONLY', 48), at('ALONE', 50)])
  world.stations.set('BROKEN', at('BROKEN', 48.2, { verdict: 'unknown', cause: 'silent' }))
  world.run(3_000)
  t.strictSame(world.of('done'), ['ALONE'], 'a base that never had neighbours cannot wait for them')
  t.equal(reasonOf(world, 'ONLY'), 'it is the only fit base: its neighbour BROKEN is unknown')
  world.stations.set('BROKEN', at('BROKEN', 48.2))
  world.run(3_000)
  t.equal(world.rollout.state, 'done')
  // Of three in a row, the first one stays away: its neighbour waits, although it has another fit one.
  const row = new World(plan, [at('A', 48), at('B', 48.2), at('C', 48.4)], new Map([['A', 'stays silent']]))
  const [first] = wavesOf(plan, [...row.stations.values()])[0] as string[]
  row.run(400)
  row.stations.set(
    first as string,
    at(first as string, row.stations.get(first as string)?.place?.lat ?? 0, { online: 'offline' }),
  )
  row.run(3_000)
  t.match(
    row.targets.map(({ reason }) => reason).filter((reason) => /was changed and is not fit$/.test(reason)).length,
    1,
  )
  const forced = new World({ ...plan, force: true }, [at('ONLY', 48)])
  forced.stations.set('BROKEN', at('BROKEN', 48.2, { online: 'offline' }))
  forced.run(3_000)
  t.equal(forced.rollout.state, 'done')
})

t.test('waves: by number, by share, by label, and the rest; the same in each call', async (t) => {
  const stations = grid(100).map((station, at) => (at % 50 === 0 ? { ...station, labels: { canary: 'yes' } } : station))
  const plan = planWith({ waves: [{ labels: { canary: 'yes' } }, { count: 3 }, { percent: 10 }] })
  const waves = wavesOf(plan, stations)
  t.strictSame(
    waves.map(({ length }) => length),
    [2, 3, 10, 85],
  )
  t.strictSame(wavesOf(plan, [...stations].reverse()), waves)
  t.equal(new Set(waves.flat()).size, 100)
  const [canary = ''] = wavesOf(planWith(), stations)[0] ?? []
  for (const down of [{ verdict: 'unfit' }, { verdict: 'degraded' }, { online: 'offline' }] as const) {
    const some = stations.map((station) => (station.serial === canary ? { ...station, ...down } : station))
    t.equal(wavesOf(planWith(), some).flat().at(-1), canary, 'a station that cannot prove the change comes last')
  }
  t.strictSame(wavesOf(planWith({ filter: { serials: ['S001'], version: '9' } }), stations), [])
})

t.test('pairs of neighbours: the same as by comparing all', async (t) => {
  const place = fc.option(
    fc.record({ lat: fc.integer({ min: -90, max: 90 }), lon: fc.integer({ min: -180, max: 179 }) }),
  )
  fc.assert(
    fc.property(fc.array(place, { maxLength: 30 }), fc.integer({ min: 0, max: 1_000 }), (places, apart_km) => {
      const stations = places.map((found, at) =>
        fleetStation(`S${at}`, { place: found ? { ...found, alt: 0 } : undefined }),
      )
      const all = stations.flatMap((one, at) =>
        stations
          .slice(at + 1)
          .filter((other) => isNear(one, other, apart_km))
          .map((other) => `${one.serial} ${other.serial}`),
      )
      const found = new Neighbourhood(stations)
        .pairs(apart_km, 1_000)
        .map((pair) => pair.sort((one, other) => Number(one.slice(1)) - Number(other.slice(1))).join(' '))
      return [...found].sort().join() === all.sort().join()
    }),
  )
  let looked = 0
  const many = Array.from({ length: 2_000 }, (_, at) => {
    const station = fleetStation(`S${at}`)
    return Object.defineProperty({ ...station }, 'place', {
      get: () => {
        looked += 1
        return { lat: -89 + at * 0.089, lon: 0, alt: 0 }
      },
    }) as FleetStation
  })
  t.strictSame(new Neighbourhood(many).pairs(0, 50), [])
  t.ok(looked < 200_000, 'not every pair is compared')
})
