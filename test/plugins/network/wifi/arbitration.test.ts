/** Who has the radio: the rules one by one, and what must hold whatever happens. */
import fc from 'fast-check'
import t from 'tap'
import { type Decision, decide, type Situation } from '../../../../plugins/network/radio/arbitration/decide.js'
import {
  defaultLimits,
  emptyMemory,
  type Happening,
  hour_ms,
  type JoinFailure,
  note,
  type RadioMemory,
} from '../../../../plugins/network/radio/arbitration/memory.js'

const limits = defaultLimits
const minute_ms = 60_000
const start = emptyMemory(0)
const after = (memory: RadioMemory, ...steps: [at_ms: number, happening: Happening][]) =>
  steps.reduce((before, [at_ms, happening]) => note(before, happening, limits, at_ms), memory)
const failed = (cause: JoinFailure = 'other'): Happening => ({ kind: 'failed', cause, random: 0.5 })
const mode = (to: RadioMemory['mode']): Happening => ({ kind: 'mode', mode: to })
const seen: Happening = { kind: 'scanned', seen: true }
const unseen: Happening = { kind: 'scanned', seen: false }

const station = after(start, [0, mode('station')])
/** The uplink was tried and lost; the access point has the radio since 10 min. */
const fallen = after(station, [0, failed()], [10 * minute_ms, mode('ap')])

const base: Situation = {
  present: true,
  wantsAp: true,
  wantsStation: true,
  canBoth: false,
  joined: false,
  clients: 0,
  memory: start,
}

const rules: [title: string, situation: Partial<Situation>, now_ms: number, expected: Partial<Decision>][] = [
  ['1: no radio', { present: false }, 0, { mode: 'off' }],
  ['1: nothing is wanted', { wantsAp: false, wantsStation: false }, 0, { mode: 'off', wait: false }],
  ['2: only the access point, at the start', { wantsStation: false }, 1_000, { mode: 'off', wait: true }],
  ['2: only the access point, after the wait', { wantsStation: false }, limits.bootWait_ms, { mode: 'ap' }],
  [
    '2: only the access point, which is up',
    { wantsStation: false, memory: fallen },
    1_000,
    { mode: 'ap', wait: false },
  ],
  ['3: only the uplink', { wantsAp: false }, 0, { mode: 'station', join: true }],
  [
    '3: only the uplink, in a window',
    { wantsAp: false, memory: { ...station, suppressedUntil_ms: 1e9 } },
    1e6,
    { mode: 'station' },
  ],
  ['4: a radio that does both', { canBoth: true }, 0, { mode: 'both', join: true }],
  ['4: both, joined', { canBoth: true, joined: true }, 0, { mode: 'both', join: false }],
  ['5: joined, LAN only is enough', { joined: true, memory: station }, 1e9, { mode: 'station', join: false }],
  ['6: joins failed', { memory: after(station, [1, failed()], [2, failed()], [3, failed()]) }, 4, { mode: 'ap' }],
  [
    '6: two joins failed',
    { memory: after(station, [1, failed()], [2, failed()]) },
    3,
    { mode: 'station', join: false },
  ],
  [
    '6: three joins failed because the network is away',
    { memory: after(station, [1, failed('away')], [2, failed('away')], [3, failed('away')]) },
    4,
    { mode: 'station', join: false },
  ],
  [
    '6: the password is wrong',
    { memory: after(station, [1, failed('password')], [2, failed('password')]) },
    3,
    { mode: 'ap', why: /password/ as never },
  ],
  [
    '7: away, counted from the loss',
    { memory: after(station, [hour_ms, { kind: 'joined' }], [2 * hour_ms, { kind: 'lost' }]) },
    2 * hour_ms + 59_999,
    { mode: 'station', join: true },
  ],
  [
    '8: away for longer',
    { memory: after(station, [2 * hour_ms, { kind: 'lost' }]) },
    2 * hour_ms + limits.fallback_ms,
    { mode: 'ap' },
  ],
  ['9: never tried', { memory: after(start, [0, mode('ap')]) }, 10, { mode: 'station' }],
  [
    '9: new settings, although it was given up often',
    { memory: after({ ...fallen, departures: [1, 2, 3, 4, 5] }, [11 * minute_ms, { kind: 'settings' }]) },
    11 * minute_ms,
    { mode: 'station' },
  ],
  ['10: in a window', { memory: { ...fallen, suppressedUntil_ms: hour_ms, seen: 9 } }, 59 * minute_ms, { mode: 'ap' }],
  [
    '10: after the window',
    { memory: { ...fallen, suppressedUntil_ms: hour_ms, seen: 9 } },
    hour_ms,
    { mode: 'station' },
  ],
  ['10: given up often', { memory: { ...fallen, departures: [1, 2, 3, 4], seen: 9 } }, 20 * minute_ms, { mode: 'ap' }],
  [
    '10: given up often, an hour ago',
    { memory: { ...fallen, departures: [1, 2, 3, 4], seen: 9 } },
    hour_ms + 1,
    { mode: 'station' },
  ],
  [
    '10: given up often, not quite an hour ago',
    { memory: { ...fallen, departures: [1, 2, 3, 4], seen: 9 } },
    hour_ms,
    { mode: 'ap' },
  ],
  [
    '11: with clients',
    { clients: 1, memory: after(fallen, [12 * minute_ms, seen], [13 * minute_ms, seen]) },
    14 * minute_ms,
    { mode: 'ap', why: /clients/ as never },
  ],
  [
    '11: with clients, for long',
    { clients: 1, memory: after(fallen, [12 * minute_ms, seen], [13 * minute_ms, seen]) },
    20 * minute_ms,
    { mode: 'station' },
  ],
  ['12: seen once', { memory: after(fallen, [12 * minute_ms, seen]) }, 12 * minute_ms, { mode: 'ap' }],
  [
    '12: seen, not seen, seen',
    { memory: after(fallen, [11 * minute_ms, seen], [12 * minute_ms, unseen], [13 * minute_ms, seen]) },
    13 * minute_ms,
    { mode: 'ap' },
  ],
  [
    '12: seen twice',
    { memory: after(fallen, [11 * minute_ms, seen], [12 * minute_ms, seen]) },
    12 * minute_ms,
    { mode: 'station' },
  ],
  [
    '13: it cannot scan',
    { memory: after(fallen, [12 * minute_ms, { kind: 'scanRefused' }]) },
    24 * minute_ms,
    { mode: 'ap', scan: true },
  ],
  [
    '13: it cannot scan, for long',
    { memory: after(fallen, [12 * minute_ms, { kind: 'scanRefused' }]) },
    25 * minute_ms,
    { mode: 'station' },
  ],
  [
    '13: the same with clients that came now',
    {
      clients: 2,
      memory: { ...after(fallen, [12 * minute_ms, { kind: 'scanRefused' }]), modeSince_ms: 24 * minute_ms },
    },
    33 * minute_ms,
    { mode: 'ap' },
  ],
  ['14: a scan is due', { memory: fallen }, 11 * minute_ms, { mode: 'ap', scan: true }],
  ['14: no scan is due', { memory: fallen }, 10 * minute_ms + 30_000, { mode: 'ap', scan: false }],
]

t.test('the rules', async (t) => {
  for (const [title, situation, now_ms, expected] of rules)
    t.match(decide({ ...base, ...situation }, limits, now_ms), expected, title)
})

t.test('joins back off, and a wrong password is tried less and less often', async (t) => {
  let memory = station
  const waits: number[] = []
  for (let i = 0; i < 12; i++) {
    memory = note(memory, failed('password'), limits, 0)
    waits.push(memory.suppressedUntil_ms)
  }
  t.strictSame(waits.slice(0, 4), [start.suppressedUntil_ms, 600_000, 1_200_000, 2_400_000])
  t.equal(waits.at(-1), limits.longestSuppression_ms)
  t.equal(note(memory, { kind: 'joined' }, limits, 0).suppressions, 0)
  t.equal(note(memory, { kind: 'settings' }, limits, 0).suppressedUntil_ms, start.suppressedUntil_ms)
})

/** The world around one radio in single mode: does what was decided, at once. */
class World {
  memory = start
  now_ms = 0
  joined = false
  /** When the access point was given up, and when the radio changed at all. */
  readonly departures: number[] = []
  /** Since when neither the access point is up nor the uplink joined. */
  deafSince_ms = 0
  longestDeaf_ms = 0

  readonly canScan: boolean
  readonly wrongPassword: boolean

  constructor(canScan: boolean, wrongPassword: boolean) {
    this.canScan = canScan
    this.wrongPassword = wrongPassword
  }

  tick(step_ms: number, onAir: boolean, clients: number): Decision {
    this.now_ms += step_ms
    if (this.joined && !onAir) this.happen({ kind: 'lost' })
    const decision = decide({ ...base, clients, joined: this.joined, memory: this.memory }, limits, this.now_ms)
    if (decision.mode !== this.memory.mode) {
      if (this.memory.mode === 'ap') this.departures.push(this.now_ms)
      this.happen({ kind: 'mode', mode: decision.mode })
    }
    if (decision.join) {
      this.happen({ kind: 'trying' })
      if (onAir && !this.wrongPassword) this.happen({ kind: 'joined' })
      else this.happen({ kind: 'failed', cause: onAir ? 'password' : 'away', random: 0.5 })
    }
    if (decision.scan) this.happen(this.canScan ? { kind: 'scanned', seen: onAir } : { kind: 'scanRefused' })
    const isReachable = this.memory.mode === 'ap' || this.joined
    if (isReachable) this.deafSince_ms = this.now_ms
    this.longestDeaf_ms = Math.max(this.longestDeaf_ms, this.now_ms - this.deafSince_ms)
    return decision
  }

  happen(happening: Happening): void {
    if (happening.kind === 'joined') this.joined = true
    if (happening.kind === 'lost' || (happening.kind === 'mode' && happening.mode !== 'station')) this.joined = false
    this.memory = note(this.memory, happening, limits, this.now_ms)
  }
}

t.test('whatever happens: no flapping, and the access point is back in bounded time', async () => {
  const step = fc.record({
    step_ms: fc.integer({ min: 100, max: 5_000 }),
    onAir: fc.boolean(),
    clients: fc.nat({ max: 2 }),
    event: fc.constantFrom(undefined, undefined, undefined, 'radio' as const, 'settings' as const),
  })
  /** The network of the uplink comes and goes in stretches, not at each tick. */
  const stretch = fc.record({ ticks: fc.integer({ min: 1, max: 200 }), step })
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.boolean(),
      fc.array(stretch, { minLength: 5, maxLength: 60 }),
      (canScan, wrongPassword, stretches) => {
        const world = new World(canScan, wrongPassword)
        for (const { ticks, step } of stretches) {
          if (step.event) world.happen({ kind: step.event })
          // A radio that came back, and what a person changes, has the whole window; what a person changes is not flapping.
          if (step.event) world.deafSince_ms = world.now_ms
          if (step.event === 'settings') world.departures.length = 0
          for (let i = 0; i < ticks; i++) {
            const wasJoined = world.joined
            const decision = world.tick(step.step_ms, step.onAir, step.clients)
            // A joined uplink keeps the radio.
            if (wasJoined && world.joined && decision.mode !== 'station') return false
          }
        }
        for (const at_ms of world.departures) {
          const inHour = world.departures.filter((one) => one > at_ms - hour_ms && one <= at_ms).length
          // The first attempt with new settings is not counted by the limit, so one more.
          if (inHour > limits.mostDepartures + 1) return false
        }
        return world.longestDeaf_ms <= limits.fallback_ms + 2 * 5_000
      },
    ),
    { numRuns: 300 },
  )
})

t.test('a wrong password has the radio for a small part of a day only', async (t) => {
  for (const canScan of [true, false]) {
    const world = new World(canScan, true)
    let withUplink_ms = 0
    for (let i = 0; i < (24 * hour_ms) / 5_000; i++) {
      if (world.tick(5_000, true, 0).mode === 'station') withUplink_ms += 5_000
    }
    t.ok(withUplink_ms < 10 * minute_ms, `${withUplink_ms / 1000} s of a day`)
    t.ok(world.departures.length <= 12, `${world.departures.length} departures`)
    t.ok(world.departures.length >= 3, 'it is tried again')
  }
})

t.test('an uplink that returns is joined again within minutes', async (t) => {
  const world = new World(true, false)
  for (let i = 0; i < 100; i++) world.tick(5_000, true, 0)
  t.ok(world.joined)
  for (let i = 0; i < 1_000; i++) world.tick(5_000, false, 0)
  t.equal(world.memory.mode, 'ap')
  const from_ms = world.now_ms
  while (!world.joined && world.now_ms < from_ms + hour_ms) world.tick(5_000, true, 0)
  t.ok(world.now_ms - from_ms <= 3 * limits.rescan_ms, `${(world.now_ms - from_ms) / 1000} s`)
})

t.test('an uplink that comes and goes all day does not make the radio flap', async (t) => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(fc.integer({ min: 60, max: 400 }), { minLength: 20, maxLength: 40 }),
      (canScan, stretches_s) => {
        const world = new World(canScan, false)
        stretches_s.forEach((stretch_s, index) => {
          for (let i = 0; i < stretch_s / 5; i++) world.tick(5_000, index % 2 === 0, 0)
        })
        return world.departures.every(
          (at_ms) =>
            world.departures.filter((one) => one > at_ms - hour_ms && one <= at_ms).length <= limits.mostDepartures,
        )
      },
    ),
  )
  t.pass('at most four times within any hour')
})
