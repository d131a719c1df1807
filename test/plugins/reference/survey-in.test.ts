/** The reference position and the procedure around it, on a receiver that does what it is told. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import surveyIn from '../../../plugins/reference/survey-in/index.js'
import {
  type Event,
  printed,
  rowOf,
  type State,
  states,
  table,
} from '../../../plugins/reference/survey-in/procedure/table.js'
import {
  distance,
  ecefToGeodetic,
  encodeFrame,
  geodeticToEcef,
  offsetEnu,
  roundEcef,
} from '../../../runtime/lib/gnss/index.js'
import { packageRoot } from '../../../runtime/platform/release.js'
import { settled } from '../../harness/drive.js'
import { arpFrame, conformance, few, gateOnly, ManualClock, msmFrame, sample } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type Definition, FakeBase, historyOf, home, quick, type Rig, setUp } from './survey-in-rig.js'

const near = roundEcef(offsetEnu(home, { east: 0.5, north: -0.5, up: 1 }))
const manual = (arp = near) => ({
  'gnss-ref-manual-x': arp.x,
  'gnss-ref-manual-y': arp.y,
  'gnss-ref-manual-z': arp.z,
  'gnss-ref-chosen': 'manual',
})
const isFixed = (rig: Rig) => () => rig.state() === 'fixed'

/** From nothing to a base that sends. */
async function fixedStation(t: Test, options: Parameters<typeof setUp>[1] = {}): Promise<Rig> {
  const rig = await setUp(t, options)
  await rig.until(() => rig.arps().length > 0, 60)
  return rig
}

/** Stops the service and starts it anew on the same receiver and store, after a while. */
async function restarted(
  t: Test,
  rig: Rig,
  away_s = 2,
  options: Parameters<typeof setUp>[1] = {},
  meanwhile: (rig: Rig) => void = () => {},
): Promise<Rig> {
  await rig.station.stop()
  meanwhile(rig)
  rig.base.receiver.become({ configured: false })
  for (let i = 0; i < away_s; i++) {
    rig.base.epoch()
    await rig.clock.advance(1000)
  }
  return setUp(t, { receiver: rig.base, store: rig.store, ...options })
}

t.test('the table of states', async (t) => {
  t.test('is the one that the README prints', async (t) => {
    const path = join(packageRoot(), 'plugins/reference/survey-in/README.md')
    t.ok(existsSync(path))
    t.ok(readFileSync(path, 'utf8').includes(printed()), `the README does not have:\n${printed()}`)
  })
  t.test('has each arrow that the README draws', async (t) => {
    const readme = readFileSync(join(packageRoot(), 'plugins/reference/survey-in/README.md'), 'utf8')
    const arrows = readme.split('\n').flatMap((line) => {
      const chain = line.split('─►').map((part) => part.trim().split(' ')[0])
      return chain.every((name) => name in states) ? chain.slice(1).map((to, at) => [chain[at], to]) : []
    })
    t.ok(arrows.length >= 12)
    for (const [from, to] of arrows)
      t.ok(
        table.some((row) => row.from === from && row.to === to) ||
          table.some((row) => row.from === 'any' && row.to === to),
        `${from} ─► ${to}`,
      )
  })
  t.test('reaches every state, and leaves every one', async (t) => {
    for (const state of Object.keys(states) as State[]) {
      t.ok(
        table.some(({ to }) => to === state),
        `into ${state}`,
      )
      t.ok(
        table.some(({ from, to }) => (from === state || from === 'any') && to !== state),
        `out of ${state}`,
      )
    }
    t.equal(new Set(table.map(({ from, on }) => `${from} ${on}`)).size, table.length, 'one row for each case')
  })
  t.test('only trusts where the right 1005 came, and holds on every way out of fixed', async (t) => {
    for (const { from, on, to, actions } of table) {
      if (!actions.includes('trust')) continue
      t.match(`${from}, ${on}, ${to}`, /^(accept, right 1005|verify, nothing changed), fixed$/)
    }
    for (const on of new Set(table.map(({ on }) => on)) as Set<Event>) {
      const row = rowOf('fixed', on)
      if (row && row.to !== 'fixed') t.ok(row.actions.includes('hold'), `fixed: ${on}`)
    }
  })
})

t.test('a first start', async (t) => {
  t.test('surveys in, visibly, and sends its first 1005 only when fixed, with the surveyed position', async (t) => {
    const rig = await setUp(t)
    const seen = new Set<unknown>()
    let progress = 0
    const seconds = await rig.until(() => {
      seen.add(rig.state())
      if (rig.field('ref.survey.state') === 'running')
        progress = Math.max(progress, rig.field('ref.survey.count') as number)
      if (rig.state() !== 'fixed') t.equal(rig.sent.length, 0)
      return rig.arps().length > 0
    }, 45)
    t.ok(seconds <= 45, `${seconds} s`)
    t.strictSame([...seen], ['acquire', 'initial', 'survey', 'fixed'])
    t.ok(progress > 5, 'the survey was seen while it ran')
    const { x, y, z } = rig.field('ref.survey') as { x: number; y: number; z: number }
    t.strictSame(rig.arps()[0], { x, y, z }, 'to 0.1 mm')
    t.ok(distance({ x, y, z }, home) < 5)
    t.match(rig.field('ref'), { chosen: 'survey', survey: { type: 'ecef', state: 'complete', corr: false, hp: true } })
    t.ok((rig.field('ref.survey.acc') as number) > 1, 'its accuracy is honest')
    t.strictSame(rig.errors(), [])
  })

  t.test('says why it stays when no position is good enough for 15 min', { skip: gateOnly }, async (t) => {
    const rig = await setUp(t)
    rig.base.acc_m = 20
    await rig.seconds(920)
    t.equal(rig.state(), 'initial')
    t.match(rig.errors(), [/for 15 min: no steady position as good as 5 m \(20\.\d m\)/])
    rig.base.acc_m = 1
    await rig.until(isFixed(rig), 60)
    t.strictSame(rig.errors(), [])
  })

  t.test(
    'says so later when there was no receiver for a while: that time does not count',
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t)
      rig.base.acc_m = 20
      await rig.seconds(600)
      rig.base.receiver.become({ link: 'offline', configured: false })
      await rig.seconds(600)
      rig.base.receiver.become({ link: 'up' })
      await rig.seconds(200)
      t.notOk(rig.errors().some((text) => /for 15 min/.test(text)))
      await rig.seconds(200)
      t.match(rig.errors(), [/for 15 min: no steady position/])
    },
  )

  t.test('says so too when the fix comes and goes all the time', { skip: gateOnly }, async (t) => {
    const rig = await setUp(t, { options: { initial_s: 60 } })
    for (let i = 0; i < 30; i++) {
      rig.base.hears = !rig.base.hears
      await rig.seconds(rig.base.hears ? 20 : 14)
    }
    t.strictSame(rig.errors(), [], 'not before 15 min')
    for (let i = 0; i < 30; i++) {
      rig.base.hears = !rig.base.hears
      await rig.seconds(rig.base.hears ? 20 : 14)
      if (i > 25) t.match(rig.errors(), [/for 15 min: no (3D fix|steady position)/])
    }
    await rig.until(isFixed(rig), 120)
    t.strictSame(rig.errors(), [])
  })

  t.test(
    'says so when the receiver never tells who it is, and when it never sends observations',
    { skip: gateOnly },
    async (t) => {
      const base = new FakeBase(new ManualClock())
      base.receiver.become({ identity: { module: '', firmware: '', hardware: '', software: '', serial: '' } })
      base.observes = false
      const rig = await setUp(t, { receiver: base })
      await rig.seconds(905)
      t.equal(rig.state(), 'identify')
      t.match(rig.errors(), [/the station waits for the identity and configuration of the receiver/])
      base.receiver.become({ identity: { module: 'FAKE', firmware: '1', hardware: '1', software: '1', serial: '01' } })
      await rig.seconds(960)
      t.match(rig.errors(), [/no observations/])
      t.equal(rig.sent.length, 0)
      base.observes = true
      await rig.until(isFixed(rig), 60)
      t.strictSame(rig.errors(), [])
    },
  )

  t.test('says it every 5 min at most, however its accuracy and its fix come and go', { skip: gateOnly }, async (t) => {
    const rig = await setUp(t)
    for (let i = 0; i < 120; i++) {
      rig.base.acc_m = 15 + (i % 12)
      rig.base.hears = i % 5 > 0
      await rig.seconds(20)
    }
    t.equal(rig.errors().length, 1)
    t.ok(rig.station.lines.filter(({ code }) => code === 'gnss-initial').length <= 6)
  })

  t.test('says so when a survey-in gets no position for 15 min, and goes on when one comes', async (t) => {
    const rig = await setUp(t, { changes: { ...quick, 'gnss-survey-mintime': 60 } })
    await rig.until(() => rig.field('ref.survey.count') === 3, 60)
    rig.base.hears = false
    await rig.seconds(890)
    t.strictSame(rig.errors(), [])
    await rig.seconds(20)
    t.match(rig.errors(), [/the survey-in got no position for 15 min/])
    rig.base.hears = true
    // First the positions show that the antenna was not carried away meanwhile.
    await rig.seconds(13)
    t.strictSame(rig.errors(), [])
    t.ok((await rig.until(isFixed(rig), 90)) > 50, 'S1: only seconds that were observed count')
  })

  t.test('goes back to acquire when the fix is lost, and tells that it wants corrections', async (t) => {
    const rig = await setUp(t)
    await rig.until(() => rig.state() === 'initial', 20)
    t.equal(rig.field('state.want_corr'), 1)
    rig.base.hears = false
    await rig.until(() => rig.state() === 'acquire', 15)
    rig.base.hears = true
    await rig.until(isFixed(rig), 60)
    t.equal(rig.field('state.want_corr'), 0)
  })

  t.test('ends as incomplete at maxtime, and is used when a person says so', async (t) => {
    const rig = await setUp(t, { changes: { ...quick, 'gnss-survey-accuracy': 0.5, 'gnss-survey-maxtime': 30 } })
    t.match(await rig.command('use-incomplete-survey-in'), { status: 503, text: /there is no incomplete survey-in/ })
    await rig.until(() => rig.field('ref.survey.state') === 'incomplete', 60)
    t.equal(rig.field('ref.survey.allow_use'), 0)
    t.match(rig.errors(), [
      /incomplete: .* m after 30 s, 0\.500 m are needed; .*no RTCM is sent; use-incomplete-survey-in/,
    ])
    await rig.seconds(60)
    t.equal(rig.sent.length, 0)
    t.match(await rig.command('use-incomplete-survey-in'), { status: 200 })
    await rig.until(isFixed(rig), 10)
    t.match(rig.field('ref.survey'), { state: 'incomplete', allow_use: 1 })
    t.strictSame(rig.errors(), [])
    await rig.command('start-survey-in')
    t.equal(rig.field('state.status') ?? rig.state(), 'acquire')
    await rig.until(() => rig.field('ref.survey.state') === 'running', 30)
    t.equal(rig.field('ref.survey.allow_use'), 0, 'cleared by a new survey')
  })

  t.test('that saw nothing until maxtime offers nothing to be used', async (t) => {
    const rig = await setUp(t, { changes: { ...quick, 'gnss-survey-maxtime': 30 } })
    await rig.until(() => rig.state() === 'survey', 60)
    await rig.command('start-survey-in')
    rig.base.hears = false
    await rig.until(() => rig.field('ref.survey.state') === 'incomplete', 60)
    t.match(rig.errors(), [
      /incomplete: no epoch after 30 s, .* are needed; .*no RTCM is sent; start-survey-in starts a new one/,
    ])
    t.match(await rig.command('use-incomplete-survey-in'), { status: 503 })
  })

  t.test('begins its survey-in anew when the antenna is moved meanwhile', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 60, 'gnss-survey-accuracy': 5 } })
    await rig.until(() => (rig.field('ref.survey.elapsed') as number) > 45, 90)
    rig.base.move(30)
    await rig.until(() => rig.arps().length > 0, 120)
    t.ok(distance(rig.arps()[0], rig.base.truth) < 5)
  })

  t.test('a survey-in that still runs can be used too', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 3600 } })
    await rig.until(() => (rig.field('ref.survey.count') as number) > 3, 30)
    t.match(await rig.command('use-incomplete-survey-in'), { status: 200 })
    await rig.until(isFixed(rig), 10)
    t.match(rig.field('ref.survey'), { state: 'incomplete', allow_use: 1 })
  })

  for (const [what, east, end] of [
    ['beside', 0, 'fixed'],
    ['far from', 40, 'moved'],
  ] as const) {
    t.test(`an incomplete one ${what} the manual reference that is chosen: ${end}`, async (t) => {
      const rig = await fixedStation(t, { changes: { ...quick, ...manual(), 'gnss-survey-mintime': 3600 } })
      rig.base.move(east)
      await rig.command('start-survey-in')
      await rig.until(() => (rig.field('ref.survey.count') as number) > 3, 60)
      t.match(await rig.command('use-incomplete-survey-in'), { status: 200 })
      await rig.until(() => rig.state() === end, 10)
      t.strictSame(rig.arps().at(-1), near, 'what is chosen stays chosen')
    })
  }
})

t.test('a restart of the service', { skip: gateOnly }, async (t) => {
  t.test('with nothing moved costs 25 s of RTCM at most', async (t) => {
    const before = await fixedStation(t)
    const survey = before.field('ref.survey')
    const after = await restarted(t, before)
    const seconds = await after.until(() => after.arps().length > 0, 30)
    t.ok(seconds <= 25, `${seconds} s`)
    t.strictSame(after.arps()[0], before.arps()[0])
    t.strictSame(after.field('ref.survey'), survey)
  })

  t.test('while the clock of the receiver begins anew after 49.7 days is warm as well', async (t) => {
    const base = new FakeBase(new ManualClock())
    base.bootedAt_ms = base.clock.monotonic() - 2 ** 32 + 60_000
    const before = await fixedStation(t, { receiver: base })
    base.clockRound_ms = 2 ** 32
    const after = await restarted(t, before, 60)
    t.ok((await after.until(() => after.arps().length > 0, 30)) <= 25)
  })

  t.test(
    'that was killed is as warm: the last trusted moment is in a file of its own, and the settings are left alone',
    async (t) => {
      const data = mkdtempSync(join(tmpdir(), 'rtk-base-killed-'))
      t.teardown(() => rmSync(data, { recursive: true, force: true }))
      const before = await fixedStation(t, { data })
      await before.seconds(700)
      const { writes } = before.store
      await before.seconds(sample(900, 3_600, 3_600))
      t.ok(
        before.store.writes - writes <= 2,
        `${before.store.writes - writes} writes of the settings in an hour at rest`,
      )
      // What the disk has, once it has been written: the stop in order comes after it.
      await settled()
      const names = await before.store.namespaces()
      const found = await Promise.all(names.map(async (name) => [name, await before.store.entries(name)] as const))
      const after = await restarted(t, before, 2, { store: new MemoryStore(Object.fromEntries(found)), data })
      t.ok((await after.until(() => after.arps().length > 0, 30)) <= 25)
      t.notOk(
        after.station.lines.some(({ msg }) => /the start-up check comes first/.test(msg)),
        'the start is warm',
      )
    },
  )

  const cold: [what: string, change: (rig: Rig) => void, away_s: number][] = [
    [
      'the receiver was restarted meanwhile',
      ({ base }) => base.restart(base.receiver.target.mode === 'fixed' ? base.receiver.target.arp : undefined),
      2,
    ],
    [
      'it is another receiver',
      ({ base }) =>
        base.receiver.become({
          identity: { module: 'FAKE', firmware: '1', hardware: '1', software: '1', serial: '01' },
        }),
      2,
    ],
    ['it was away for 11 min', () => undefined, 660],
    [
      'the receiver was put at another position',
      ({ base }) => {
        base.receiver.target = { mode: 'fixed', arp: near, acc_m: 1 }
      },
      2,
    ],
  ]
  t.test('with the antenna moved 5 m meanwhile is no warm start: what a power cut shows, it shows too', async (t) => {
    const before = await fixedStation(t)
    await before.seconds(700)
    const after = await restarted(t, before, 5, {}, ({ base }) => base.move(5))
    await after.seconds(300)
    t.equal(after.sent.length, 0)
  })

  for (const [what, change, away_s] of few(2, cold)) {
    t.test(`where ${what} checks the position before anything goes out`, async (t) => {
      const before = await fixedStation(t)
      const after = await restarted(t, before, away_s, {}, change)
      await after.seconds(8)
      t.equal(after.sent.length, 0)
      await after.until(() => after.arps().length > 0, 40)
      t.strictSame(after.arps()[0], before.arps()[0], 'the same reference again, without a survey-in')
    })
  }

  t.test('with the antenna moved 30 m and the surveyed reference chosen surveys anew and says so', async (t) => {
    const before = await fixedStation(t)
    before.base.restart()
    before.base.move(30)
    const after = await restarted(t, before)
    await after.until(() => after.arps().length > 0, 90)
    t.ok(distance(after.arps()[0], after.base.truth) < 5)
    t.ok(
      after.arps().every((arp) => distance(arp, home) > 25),
      'the old position never left',
    )
    t.match(after.errors(), [
      /^reference moved by E \+\d\d\.\d \/ N .*: a new survey-in was started; if the antenna is where it was, send confirm-position; .* enter a position$/,
    ])
    const again = await restarted(t, after)
    await again.until(() => again.arps().length > 0, 25)
    t.match(again.errors(), [/^reference moved by/], 'still, after another restart')
    await again.change({ 'gnss-survey-maxtime': 5000 })
    t.match(again.errors(), [/^reference moved by/], 'a change of something else does not answer it')
    await again.change({ 'gnss-ref-chosen': 'survey' })
    t.strictSame(again.errors(), [], 'until a change of the reference')
    const left = Object.entries(await again.store.entries('survey-in')).filter(
      ([name, value]) => /moved|elsewhere/.test(name) && value !== undefined,
    )
    t.same(left, [], 'P10: what was said of the move is one value: nothing of it is left')
    t.ok(again.arps().length > 0 && again.state() === 'fixed')
  })

  t.test('with the antenna moved 30 m and the manual reference chosen sends nothing at all', async (t) => {
    const before = await fixedStation(t, { changes: manual() })
    t.strictSame(before.arps()[0], near)
    before.base.restart()
    before.base.move(0, 30)
    const after = await restarted(t, before, 2, { changes: manual() })
    await after.seconds(900)
    t.equal(after.sent.length, 0)
    t.equal(after.state(), 'moved')
    t.match(after.errors(), [
      /^reference moved by E .* N \+\d\d\.\d .*: no RTCM is sent; if the antenna is where it was, send confirm-position; if it moved, enter the new position, or set gnss-ref-chosen to survey/,
    ])
    t.ok(Math.abs((after.field('pos.delta') as number) - 30) < 5)
  })

  t.test('in the middle of a survey-in goes on with it', async (t) => {
    const changes = { 'gnss-survey-mintime': 300, 'gnss-survey-accuracy': 5 }
    const before = await setUp(t, { changes })
    await before.until(() => (before.field('ref.survey.elapsed') as number) >= 200, 300)
    const after = await restarted(t, before, 2, { changes })
    await after.until(() => after.field('ref.survey.state') === 'running' && after.state() === 'survey', 40)
    await after.seconds(2)
    t.ok((after.field('ref.survey.elapsed') as number) >= 200)
    t.ok((after.field('ref.survey.count') as number) >= 200)
    await after.until(isFixed(after), 120)
  })

  t.test(
    'and of the receiver in the middle of a survey-in that was asked for: it goes on, whatever is chosen',
    async (t) => {
      const changes = { ...quick, ...manual(), 'gnss-survey-mintime': 300 }
      const first = await fixedStation(t, { changes })
      await first.command('start-survey-in')
      await first.until(() => (first.field('ref.survey.count') as number) > 60, 120)
      first.base.restart()
      await first.seconds(30)
      t.match(first.field('ref.survey'), { state: 'running' })
      t.ok((first.field('ref.survey.count') as number) > 60)
      const second = await restarted(t, first, 2, { changes })
      await second.seconds(30)
      t.equal(second.state(), 'survey')
      t.ok((second.field('ref.survey.count') as number) > 80)
      await second.until(() => second.arps().length > 0, 300)
      t.strictSame(second.arps()[0], near)
      t.equal(second.field('ref.survey.state'), 'complete')
    },
  )

  t.test('in the middle of a survey-in with the antenna moved begins anew', async (t) => {
    const changes = { 'gnss-survey-mintime': 300, 'gnss-survey-accuracy': 5 }
    const before = await setUp(t, { changes })
    await before.until(() => (before.field('ref.survey.elapsed') as number) >= 200, 300)
    before.base.move(30)
    const after = await restarted(t, before, 2, { changes })
    await after.until(() => after.state() === 'survey', 40)
    await after.seconds(2)
    t.ok((after.field('ref.survey.elapsed') as number) < 20)
  })
})

t.test('a reload', async (t) => {
  t.test('of survey-in keeps the stream', async (t) => {
    const rig = await fixedStation(t)
    await rig.seconds(3)
    const before = rig.sent.length
    for (let i = 0; i < 3; i++) {
      await rig.station.reload('survey-in')
      await rig.seconds(2)
    }
    t.equal(rig.sent.length, before + 3 * 2 * 5, 'no frame was lost')
    t.equal(rig.state(), 'fixed')
  })
  t.test('of survey-in while it surveys goes on with the survey-in', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 120, 'gnss-survey-accuracy': 5 } })
    await rig.until(() => (rig.field('ref.survey.count') as number) > 60, 120)
    await rig.station.reload('survey-in')
    t.equal(rig.state(), 'survey')
    t.ok((rig.field('ref.survey.count') as number) > 60)
    await rig.until(isFixed(rig), 90)
  })
  t.test('of rtcm opens the gate again at once', async (t) => {
    const rig = await fixedStation(t)
    await rig.station.reload('rtcm')
    await rig.seconds(2)
    t.equal(rig.arps().length > 2, true)
  })
  t.test('keeps why nothing goes out, and since when, whatever is reloaded', async (t) => {
    const rig = await fixedStation(t)
    rig.base.move(0, 30, 0)
    await rig.until(() => rig.state() === 'moved', 60)
    await rig.seconds(10)
    const before = rig.station.device.errors()
    const reason = () => rig.station.station.plugins().find(({ name }) => name === 'rtcm')?.reason ?? ''
    t.match([before, reason()], [[{ code: 'gnss-moved' }], /^closed: the antenna seems to have moved/])
    const said = reason()
    for (const name of ['survey-in', 'rtcm', 'survey-in']) {
      await rig.seconds(20)
      await rig.station.reload(name)
      t.strictSame([rig.station.device.errors(), reason(), rig.state()], [before, said, 'moved'], name)
      await rig.seconds(20)
      t.strictSame([rig.station.device.errors(), reason(), rig.state()], [before, said, 'moved'], name)
    }
  })
  t.test('keeps since when the reference is another one', async (t) => {
    const rig = await fixedStation(t)
    rig.base.restart()
    rig.base.move(30)
    await rig.until(() => rig.errors().some((text) => text.startsWith('reference moved')), 60)
    await rig.until(isFixed(rig), 60)
    const before = rig.station.device.errors()
    t.match(before, [{ code: 'gnss-reference-moved' }])
    await rig.seconds(100)
    for (const name of ['survey-in', 'rtcm']) {
      await rig.station.reload(name)
      await rig.seconds(3)
      t.strictSame(rig.station.device.errors(), before, name)
    }
  })
  t.test('of survey-in while the receiver is pulled out checks first, however late it comes back', async (t) => {
    const rig = await fixedStation(t)
    const { store, base } = rig
    const entries = store.entries.bind(store)
    store.entries = async (namespace) => {
      base.receiver.become({ link: 'offline', configured: false })
      return entries(namespace)
    }
    await rig.station.reload('survey-in')
    store.entries = entries
    t.match(rig.station.station.plugins().find(({ name }) => name === 'rtcm')?.reason, /^closed/)
    await rig.clock.advance(1_200_000)
    base.receiver.become({ link: 'up' })
    const sent = rig.sent.length
    await rig.until(() => rig.state() === 'initial', 10)
    t.equal(rig.sent.length, sent)
  })
  t.test('with the antenna in another state checks first', async (t) => {
    const rig = await fixedStation(t)
    rig.base.restart(near)
    const before = rig.sent.length
    await rig.station.reload('survey-in')
    await rig.seconds(8)
    t.equal(rig.sent.length, before)
  })
})

t.test('a receiver that does something else', { skip: gateOnly }, async (t) => {
  t.test('restarts with another position in its flash: its 1005 never leaves', async (t) => {
    const rig = await fixedStation(t)
    const [arp] = rig.arps()
    rig.base.restart(near)
    await rig.seconds(6)
    const sent = rig.sent.length
    await rig.until(() => rig.sent.length > sent, 60)
    await rig.seconds(5)
    for (const each of rig.arps()) t.strictSame(each, arp)
    t.strictSame(rig.errors(), [])
  })

  t.test('begins to send another 1005: held at once, told again, then trusted again', async (t) => {
    const rig = await fixedStation(t)
    const [arp] = rig.arps()
    rig.base.receiver.emit(arpFrame(near))
    rig.base.receiver.emit(arpFrame(arp))
    const sent = rig.arps().length
    await rig.seconds(1)
    await rig.until(isFixed(rig), 5)
    await rig.seconds(2)
    t.ok(rig.arps().length > sent)
    for (const each of rig.arps()) t.strictSame(each, arp)
  })

  for (const [what, frame] of [
    ['an MSM of another station', msmFrame(1074, 1000, false, 9)],
    ['a 1005 that cannot be read', encodeFrame(arpFrame(home).subarray(3, 15))],
  ] as const) {
    t.test(`sends ${what} between two 1005: held at once, told again, then trusted again`, async (t) => {
      const rig = await fixedStation(t)
      rig.base.receiver.emit(frame)
      const sent = rig.sent.length
      await rig.seconds(4)
      t.equal(rig.state(), 'fixed')
      t.ok(rig.sent.length > sent)
      t.notOk(rig.sent.some(({ bytes }) => Buffer.compare(bytes, frame) === 0))
    })
  }

  t.test('sends its 1005 without observations: that is no base, and the antenna is checked first', async (t) => {
    const rig = await fixedStation(t)
    rig.base.observes = false
    const sent = rig.sent.length
    await rig.until(() => rig.state() === 'initial', 15)
    await rig.seconds(900)
    t.ok(rig.sent.length <= sent + 5, 'only what came before it was noticed')
    t.match(rig.errors(), [/^no RTCM was sent for 15 min/])
    rig.base.observes = true
    await rig.until(isFixed(rig), 60)
  })

  t.test('never sends the right 1005: fault, and tried again every minute', async (t) => {
    const rig = await setUp(t)
    rig.base.wrong_m = 0.002
    await rig.until(() => rig.state() === 'fault', 90)
    t.match(rig.errors(), [
      /the receiver sends .* as its position in 1005, not the reference .*; everything is tried again/,
    ])
    t.equal(rig.sent.length, 0)
    rig.base.wrong_m = 0
    await rig.until(isFixed(rig), 120)
    t.strictSame(rig.errors(), [])
  })

  t.test('refuses to be configured: fault, with its reason', async (t) => {
    const rig = await setUp(t)
    rig.base.receiver.refuseToConfigure = 'CFG-TMODE-MODE is not held'
    await rig.until(() => rig.state() === 'fault', 60)
    t.match(rig.errors(), [/CFG-TMODE-MODE is not held/])
    rig.base.receiver.refuseToConfigure = undefined
    await rig.until(isFixed(rig), 120)
  })

  t.test('leaves its line to take a configuration: that is waited for, but not for ever', async (t) => {
    const rig = await setUp(t)
    const { receiver } = rig.base
    const can = {
      ...({ ownSurvey: false, fixedPosition: 'ecef', settings: 'flash', restarts: true, stationId: true } as const),
      ...{ antennaDescriptor: false, reports: new Set<never>(), rawObservations: [], intervals_s: [1] },
    }
    let configurations = 0
    receiver.whileConfiguring = async () => {
      configurations++
      receiver.become({ link: 'offline' })
      await new Promise<void>((resolve) => rig.clock.timer(5_000, resolve))
      receiver.become({ link: 'up' })
    }
    receiver.become({ can })
    await rig.until(isFixed(rig), 120)
    t.ok(configurations <= 4, `${configurations} configurations`)
    receiver.whileConfiguring = () => {
      receiver.become({ link: 'offline' })
      return new Promise(() => {})
    }
    rig.base.restart()
    await rig.seconds(100)
    t.equal(rig.state(), 'configure')
    await rig.seconds(30)
    t.equal(rig.state(), 'offline')
  })

  t.test('A3: is pulled out for longer than a few seconds: the antenna is checked first', async (t) => {
    const rig = await fixedStation(t)
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(60_000)
    t.equal(rig.state(), 'offline')
    rig.base.receiver.become({ link: 'up' })
    const sent = rig.arps().length
    await rig.until(() => rig.state() === 'initial', 10)
    await rig.until(() => rig.arps().length > sent, 60)
    t.strictSame(rig.errors(), [])
  })

  t.test('is pulled out for a moment: signals that went on are enough', async (t) => {
    const rig = await fixedStation(t)
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(2_000)
    rig.base.receiver.become({ link: 'up' })
    const sent = rig.arps().length
    t.ok((await rig.until(() => rig.arps().length > sent, 30)) <= 5)
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(2_000)
    rig.base.loseLock()
    rig.base.receiver.become({ link: 'up' })
    await rig.until(() => rig.state() === 'initial', 40)
  })

  t.test('is pulled out for a moment that ends the history of the phases: a move after it is seen too', async (t) => {
    const rig = await fixedStation(t)
    await rig.seconds(30)
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(3_000)
    rig.base.receiver.become({ link: 'up' })
    await rig.seconds(8)
    rig.base.move(20)
    await rig.seconds(4)
    rig.sent.length = 0
    await rig.seconds(60)
    for (const arp of rig.arps()) t.ok(distance(arp, rig.base.truth) < 5, 'only what belongs to the new place')
    t.ok(rig.sent.length === 0 || rig.sent[0].type === 1005, 'announced first')
  })

  t.test('is pulled out for a few seconds: evidence of seconds is enough', async (t) => {
    const rig = await fixedStation(t)
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(4_500)
    rig.base.receiver.become({ link: 'up' })
    const sent = rig.arps().length
    const seconds = await rig.until(() => rig.arps().length > sent, 30)
    t.ok(seconds >= 14 && seconds <= 25, `${seconds} s`)
  })

  for (const away_s of [15, 540]) {
    for (const [what, move_m] of few(1, [
      ['9 m', 9],
      ['30 m', 30],
    ] as const)) {
      t.test(`A3: its cable is off for ${away_s} s and the antenna carried ${what}: nothing leaves`, async (t) => {
        const rig = await fixedStation(t)
        rig.base.hears = false
        await rig.seconds(away_s)
        rig.base.move(move_m)
        rig.base.hears = true
        rig.sent.length = 0
        await rig.seconds(120)
        t.ok(rig.arps().every((arp) => distance(arp, rig.base.truth) < 6))
      })
      t.test(`A3: the service is away for ${away_s} s and the antenna carried ${what}: nothing leaves`, async (t) => {
        const before = await fixedStation(t)
        const after = await restarted(t, before, away_s, {}, ({ base }) => base.move(move_m))
        await after.seconds(120)
        t.ok(after.arps().every((arp) => distance(arp, after.base.truth) < 6))
      })
    }
  }

  t.test('hears nothing: acquire; fixed again when it does, after a check', async (t) => {
    const rig = await fixedStation(t)
    rig.base.hears = false
    await rig.until(() => rig.state() === 'acquire', 15)
    rig.base.hears = true
    await rig.until(isFixed(rig), 60)
    rig.base.hears = false
    await rig.seconds(700)
    rig.base.move(30)
    rig.base.hears = true
    const sent = rig.sent.length
    await rig.seconds(9)
    t.equal(rig.sent.length, sent, 'nothing left before the position was checked')
  })
})

t.test('a survey-in that is asked for', { skip: gateOnly }, async (t) => {
  const long = { ...quick, 'gnss-survey-mintime': 10, 'gnss-survey-maxtime': 40 }

  t.test('S5: runs from its acceptance on, also over a restart of the service', async (t) => {
    const rig = await fixedStation(t)
    t.match(rig.field('ref.survey'), { state: 'complete' })
    await rig.command('start-survey-in')
    t.match(rig.field('ref.survey'), { state: 'running', elapsed: 0, count: 0 })
    const after = await restarted(t, rig, 0)
    t.match(after.field('ref.survey'), { state: 'running', elapsed: 0, count: 0 })
    await after.until(() => (after.field('ref.survey.count') as number) > 3, 60)
    t.equal(after.sent.length, 0, 'it is not passed over for a warm start')
    await after.until(isFixed(after), 60)
    const entries = await historyOf(after.station)
    t.equal(entries.at(-1)?.by, 'console')
  })

  for (const chosen of ['survey', 'manual'] as const) {
    t.test(
      `S4: leaves the ${chosen} reference valid until it can be used, and returns to it when it fails`,
      async (t) => {
        const rig = await fixedStation(t, { changes: chosen === 'manual' ? { ...long, ...manual() } : long })
        const [arp] = rig.arps()
        await rig.change({ 'gnss-survey-accuracy': 0.01 })
        await rig.command('start-survey-in')
        await rig.until(() => rig.field('ref.survey.state') === 'incomplete', 90)
        rig.sent.length = 0
        t.match(rig.errors(), [
          /incomplete: .* the station returns to its previous reference; use-incomplete-survey-in/,
        ])
        await rig.until(isFixed(rig), 60)
        await rig.seconds(2)
        t.strictSame(rig.arps().at(-1), arp)
        t.equal(rig.errors().length, 1, 'and it is still said')
        const after = await restarted(t, rig, 2, { changes: chosen === 'manual' ? manual() : {} })
        await after.until(() => after.arps().length > 0, 60)
        t.strictSame(after.arps()[0], arp)
      },
    )
  }

  for (const chosen of ['survey', 'manual'] as const) {
    t.test(`stop-survey-in: the station returns to the ${chosen} reference, without an error`, async (t) => {
      const rig = await fixedStation(t, { changes: chosen === 'manual' ? { ...quick, ...manual() } : quick })
      const [arp] = rig.arps()
      t.match(await rig.command('stop-survey-in'), { status: 503, text: /no survey-in runs/ })
      await rig.command('start-survey-in')
      await rig.until(() => (rig.field('ref.survey.count') as number) > 3, 60)
      t.match(await rig.command('stop-survey-in'), { status: 200, text: /returns to its previous reference/ })
      t.match(rig.field('ref.survey'), { state: 'aborted' })
      rig.sent.length = 0
      await rig.until(isFixed(rig), 90)
      await rig.seconds(2)
      t.strictSame(rig.arps().at(-1), arp)
      t.strictSame(rig.errors(), [])
    })
  }

  t.test('stop-survey-in before it has begun: the start-up check goes on as without it', async (t) => {
    const rig = await fixedStation(t)
    const [arp] = rig.arps()
    await rig.command('start-survey-in')
    t.not(rig.state(), 'survey')
    t.match(await rig.command('stop-survey-in'), { status: 200 })
    await rig.until(isFixed(rig), 90)
    await rig.seconds(2)
    t.strictSame(rig.arps().at(-1), arp)
  })

  t.test('stop-survey-in without another reference: nothing goes out, and it is said', async (t) => {
    const rig = await setUp(t, { changes: quick })
    await rig.until(() => (rig.field('ref.survey.count') as number) > 3, 60)
    t.match(await rig.command('stop-survey-in'), { status: 200, text: /no other reference, so no RTCM is sent/ })
    await rig.seconds(120)
    t.equal(rig.sent.length, 0)
    t.match(rig.errors(), [/aborted: it was ended by stop-survey-in; there is no other reference/])
    t.match((await rig.station.request('/procedure')).json(), { state: 'idle', since: 120 })
  })

  t.test('stop-survey-in after a move: the suspicion stands, and nothing goes out', async (t) => {
    const rig = await fixedStation(t)
    rig.base.move(30)
    await rig.until(() => rig.state() === 'moved', 60)
    rig.sent.length = 0
    await rig.command('start-survey-in')
    await rig.until(() => rig.state() === 'survey', 90)
    await rig.command('stop-survey-in')
    await rig.until(() => rig.state() === 'moved', 90)
    t.equal(rig.sent.length, 0)
  })

  t.test('S6: without another reference nothing runs, visibly', async (t) => {
    const rig = await setUp(t, { changes: { ...long, 'gnss-survey-accuracy': 0.01 } })
    await rig.until(() => rig.field('ref.survey.state') === 'incomplete', 90)
    await rig.seconds(300)
    t.equal(rig.state(), 'initial')
    t.equal(rig.sent.length, 0)
    await rig.change({ 'gnss-survey-accuracy': 5 })
    await rig.command('start-survey-in')
    await rig.until(isFixed(rig), 90)
    t.strictSame(rig.errors(), [])
  })
})

t.test('the movement check', async (t) => {
  t.test('holds within 30 s when the antenna is moved by 30 m, and reports it; never surveys by itself', async (t) => {
    const rig = await fixedStation(t)
    await rig.seconds(30)
    rig.base.move(30)
    const seconds = await rig.until(() => rig.state() !== 'fixed', 40)
    t.ok(seconds <= 30, `${seconds} s`)
    const sent = rig.sent.length
    await rig.seconds(900)
    t.equal(rig.sent.length, sent)
    t.equal(rig.state(), 'moved')
    t.match(rig.errors(), [
      /^the antenna seems to have moved: the carrier phases show a move of (29|30)\.\d\d ± .* m east.*: no RTCM is sent; .* RTCM resumes automatically when positions show for 10 min that the antenna is back$/,
    ])
    t.ok(Math.abs((rig.field('pos.delta') as number) - 30) < 5)
    t.equal(rig.field('ref.survey.state'), 'complete')
  })

  t.test(
    'most signals that slip without notice hold it as a loss of lock does, two fifths of them do not',
    async (t) => {
      for (const [share, holds] of [
        [0.4, false],
        [0.75, true],
      ] as const) {
        const rig = await fixedStation(t)
        await rig.seconds(60)
        rig.base.slip(share)
        await rig.seconds(2)
        rig.sent.length = 0
        await rig.seconds(8)
        t.equal(rig.sent.length === 0, holds, `${share}: ${rig.sent.length} frames`)
        t.equal(rig.state() === 'fixed', !holds)
        await rig.until(() => rig.state() === 'fixed', 90)
        t.strictSame(rig.errors(), [], 'the antenna is where it was')
      }
    },
  )

  t.test('still holds after a restart of the service, however near it is', async (t) => {
    const before = await fixedStation(t)
    await before.seconds(30)
    before.base.move(12)
    await before.until(() => before.state() === 'moved', 150)
    const after = await restarted(t, before)
    await after.seconds(900)
    t.equal(after.sent.length, 0)
    t.equal(after.state(), 'moved')
  })

  const exits: [what: string, leave: (rig: Rig) => Promise<unknown>, limit_s: number][] = [
    ['the antenna comes back for 10 min', async ({ base }) => base.move(-30), 640],
    ['start-survey-in', ({ command }) => command('start-survey-in'), 60],
    ['trigger-gnss-survey', ({ change }) => change({ 'trigger-gnss-survey': true }), 60],
    ['another reference', ({ change, base }) => change(manual(roundEcef(base.truth))), 60],
  ]
  for (const [what, leave, limit_s] of exits) {
    t.test(`is left by ${what}`, async (t) => {
      const rig = await fixedStation(t)
      await rig.seconds(30)
      rig.base.move(30)
      await rig.until(() => rig.state() === 'moved', 40)
      const sent = rig.arps().length
      await leave(rig)
      const seconds = await rig.until(() => rig.arps().length > sent, limit_s)
      if (limit_s > 600) t.ok(seconds >= 600, `after ${seconds} s`)
      t.ok(distance(rig.arps().at(-1) ?? home, rig.base.truth) < 5)
      t.strictSame(rig.errors(), [])
    })
  }

  for (const [what, out, back] of few(1, [
    ['3.5 m beside', { east: 12, up: 0 }, { east: -8.5, up: 0 }],
    ['5 m too low', { east: 0, up: -16 }, { east: 0, up: 11 }],
  ] as const)) {
    t.test(`an antenna that is put back ${what} is not trusted by itself`, async (t) => {
      const rig = await fixedStation(t)
      await rig.seconds(700)
      rig.base.move(out.east, 0, out.up)
      await rig.seconds(120)
      rig.base.move(back.east, 0, back.up)
      rig.sent.length = 0
      await rig.seconds(1500)
      t.equal(rig.sent.length, 0)
      t.equal(rig.state(), 'moved')
    })
  }

  t.test('believes the receiver when it says so itself, and a second solution', async (t) => {
    const warned = await fixedStation(t)
    warned.base.receiver.warn('txbuf alloc')
    t.equal(warned.state(), 'fixed')
    warned.base.receiver.warn('Base station position seems incorrect')
    const sent = warned.sent.length
    await warned.until(() => warned.state() === 'moved', 2)
    t.equal(warned.sent.length, sent, 'held at once')
    const rig = await fixedStation(t)
    rig.base.second = true
    await rig.seconds(90)
    t.ok((rig.field('pos.delta') as number) < 4)
    rig.base.move(0, 0, 15)
    await rig.until(() => rig.state() === 'moved', 150)
  })
})

t.test('the carrier phases', async (t) => {
  const steady = async (t: Test) => {
    const rig = await fixedStation(t)
    await rig.seconds(30)
    return rig
  }

  for (const [east, north, up] of few(1, [
    [0.04, 0, 0],
    [0, 0, 0.06],
    [0, -0.04, 0],
    [2, 1, 0],
  ] as const)) {
    t.test(`a knock of ${east}/${north}/${up} m is held within 3 s, and stays held`, async (t) => {
      const rig = await steady(t)
      rig.base.move(east, north, up)
      const sent = rig.sent.length
      const seconds = await rig.until(() => rig.state() === 'moved', 10)
      t.ok(seconds <= 4, `${seconds} s`)
      t.ok(rig.sent.length <= sent + 3 * 5, `${rig.sent.length - sent} frames`)
      t.match(rig.errors(), [
        /^the antenna seems to have moved: the carrier phases show a move of \d+\.\d+ ± .* c?m .*send confirm-position; if it moved, send start-survey-in or enter a position$/,
      ])
      await rig.seconds(1200)
      t.equal(rig.state(), 'moved', 'code positions cannot tell that it is back')
      const after = await restarted(t, rig)
      await after.seconds(700)
      t.equal(after.sent.length, 0)
      await after.command('confirm-position')
      await after.until(isFixed(after), 60)
      t.strictSame(after.errors(), [], 'who confirms the position answers for it')
    })
  }

  t.test('a mast that swings and comes back has not moved', async (t) => {
    const rig = await steady(t)
    for (let i = 0; i < 60; i++) {
      rig.base.truth = offsetEnu(home, { east: 0.05 * Math.sin(2 * Math.PI * 0.4 * i), north: 0, up: 0 })
      await rig.seconds(1)
      if (rig.state() !== 'fixed') throw new Error(`after ${i} s: ${rig.errors().join()}`)
    }
    rig.base.truth = home
    await rig.seconds(20)
    t.equal(rig.state(), 'fixed')
  })

  t.test('most signals lost at once: held until the start-up check agrees', async (t) => {
    const rig = await steady(t)
    rig.base.loseLock()
    const sent = rig.sent.length
    await rig.until(() => rig.state() !== 'fixed', 3)
    t.ok(rig.sent.length <= sent + 5)
    await rig.until(isFixed(rig), 60)
    rig.base.loseLock()
    rig.base.move(9)
    rig.sent.length = 0
    await rig.seconds(60)
    t.ok(rig.arps().every((arp) => distance(arp, rig.base.truth) < 6))
  })

  for (const [what, carried_m] of [
    ['and nothing else happens: it goes on', 0],
    ['and the antenna is carried: it starts again', 12],
  ] as const) {
    t.test(`A6: the cable is off just before a survey-in is complete, ${what}`, async (t) => {
      const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 60, 'gnss-survey-accuracy': 5 } })
      await rig.until(() => (rig.field('ref.survey.elapsed') as number) > 57, 120)
      rig.base.hears = false
      await rig.seconds(20)
      rig.base.move(carried_m)
      rig.base.hears = true
      await rig.until(isFixed(rig), 150)
      await rig.seconds(2)
      t.ok(distance(rig.arps().at(-1) ?? home, rig.base.truth) < 5)
      t.equal(
        rig.station.lines.some(({ msg }) => /starts again/.test(msg)),
        carried_m > 0,
      )
    })
  }

  t.test('a move during a survey-in starts it again', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 120, 'gnss-survey-accuracy': 5 } })
    await rig.until(() => (rig.field('ref.survey.elapsed') as number) > 80, 120)
    rig.base.move(0.1)
    await rig.seconds(5)
    t.ok((rig.field('ref.survey.elapsed') as number) < 10)
    t.match(
      rig.station.lines.map(({ msg }) => msg).find((msg) => /starts again/.test(msg)),
      /(9\.9|10\.\d) ± .* cm .*the survey-in starts again/,
    )
  })

  t.test('can be left out', async (t) => {
    const rig = await fixedStation(t, { options: { phases: { enabled: false } } })
    await rig.seconds(30)
    rig.base.move(0.5)
    await rig.seconds(60)
    t.equal(rig.state(), 'fixed')
  })
})

t.test('the reference against evidence', { skip: gateOnly }, async (t) => {
  const beside = (enu: { east?: number; north?: number; up?: number }) =>
    manual(roundEcef(offsetEnu(home, { east: 0, north: 0, up: 0, ...enu })))

  t.test(
    'A1: 14 m off is less than what is allowed at most, but more than the accuracies explain: averaged, then held',
    async (t) => {
      const rig = await setUp(t, { changes: beside({ east: 14 }) })
      await rig.until(() => rig.errors().length > 0, 60)
      t.match(rig.errors(), [
        /^the antenna seems to be 1\d\.\d m from the reference .*: positions are averaged for 10 min .*if the reference is wrong, enter the correct position/,
      ])
      const seconds = await rig.until(() => rig.state() === 'moved', 700)
      t.ok(seconds > 500)
      t.equal(rig.sent.length, 0)
      t.match(rig.errors(), [/^reference moved by E -1\d\.\d/])
    },
  )

  t.test('a survey-in that is asked for while a doubt is averaged does not wait for its end', async (t) => {
    const rig = await setUp(t, { changes: beside({ east: 14 }) })
    await rig.until(() => rig.errors().length > 0, 60)
    await rig.command('start-survey-in')
    t.ok((await rig.until(() => rig.state() === 'survey', 90)) < 90, 'as the error said')
    t.notMatch(rig.errors().join(), /positions are averaged/, 'and the doubt is over')
  })

  t.test('A1: 5 m off is held too, after 10 min', async (t) => {
    const rig = await setUp(t, { changes: beside({ north: 5 }) })
    await rig.until(() => rig.state() === 'moved', 700)
    t.equal(rig.sent.length, 0)
  })

  t.test('A1: less off goes out, and is reported within 40 min with E/N/U', async (t) => {
    const rig = await setUp(t, { changes: beside({ north: 2.7, up: 1 }) })
    await rig.until(isFixed(rig), 60)
    const seconds = await rig.until(() => rig.errors().length > 0, 2400)
    t.ok(seconds < 2400)
    t.match(rig.errors(), [
      /^by the ranges of the last 30 min the antenna is at E .* N [+-]\d\.\d .* RTCM is still sent: check the reference position; if it is wrong, enter the correct position, or set gnss-ref-chosen to survey and send start-survey-in$/,
    ])
    t.equal(rig.state(), 'fixed')
    await rig.change(beside({}))
    await rig.until(isFixed(rig), 60)
    t.strictSame(rig.errors(), [])
  })

  t.test('a move that code showed is not undone by a poor reference that agrees with nearly anything', async (t) => {
    const rig = await setUp(t, {
      changes: { ...beside({}), 'gnss-ref-manual-acc': 3.3 },
      options: { phases: { enabled: false, threshold_m: 0.03 } },
    })
    await rig.until(isFixed(rig), 60)
    await rig.seconds(700)
    rig.base.move(14)
    await rig.until(() => rig.state() === 'moved', 60)
    // Within four times the accuracy that is stated.
    rig.base.move(-8)
    await rig.seconds(1500)
    t.equal(rig.state(), 'moved')
    t.match(rig.errors(), [
      /the ranges show a move of more than \d+\.\d\d m, direction unknown: no RTCM is sent; .*send confirm-position; [^;]*$/,
    ])
    rig.sent.length = 0
    await rig.seconds(60)
    t.equal(rig.sent.length, 0)
  })

  t.test('a height above the sea that was entered as one above the ellipsoid is said to be one', async (t) => {
    const base = new FakeBase(new ManualClock())
    base.separation_m = 43.2
    const rig = await setUp(t, { receiver: base, changes: beside({ up: -43 }) })
    await rig.until(() => rig.state() === 'moved', 60)
    t.match(rig.errors(), [
      /U \+4\d\.\d m; the difference in height equals the geoid separation here \(43\.2 m\): a height above mean sea level/,
    ])
    t.match(rig.errors(), [/: no RTCM is sent; correct gnss-ref-manual-alt: it is the height above the ellipsoid$/])
    t.notMatch(rig.errors(), [/confirm-position/], 'this would keep the error')
  })

  t.test('and so is one to which the geoid separation was added twice', async (t) => {
    const base = new FakeBase(new ManualClock())
    base.separation_m = 43.2
    const rig = await setUp(t, { receiver: base, changes: beside({ up: 43 }) })
    await rig.until(() => rig.state() === 'moved', 60)
    t.match(rig.errors(), [/U -4\d\.\d m; the difference in height equals .* \(43\.2 m\): it was added to a height/])
  })

  t.test('A2: a baseline does not forget where the antenna was', async (t) => {
    for (const after_s of [5, 240]) {
      const rig = await fixedStation(t)
      await rig.seconds(after_s)
      rig.base.move(12)
      await rig.until(() => rig.state() === 'moved', 150)
    }
    t.pass('12 m')
    const rig = await fixedStation(t)
    await rig.seconds(5)
    rig.base.move(9)
    await rig.until(() => rig.state() === 'moved', 1900)
  })

  t.test('A8: no evidence is an error of its own', async (t) => {
    const rig = await fixedStation(t)
    rig.base.evident = false
    const seconds = await rig.until(() => rig.errors().length > 0, 300)
    t.ok(seconds < 200)
    t.match(rig.errors(), [/^for 3 min neither the ranges of at least 8 satellites nor a second fix/])
    rig.base.evident = true
    await rig.seconds(2)
    t.strictSame(rig.errors(), [])
  })

  t.test('A9: a suspicion is durable before it is announced', async (t) => {
    const rig = await fixedStation(t)
    const batch = rig.store.batch.bind(rig.store)
    let written = () => {}
    rig.store.batch = async (ops) => {
      const isSuspicion = ops.some(({ key }) => key === 'suspicion')
      if (isSuspicion) await new Promise<void>((resolve) => (written = resolve))
      return batch(ops)
    }
    const sent = rig.sent.length
    rig.base.receiver.warn('Base station position seems incorrect')
    await rig.seconds(3)
    t.equal(rig.sent.length, sent, 'held at once')
    t.equal(rig.state(), 'fixed', 'not announced')
    written()
    await rig.seconds(1)
    t.equal(rig.state(), 'moved')
  })
})

t.test('parameters', async (t) => {
  const refused: [what: string, values: Record<string, unknown>, name: string, message: RegExp][] = [
    [
      'mintime above maxtime',
      { 'gnss-survey-mintime': 100, 'gnss-survey-maxtime': 99 },
      'gnss-survey-mintime',
      /above/,
    ],
    ['maxtime below the mintime in force', { 'gnss-survey-maxtime': 5 }, 'gnss-survey-maxtime', /above/],
    ['a negative time', { 'gnss-survey-mintime': -1 }, 'gnss-survey-mintime', /0/],
    ['more than 30 days', { 'gnss-survey-maxtime': 2_592_001 }, 'gnss-survey-maxtime', /2592000/],
    ['accuracy 0', { 'gnss-survey-accuracy': 0 }, 'gnss-survey-accuracy', /0\.001/],
    ['a latitude beyond the pole', { 'gnss-ref-manual-lat': 90.1 }, 'gnss-ref-manual-lat', /./],
    ['an axis beyond 7e6', { 'gnss-ref-manual-x': 7.1e6 }, 'gnss-ref-manual-x', /./],
    ['chosen without a position', { 'gnss-ref-chosen': 'manual' }, 'gnss-ref-chosen', /complete/],
    [
      'chosen with a partial one',
      { 'gnss-ref-chosen': 'manual', 'gnss-ref-manual-x': 1 },
      'gnss-ref-chosen',
      /complete/,
    ],
    ['an unknown choice', { 'gnss-ref-chosen': 'both' }, 'gnss-ref-chosen', /./],
    ['a number in a string', { 'gnss-ref-manual-acc': '1' }, 'gnss-ref-manual-acc', /number/],
    ['an unknown point', { 'gnss-ref-manual-point': 'top' }, 'gnss-ref-manual-point', /"arp" or "phase-centre"/],
    [
      'a phase centre without an offset',
      { 'gnss-ref-manual-point': 'phase-centre' },
      'gnss-ref-manual-point',
      /needs gnss-ref-manual-offset/,
    ],
    ['an offset above 1 m', { 'gnss-ref-manual-offset': 1.01 }, 'gnss-ref-manual-offset', /<= 1/],
    ['a frame of 33 characters', { 'gnss-ref-frame': 'x'.repeat(33) }, 'gnss-ref-frame', /32/],
    ['an epoch of 33 characters', { 'gnss-recvrtcm-epoch': '1'.repeat(33) }, 'gnss-recvrtcm-epoch', /32/],
    ['a frame with a line end', { 'gnss-recvrtcm-frame': 'ETRF\n' }, 'gnss-recvrtcm-frame', /printable ASCII/],
    ['an epoch that is a number', { 'gnss-ref-epoch': 2010 }, 'gnss-ref-epoch', /string/],
  ]
  const rig = await setUp(t)
  for (const [what, values, name, message] of refused) {
    t.test(`${what} is refused`, async (t) => {
      t.match(await rig.change(values), { result: 'failed', errors: [{ name, message }], leftover: values })
    })
  }

  t.test('a manual position is kept as entered, and is one when a group of it is complete', async (t) => {
    const rig = await setUp(t)
    const { lat, lon, alt } = ecefToGeodetic(near)
    await rig.change({ 'gnss-ref-manual-lat': lat, 'gnss-ref-manual-lon': lon })
    t.match(rig.field('ref.manual'), { type: '', t: 0 })
    await rig.change({ 'gnss-ref-manual-alt': alt, 'gnss-ref-manual-acc': 0.02, 'gnss-ref-manual-corr': true })
    t.match(rig.field('ref.manual'), { type: 'ecef', ...near, acc: 0.02, corr: true, hp: true, tm: /^2026-/ })
    await rig.change({ 'gnss-ref-manual-hp': false })
    const cm = (metres: number) => Math.round(metres * 100) / 100
    t.match(rig.field('ref.manual'), { x: cm(near.x), y: cm(near.y), z: cm(near.z), hp: false })
  })

  t.test('both groups of a manual position must agree to 1 cm', async (t) => {
    const rig = await setUp(t)
    const at = (up: number) => ecefToGeodetic(offsetEnu(near, { east: 0, north: 0, up }))
    const angles = (up: number) => {
      const { lat, lon, alt } = at(up)
      return { 'gnss-ref-manual-lat': lat, 'gnss-ref-manual-lon': lon, 'gnss-ref-manual-alt': alt }
    }
    const both = (up: number) => ({ ...manual(), ...angles(up) })
    t.match(await rig.change(both(0.011)), { result: 'failed', errors: [{ message: /0\.011 m apart/ }] })
    t.match(await rig.change(both(0.009)), { result: 'ok' })
    t.match(await rig.change(angles(5)), { result: 'ok' }, 'S3: a group that is completed replaces the other')
    t.ok(distance(rig.field('ref.manual') as typeof near, geodeticToEcef(at(5))) < 1e-3)
    t.match(
      await rig.change({ 'gnss-ref-manual-x': near.x, 'gnss-ref-manual-y': near.y, 'gnss-ref-manual-z': near.z }),
      { result: 'ok' },
    )
    t.strictSame(rig.field('ref.manual.x'), near.x, 'and the other way round')
    t.match(await rig.change(both(0.009)), { result: 'ok' })
    const taken = { 'gnss-ref-manual-x': null, 'gnss-ref-manual-y': null, 'gnss-ref-manual-z': null }
    t.match(await rig.change({ ...angles(5), ...taken }), { result: 'ok' }, 'null takes a coordinate back')
    t.ok(distance(rig.field('ref.manual') as typeof near, geodeticToEcef(at(5))) < 1e-3)
    t.match(await rig.change({ 'gnss-ref-manual-lat': null }), { result: 'failed', errors: [{ message: /complete/ }] })
  })

  t.test('S8: another accuracy of the same manual position checks nothing again', async (t) => {
    const rig = await fixedStation(t, { changes: manual() })
    t.match(await rig.change({ 'gnss-ref-manual-acc': 0.25 }), { result: 'ok' })
    t.equal(rig.state(), 'fixed')
    t.equal(rig.field('ref.manual.acc'), 0.25)
  })

  t.test('a new manual reference is checked before it is used; one that is not chosen changes nothing', async (t) => {
    const rig = await fixedStation(t)
    const { 'gnss-ref-chosen': chosen, ...position } = manual()
    await rig.change(position)
    t.equal(rig.state(), 'fixed')
    await rig.change({ 'gnss-ref-chosen': chosen })
    const sent = rig.sent.length
    await rig.until(() => rig.sent.length > sent, 40)
    t.strictSame(rig.arps().at(-1), near)
    await rig.change(manual(roundEcef(offsetEnu(near, { east: 100, north: 0, up: 0 }))))
    await rig.until(() => rig.state() === 'moved', 40)
    t.match(rig.errors(), [/^reference moved by E -\d\d\d?\.\d/])
  })
})

t.test('the phase centre and the frame of a reference', { skip: gateOnly }, async (t) => {
  const above = offsetEnu(near, { east: 0, north: 0, up: 0.0655 })
  const phaseCentre = {
    ...manual(roundEcef(above)),
    'gnss-ref-manual-point': 'phase-centre',
    'gnss-ref-manual-offset': 0.0655,
  }
  const entries = (rig: Rig) => historyOf(rig.station)

  t.test('of a phase centre the reference point below it is sent, and found in the list', async (t) => {
    const rig = await fixedStation(t, { changes: phaseCentre })
    t.ok(distance(rig.arps()[0], near) < 2e-4, 'below, along the normal of the ellipsoid')
    t.ok(rig.arps().every((arp) => distance(arp, above) > 0.06))
    t.match(rig.field('ref.manual'), { ...rig.arps()[0], point: 'phase-centre', offset: 0.0655, frame: '' })
    const [entry] = await entries(rig)
    t.match(entry, { ...rig.arps()[0], provenance: 'entered', frame: { epsg: 0, name: '', epoch: '' } })
    await rig.change({ 'gnss-ref-manual-x': above.x + 0.5, 'gnss-ref-frame': 'IGS20' })
    t.match((await rig.station.request(`/positions/${entry.position}`, { method: 'POST' })).json(), { result: 'ok' })
    t.match(
      rig.field('ref.manual'),
      { ...rig.arps()[0], point: 'arp', frame: '' },
      'the way back takes nothing off again',
    )
  })

  t.test('the frame and the epoch of a manual one are in the document and in the list, without a hold', async (t) => {
    const rig = await fixedStation(t, { changes: manual() })
    await rig.change({ 'gnss-ref-frame': 'ETRF2000', 'gnss-ref-epoch': '2010.0' })
    t.equal(rig.state(), 'fixed', 'the point stays where it is')
    t.match(rig.field('ref.manual'), { ...near, frame: 'ETRF2000', epoch: '2010.0' })
    const after = await restarted(t, rig, 2, { changes: manual() })
    await after.until(() => after.arps().length > 0, 60)
    t.match((await entries(after)).at(-1), {
      provenance: 'entered',
      ...near,
      frame: { epsg: 7931, name: 'ETRF2000', epoch: '2010.0' },
      by: 'http',
    })
  })

  t.test('a plain survey-in is in that of the broadcast orbits, whatever is meant', async (t) => {
    const rig = await fixedStation(t, { changes: { ...quick, 'gnss-ref-frame': 'ETRF2000' } })
    t.match(rig.field('ref.survey'), { frame: 'WGS84', epoch: /^2026\.\d\d$/ })
    t.match(await entries(rig), [{ provenance: 'surveyed', frame: { epsg: 0, name: 'WGS84', epoch: /^2026\.\d\d$/ } }])
    t.strictSame(rig.errors(), [])
  })

  const corrected = (t: Test, changes: object) => {
    const clock = new ManualClock()
    const receiver = new FakeBase(clock)
    receiver.fixName = 'rtk-fixed'
    // Where it is without corrections: what a corrected survey-in is checked against.
    receiver.second = true
    return fixedCorrected(t, { receiver, changes: { ...quick, 'gnss-survey-accuracy-corr': 1, ...changes } })
  }
  async function fixedCorrected(t: Test, options: Parameters<typeof setUp>[1]): Promise<Rig> {
    const rig = await setUp(t, options)
    await rig.until(() => rig.arps().length > 0, 1200)
    t.equal(rig.field('ref.survey.corr'), true)
    return rig
  }

  t.test('a corrected one is in that of its corrections: another one than is meant is an error', async (t) => {
    const declared = {
      'gnss-recvrtcm-frame': 'ITRF2014',
      'gnss-recvrtcm-epoch': '2020.0',
      'gnss-ref-frame': 'ETRF2000',
    }
    const rig = await corrected(t, declared)
    t.match(rig.field('ref.survey'), { frame: 'ITRF2014', epoch: '2020.0' })
    t.match(await entries(rig), [{ provenance: 'rtk-averaged', frame: { name: 'ITRF2014', epoch: '2020.0' } }])
    const reported = () => rig.station.device.errors().filter(({ code }) => code === 'gnss-reference-frame')
    t.match(reported(), [{ text: /used corrections in ITRF2014 epoch 2020\.0, but .* ETRF2000: .*gnss-ref-frame/ }])
    t.equal(rig.state(), 'fixed', 'it is a warning: nothing is held')
    await rig.change({ 'gnss-recvrtcm-frame': 'ETRF2000' })
    t.equal(reported().length, 1, 'what is said of corrections now does not change those of then')
    const after = await restarted(t, rig, 2, { changes: { ...quick, ...declared } })
    t.match(after.errors(), [/used corrections in ITRF2014/], 'also after a restart')
    await after.change({ 'gnss-ref-frame': 'itrf 2014', 'gnss-ref-epoch': '2020' })
    t.strictSame(after.errors(), [], 'one frame, however it is written')
    await after.change({ 'gnss-ref-epoch': '2010.0' })
    t.match(after.errors(), [/epoch 2020\.0, but the reference should be in itrf 2014 epoch 2010\.0/])
    await after.change(manual())
    t.strictSame(after.errors(), [], 'another reference is chosen')
  })

  t.test('without a word of the corrections the frame is not known, and the log says so', async (t) => {
    const rig = await corrected(t, { 'gnss-ref-frame': 'ETRF2000' })
    t.match(await entries(rig), [{ frame: { epsg: 0, name: '', epoch: '' } }])
    t.strictSame(rig.errors(), [])
    t.equal(rig.station.lines.filter(({ msg }) => /the frame of the corrections is not declared/.test(msg)).length, 1)
  })
})

t.test('the history of the reference', async (t) => {
  t.test('has every reference that was used and every move, and survives a restart', async (t) => {
    const rig = await fixedStation(t)
    const [surveyed] = rig.arps()
    await rig.change(manual())
    await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
    const entries = (of: Rig) => historyOf(of.station)
    t.match(await entries(rig), [
      { id: 1, what: 'used', provenance: 'surveyed', ...surveyed, by: 'survey', corr: false, samples: 15 },
      { id: 2, what: 'used', provenance: 'entered', ...near, by: 'http' },
    ])
    const after = await restarted(t, rig)
    await after.until(() => after.arps().length > 0, 25)
    t.equal((await entries(after)).length, 2, 'the same reference is entered once')
    after.base.restart()
    after.base.move(30)
    await after.until(() => after.state() === 'moved', 60)
    t.match((await entries(after))[2], { id: 3, what: 'moved', provenance: 'entered', offset: { east: /^3?\d/ } })
  })

  t.test('leads back to an entry', async (t) => {
    const rig = await fixedStation(t)
    const [surveyed] = rig.arps()
    await rig.change(manual())
    await rig.until(() => rig.arps().some((arp) => distance(arp, near) < 1e-6), 60)
    await rig.command('start-survey-in')
    await rig.until(isFixed(rig), 60)
    const back = (id: number) => rig.station.request(`/positions/${id}`, { method: 'POST' })
    rig.store.failure = 'disk full'
    t.match((await back(1)).json(), { result: 'failed' })
    const { x, y, z } = rig.field('ref.survey') as typeof home
    t.notSame({ x, y, z }, surveyed, 'a change that failed leaves everything as it was')
    rig.store.failure = undefined
    t.match(await back(1), { status: 200 })
    t.equal(rig.field('ref.chosen'), 'survey')
    await rig.until(isFixed(rig), 60)
    await rig.seconds(2)
    t.strictSame(rig.arps().at(-1), surveyed)
    t.match(await back(2), { status: 200 })
    await rig.until(isFixed(rig), 60)
    await rig.seconds(2)
    t.strictSame(rig.arps().at(-1), near)
    t.match(await back(99), { status: 404 })
    t.match(await back(Number.NaN), { status: 400 })
  })
})

t.test('a disk that stays full is said once for what is lost, and again the next time', async (t) => {
  const rig = await fixedStation(t)
  const said = () => rig.station.lines.filter(({ msg }) => /\(survey\) could not be stored/.test(msg)).length
  const surveyed = async () => {
    await rig.command('start-survey-in')
    await rig.until(isFixed(rig), 120)
    await rig.seconds(2)
  }
  rig.store.failure = 'disk full'
  await surveyed()
  await surveyed()
  t.equal(said(), 1)
  rig.store.failure = undefined
  await surveyed()
  rig.store.failure = 'disk full'
  await surveyed()
  t.equal(said(), 2)
})

t.test(
  'whatever happens, only the chosen position goes out, and not for long from somewhere else',
  { skip: gateOnly },
  async (t) => {
    type Step = { what: string; seconds: number }
    const seconds = fc.integer({ min: 1, max: 45 })
    const step = fc.record({
      what: fc.constantFrom(
        ...['nothing', 'nothing', 'move', 'back', 'restart', 'restart as a base', 'link down', 'link up', 'wrong 1005'],
        ...['right 1005', 'deaf', 'hears', 'reload', 'reload rtcm', 'manual', 'survey', 'start-survey-in'],
      ),
      seconds,
    })
    const play = async (rig: Rig, { what, seconds }: Step) => {
      const { base, station } = rig
      const moved = distance(base.truth, home) > 1
      if (what === 'move' && !moved) base.move(40)
      if (what === 'back' && moved) base.truth = home
      if (what === 'restart') base.restart()
      if (what === 'restart as a base') base.restart(roundEcef(offsetEnu(home, { east: 3, north: 0, up: 0 })))
      if (what === 'link down') base.receiver.become({ link: 'offline', configured: false })
      if (what === 'link up') base.receiver.become({ link: 'up' })
      if (what === 'wrong 1005') base.wrong_m = 0.002
      if (what === 'right 1005') base.wrong_m = 0
      if (what === 'deaf') base.hears = false
      if (what === 'hears') base.hears = true
      if (what === 'reload') await station.reload('survey-in')
      if (what === 'reload rtcm') await station.reload('rtcm')
      if (what === 'manual') await rig.change(manual())
      if (what === 'survey') await rig.change({ 'gnss-ref-chosen': 'survey' })
      if (what === 'start-survey-in') await rig.command('start-survey-in')
      await rig.seconds(seconds)
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const rig = await setUp(t)
        await rig.seconds(30)
        let elsewhere_s = 0
        for (const each of steps) {
          const before = rig.sent.length
          const from =
            each.what === 'reload' || each.what === 'reload rtcm' || each.what.startsWith('link') ? 0 : elsewhere_s
          await play(rig, each)
          const chosen = ['manual', 'survey'].map((name) => rig.field(`ref.${name}`) as typeof home)
          const arps = rig.arps().slice(-each.seconds)
          if (rig.sent.length > before && !arps.every((arp) => chosen.some((one) => distance(arp, one) < 1e-6))) {
            // The surveyed reference may have been replaced by a new one in this step.
            const used = await historyOf(rig.station)
            if (!arps.every((arp) => used.some((one) => distance(arp, one) < 1e-6)))
              throw new Error('an unknown 1005 left')
          }
          const isElsewhere = rig.sent.length > before && arps.some((arp) => distance(arp, rig.base.truth) > 20)
          elsewhere_s = isElsewhere ? from + each.seconds : 0
          if (elsewhere_s > 90) throw new Error(`for ${elsewhere_s} s RTCM went out from somewhere else`)
        }
        await rig.station.stop()
        return true
      }),
      { numRuns: sample(4, 200, 8), seed: 7 },
    )
  },
)

/** A store whose writes wait, as on a disk that is busy. */
class BusyStore extends MemoryStore {
  readonly #waiting: (() => void)[] = []
  isBusy: boolean = false

  override async batch(...[ops]: Parameters<MemoryStore['batch']>): Promise<void> {
    if (this.isBusy) await new Promise<void>((done) => this.#waiting.push(done))
    return super.batch(ops)
  }

  goOn(): void {
    this.isBusy = false
    for (const done of this.#waiting.splice(0)) done()
  }
}

t.test('a move while the base is not in use for a moment is not forgotten', async (t) => {
  const isMsmOf = ({ type }: { type: number }) => type >= 1071 && type <= 1137
  const announcesWrong = (rig: Rig) => {
    rig.base.wrong_m = 1
  }
  const linkGone = async (rig: Rig) => {
    rig.base.receiver.become({ link: 'offline', configured: false })
    await rig.clock.advance(4000)
    rig.base.receiver.become({ link: 'up' })
  }
  for (const [what, before] of [
    ['its 1005 is wrong', announcesWrong],
    ['its link was gone', linkGone],
  ] as const) {
    t.test(what, async (t) => {
      const rig = await fixedStation(t)
      await rig.seconds(100)
      await before(rig)
      await rig.seconds(1)
      t.not(rig.state(), 'fixed')
      const left = rig.sent.length
      rig.base.move(0.5)
      await rig.seconds(3)
      rig.base.wrong_m = 0
      await rig.seconds(120)
      t.equal(rig.state(), 'moved')
      t.equal(rig.sent.slice(left).filter(isMsmOf).length, 0, 'nothing leaves')
    })
  }

  t.test('while the suspicion is written for a long time, and something else happens', async (t) => {
    const store = new BusyStore()
    const rig = await fixedStation(t, { store })
    await rig.seconds(60)
    store.isBusy = true
    rig.base.move(0.5)
    await rig.seconds(20)
    const left = rig.sent.length
    rig.base.wrong_m = 1
    await rig.seconds(2)
    rig.base.wrong_m = 0
    await rig.seconds(60)
    store.goOn()
    await rig.until(() => rig.state() === 'moved', 5)
    t.equal(rig.sent.slice(left).filter(isMsmOf).length, 0)
  })
})

t.test('a stored value that is damaged is as if it had never been stored', { skip: gateOnly }, async (t) => {
  const station = await fixedStation(t)
  await station.station.stop()
  const { store, base } = station
  const damaged = [5, 'x', [null, 7], {}, { state: 'running', progress: {}, reference: null, entry: 3 }]
  for (const key of ['survey', 'manual', 'trusted', 'positions', 'moved']) {
    for (const value of damaged) {
      await store.batch([{ namespace: 'plugin.survey-in', key, value }])
      base.receiver.become({ configured: false })
      const rig = await setUp(t, { receiver: base, store })
      await rig.until(isFixed(rig), 90)
      await rig.station.stop()
    }
  }
  await store.batch([{ namespace: 'plugin.survey-in', key: 'suspicion', value: 'what a release before wrote' }])
  base.receiver.become({ configured: false })
  const rig = await setUp(t, { receiver: base, store })
  await rig.until(() => rig.state() === 'moved', 60)
  t.match(
    rig.errors(),
    [/the antenna seems to have moved: it was suspected before/],
    'a suspicion stands, whatever it was',
  )
})

t.test('a receiver that is only listened to is left alone', async (t) => {
  const base = new FakeBase((await setUp(t)).clock)
  base.receiver.become({ mode: 'listening' })
  const rig = await setUp(t, { receiver: base })
  base.receiver.emit(arpFrame(near))
  t.equal(rig.sent.length, 1)
  t.equal(rig.state(), 'fixed')
  t.match(rig.field('ref'), { survey: { config: { mintime: 15, accuracy: 5 } }, chosen: 'survey' }, 'S16')
  t.equal(rig.field('ref.manual'), undefined, 'the plugin of the receiver tells the rest')
  t.match(await rig.command('start-survey-in'), { status: 503 })
  t.match(await rig.change({ 'trigger-gnss-survey': true }), { result: 'failed' })
})

t.test('where the receiver is only listened to, a saved position does not replace the stored ones', async (t) => {
  const before = await fixedStation(t)
  const { base, store } = before
  await before.station.stop()
  base.receiver.become({ mode: 'listening' })
  const rig = await setUp(t, { receiver: base, store })
  const position = { name: 'North', ...near, acc: 0, corr: false, frame: '', epoch: '' }
  const headers = { 'content-type': 'application/json' }
  const sent = await rig.station.request('/positions', { method: 'POST', body: JSON.stringify(position), headers })
  t.equal(sent.status, 200)
  t.match((await rig.station.request('/positions')).json(), { entries: [{ id: 1, events: [{}] }, { name: 'North' }] })
})

t.test('stands start, stop, start and leaves nothing behind', async (t) => {
  const base = new FakeBase((await setUp(t)).clock)
  const rtcm = (await import('../../../plugins/rtcm/rtcm/index.js')).default as unknown as Definition
  await conformance(
    surveyIn as unknown as Definition,
    {},
    {
      plugins: { 'fake-receiver': base.receiver.definition, rtcm },
    },
  )
  t.pass('conforms')
})
