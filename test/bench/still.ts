/**
 * How often the carrier phases hold a base that stands still: the phase watch alone, under a simulated sky with what a receiver gives (whole
 * degrees, a second late). Seeded, so that runs with other seeds add up: `STILL_DAYS=30 STILL_SEED=100 npm run bench still`.
 */
import { PhaseWatch } from '../../plugins/reference/integrity/phase/phase-watch.js'
import { Scene, type SceneOptions } from '../gnss/support/phase-scenes.js'
import { atMost, figure } from './measurement.js'
import { definePart } from './part.js'

const year_days = 365.25

interface Surroundings {
  readonly name: string
  readonly scene: SceneOptions
  readonly isLimited: boolean
}

const families: readonly Surroundings[] = [
  { name: 'quiet', scene: {}, isLimited: true },
  {
    name: 'typical: multipath of 4 mm, 2 slips a signal and hour',
    scene: { multipath_m: 0.004, slipsPerHour: 2 },
    isLimited: true,
  },
  {
    name: 'obstructed: noise of 4 mm, multipath of 10 mm, 10 slips a signal and hour',
    scene: { noise_m: 0.004, multipath_m: 0.01, slipsPerHour: 10 },
    isLimited: false,
  },
]

interface Counted {
  moved: number
  lost: number
  contradicted: number
  unknown: number
}

/** One station for a day; its holds, not the epochs that they last. */
function day(scene: Scene, seconds: number): Counted {
  const watch = new PhaseWatch()
  const counted: Counted = { moved: 0, lost: 0, contradicted: 0, unknown: 0 }
  let before = false
  for (let second = 0; second < seconds; second++) {
    // As receivers do that let their clock drift for half a millisecond either way.
    if (second % 1500 === 750) scene.stepClock(second % 3000 === 750 ? 1e-3 : -1e-3)
    const { epoch, sky } = scene.next()
    const report = watch.take(epoch, sky)
    if (!report) continue
    if (report.moved && !before) counted.moved++
    if (report.lossOfLock) counted.lost++
    if (report.contradiction) counted.contradicted++
    if (report.moved === undefined) counted.unknown++
    before = report.moved === true
  }
  return counted
}

interface Size {
  readonly days: number
  /** Of a day. */
  readonly seconds: number
}

export const part = definePart<Size>({
  sizes: { full: { days: Number(process.env.STILL_DAYS ?? 1), seconds: 86_400 }, smoke: { days: 1, seconds: 1_200 } },
  notComparable: 'its figures are counts under seeded skies: a round says nothing that the one before has not said',
  async run({ days, seconds }) {
    const firstSeed = Number(process.env.STILL_SEED ?? 1)
    return families.flatMap(({ name, scene, isLimited }) => {
      const sum: Counted = { moved: 0, lost: 0, contradicted: 0, unknown: 0 }
      for (let number = 0; number < days; number++) {
        const counted = day(new Scene({ ...scene, seed: firstSeed + number }), seconds)
        for (const key of ['moved', 'lost', 'contradicted', 'unknown'] as const) sum[key] += counted[key]
      }
      const holds = sum.moved + sum.lost + sum.contradicted
      const years = (days * seconds) / 86_400 / year_days
      const text = `${name}: false holds in ${years.toFixed(3)} station years`
      return [
        // Not even one in the few minutes of a smoke run.
        isLimited ? atMost(text, holds, 1, '', 0) : figure(text, holds, ''),
        figure(`${name}: epochs without a verdict`, (100 * sum.unknown) / (days * seconds), '%'),
      ]
    })
  },
})
