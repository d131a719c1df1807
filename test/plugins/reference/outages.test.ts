/**
 * The antenna is carried while nobody hears the receiver, or while it hears nothing: the whole application with a simulated
 * receiver that outlives it. Its geometry is exact, its air and ionosphere are others than the model of the station.
 */

import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import { few, gateOnly, machineOnly, sample } from '../../harness/index.js'
import { type Kind, type OutageRig, outageRig } from './outage-rig.js'

t.setTimeout(1_800_000)

/** In parts of the distance: horizontally and vertically. */
const along = [0.6, 0.64, -0.48] as const
const carry = (rig: OutageRig, size_m: number) => {
  const [east, north, up] = along
  rig.control.move(size_m * east, size_m * north, size_m * up)
}
const texts = (rig: OutageRig) => rig.errors().map(({ text }) => text)
/** Ends the outage, and waits for what the station makes of it. */
async function outcome(rig: OutageRig, limit_s = 200): Promise<{ status: unknown; after_s: number }> {
  await rig.until(() => rig.status() !== 'fixed', 30)
  const after_s = await rig.until(() => rig.status() === 'fixed' || rig.status() === 'moved', limit_s)
  return { status: rig.status(), after_s }
}

/** A person confirms where the antenna is now. */
async function confirmed(rig: OutageRig): Promise<void> {
  await rig.station.station.command('confirm-position', { source: 'console' })
  await rig.fixed(100)
}

/** The further ones only on the machine: each takes minutes. */
const cases = [
  ['service killed', 10, 0.3],
  ['line off', 300, 1],
  ['service killed', 300, 1],
  ['line off', 10, 0.3],
] as const satisfies [Kind, number, number][]

for (const [kind, away_s, seen_m] of cases.slice(0, sample(1, cases.length, 2))) {
  t.test(`${kind} for ${away_s} s`, async (t) => {
    const rig = await outageRig(t, { seed: 3 })
    await rig.fixed()
    await t.test('the antenna stayed: RTCM is back in half a minute', async (t) => {
      await rig.seconds(60)
      await rig.outage(kind, away_s, () => {})
      const { status, after_s } = await outcome(rig)
      t.equal(status, 'fixed')
      t.ok(after_s <= 30, `${after_s} s: without waiting for positions`)
      t.strictSame(texts(rig), [])
    })
    for (const [n, size_m] of few(1, [seen_m, 9]).entries()) {
      await t.test(`carried ${size_m} m: nothing leaves, and a person is told`, async (t) => {
        if (n > 0) await confirmed(rig)
        await rig.seconds(60)
        await rig.outage(kind, away_s, () => {
          carry(rig, size_m)
          rig.sent.length = 0
        })
        t.equal((await outcome(rig)).status, 'moved')
        t.notOk(
          rig.sent.some(({ type }) => isMsm(type)),
          'no observation left',
        )
        t.match(texts(rig)[0], /carrier phases that stayed in lock show a move of \d/)
      })
    }
  })
}

for (const kind of ['cable off', 'receiver off'] as const satisfies Kind[]) {
  t.test(
    `${kind} for 5 min: the code of the same satellites`,
    { skip: kind === 'cable off' ? gateOnly : machineOnly },
    async (t) => {
      t.test('shows nothing if the antenna stayed', async (t) => {
        const rig = await outageRig(t, { seed: 3 })
        await rig.fixed()
        await rig.seconds(900)
        await rig.outage(kind, 300, () => {})
        t.equal((await outcome(rig)).status, 'fixed')
        await rig.seconds(960)
        t.equal(rig.status(), 'fixed')
        t.strictSame(texts(rig), [])
      })
      t.test('shows 6 m, which positions do not, within 6 min', async (t) => {
        const rig = await outageRig(t, { seed: 3 })
        await rig.fixed()
        await rig.seconds(900)
        await rig.outage(kind, 300, () => carry(rig, 6))
        const { status } = await outcome(rig)
        if (status === 'fixed') t.ok((await rig.until(() => rig.status() === 'moved', 360)) < 360)
        t.match(texts(rig)[0], /the antenna seems to have moved/)
      })
    },
  )
}

t.test('what must not count', async (t) => {
  // One station for all, which is a base again after each of them.
  const rig = await outageRig(t, { seed: 4 })
  await rig.fixed()
  t.beforeEach(() => rig.seconds(60))
  /** As `runtime/platform/files/data-files.ts` names it. */
  const fileOf = ({ data }: OutageRig) => {
    const digest = createHash('sha256').update(resolve(data)).digest('hex').slice(0, 16)
    return join('/dev/shm', `rtk-base-${process.getuid?.()}-${digest}`, 'integrity', 'continuity', 'last.json')
  }
  const change = (rig: OutageRig, by: (stored: Record<string, unknown>) => object | string) => {
    const stored = JSON.parse(readFileSync(fileOf(rig), 'utf8')) as Record<string, unknown>
    const other = by(stored)
    writeFileSync(fileOf(rig), typeof other === 'string' ? other : JSON.stringify(other))
  }
  type Stored = { moment: { reference: { arp: { x: number } } }; observed: { at_s: number } }
  const later = ({ observed, ...stored }: Stored, by_s: number) => ({
    ...stored,
    observed: { ...observed, at_s: observed.at_s + by_s },
  })
  const cases: [what: string, by: (stored: never) => object | string][] = [
    ['a file of garbage', () => '\u0000{{'],
    ['a file from the future', (stored: Stored) => later(stored, 86_400)],
    ['a file of hours ago', (stored: Stored) => later(stored, -86_400)],
    [
      'a file of another receiver',
      (stored: Stored) => ({ ...stored, moment: { ...stored.moment, who: '["other","",""]' } }),
    ],
    [
      'a file of another reference',
      ({ moment, ...stored }: Stored) => {
        const { arp } = moment.reference
        return { ...stored, moment: { ...moment, reference: { ...moment.reference, arp: { ...arp, x: arp.x + 5 } } } }
      },
    ],
  ]
  for (const [what, by] of few(2, cases)) {
    await t.test(`${what}: the start-up check decides, and the base is back`, async (t) => {
      await rig.kill()
      t.equal(statSync(fileOf(rig)).mode & 0o777, 0o600)
      t.ok(statSync(fileOf(rig)).size < 60_000, `${statSync(fileOf(rig)).size} bytes`)
      change(rig, by as never)
      await rig.start()
      const { status, after_s } = await outcome(rig)
      t.equal(status, 'fixed')
      t.ok(after_s > 55, `${after_s} s`)
      t.strictSame(texts(rig), [])
    })
  }

  await t.test('a system clock that is set meanwhile', async (t) => {
    await rig.kill()
    rig.clock.stepUtc(-86_400_000)
    await rig.start()
    const { status, after_s } = await outcome(rig)
    t.equal(status, 'fixed')
    t.ok(after_s <= 30, `${after_s} s: the time of the satellites counts`)
  })

  await t.test('a receiver that was off meanwhile', async (t) => {
    await rig.kill()
    rig.control.unplug()
    rig.control.replug()
    await rig.seconds(30)
    await rig.start()
    t.equal((await outcome(rig)).status, 'fixed')
    t.strictSame(texts(rig), [])
  })

  await t.test('a move that a person has confirmed is not found again', async (t) => {
    await rig.outage('service killed', 10, () => carry(rig, 1))
    t.equal((await outcome(rig)).status, 'moved')
    await confirmed(rig)
    await rig.seconds(30)
    await rig.outage('service killed', 10, () => {})
    t.equal((await outcome(rig)).status, 'fixed')
    t.strictSame(texts(rig), [])
  })
})

t.test('no false move at a typical site', { skip: gateOnly }, async (t) => {
  for (let seed = 11; seed < 11 + sample(1, 3); seed++) {
    const rig = await outageRig(t, { seed, noise: 'typical' })
    await rig.fixed()
    await rig.seconds(120)
    for (const [kind, away_s] of [
      ['service killed', 20],
      ['line off', 120],
      ['service killed', 600],
      ['cable off', 60],
    ] as const) {
      await rig.outage(kind, away_s, () => {})
      t.equal((await outcome(rig, 900)).status, 'fixed', `${kind} for ${away_s} s, seed ${seed}`)
      await rig.seconds(400)
    }
    t.equal(rig.status(), 'fixed')
  }
})
