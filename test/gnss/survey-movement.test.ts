/** The movement check on residuals of the simulated sky: what it finds, and that it finds nothing where nothing is. */
import fc from 'fast-check'
import { Model } from 'rtk-base/simulation'
import t from 'tap'
import { MovementWatch } from '../../plugins/reference/integrity/code/movement.js'
import { offsetOf } from '../../plugins/reference/integrity/code/residual-offset.js'
import { distance, offsetEnu, roundEcef } from '../../runtime/lib/gnss/index.js'
import type { Ecef, ReceiverFix, SatelliteResidual } from '../../schemas/services.js'
import { few, gateOnly, sample } from '../harness/sample.js'

const begin_ms = Date.UTC(2026, 10, 21)

/** A base over simulated satellites with multipath; steps at 1 Hz. */
class Sky {
  readonly model: Model
  seconds = 0
  constructor(seed: number) {
    this.model = new Model({ seed, lat: 52, lon: 4, alt: 50 })
  }

  residuals(arp: Ecef): SatelliteResidual[] {
    this.seconds++
    const { truth } = this.model
    const { tracks } = this.model.epoch(begin_ms + this.seconds * 1000, 1, true)
    return tracks.map(({ sight, noise_m }) => {
      const { los, constellation, svId, azimuth_deg, elevation_deg } = sight
      const along = los.x * (arp.x - truth.x) + los.y * (arp.y - truth.y) + los.z * (arp.z - truth.z)
      const residual_m = noise_m + along + constellation.name.length
      return {
        constellation: constellation.name,
        satellite: svId,
        // As NAV-SAT has them.
        azimuth_deg: Math.round(azimuth_deg),
        elevation_deg: Math.round(elevation_deg),
        residual_m,
        used: true,
      }
    })
  }

  /** @returns after how many seconds it was suspected, and why; undefined when it was not */
  run(watch: MovementWatch, arp: Ecef, seconds: number): { after_s: number; why: string } | undefined {
    for (let i = 1; i <= seconds; i++) {
      const suspect = watch.residuals(this.residuals(arp), this.seconds * 1000)
      if (suspect) return { after_s: i, why: suspect.text }
    }
    return undefined
  }
}

t.test('raises no alarm without a move, wherever the reference is within the start-up check', async (t) => {
  for (const [what, off_m] of few(1, [
    ['at the antenna', 0],
    ['14 m beside it', 14],
  ] as const)) {
    t.test(what, async (t) => {
      const sky = new Sky(1)
      const arp = roundEcef(offsetEnu(sky.model.truth, { east: off_m, north: 0, up: 0 }))
      const watch = new MovementWatch({ arp, acc_m: 1 }, { position: sky.model.truth, acc_m: 1 })
      const hours = off_m === 0 ? sample(1, 24, 3) : sample(1, 6, 2)
      t.equal(sky.run(watch, arp, hours * 3600), undefined)
      const delta_m = watch.delta_m(sky.seconds * 1000) ?? 0
      t.ok(Math.abs(delta_m - off_m) < 4, `${delta_m.toFixed(1)} m`)
    })
  }
})

t.test('finds a move', async (t) => {
  const moves: [what: string, steady_s: number, enu: [number, number, number], within_s: number][] = [
    ['by 30 m after a minute', 60, [30, 0, 0], 30],
    ['by 30 m in the first seconds', 2, [0, -30, 0], 30],
    ['by 30 m after an hour', 3600, [0, 30, 0], 30],
    ['by 11 m, in half a minute', 1200, [0, 11, 0], 40],
    ['by 16 m upwards, in half a minute', 1200, [0, 0, 16], 40],
    ['by 12 m upwards', 1200, [0, 0, 12], 140],
    ['by 8 m, as a median of 30 min', 1900, [5, 5, 3.7], 1900],
  ]
  for (const [what, steady_s, [east, north, up], within_s] of few(3, moves)) {
    t.test(what, async (t) => {
      const sky = new Sky(2)
      const arp = roundEcef(sky.model.truth)
      const watch = new MovementWatch({ arp, acc_m: 1 }, { position: arp, acc_m: 1 })
      t.equal(sky.run(watch, arp, steady_s), undefined)
      sky.model.move(east, north, up)
      const found = sky.run(watch, arp, within_s)
      t.ok(found, `after ${found?.after_s} s: ${found?.why}`)
    })
  }
  t.test('not of 2 m', { skip: gateOnly }, async (t) => {
    const sky = new Sky(3)
    const arp = roundEcef(sky.model.truth)
    const watch = new MovementWatch({ arp, acc_m: 1 }, { position: arp, acc_m: 1 })
    sky.run(watch, arp, 1300)
    sky.model.move(1, 1, 1)
    t.equal(sky.run(watch, arp, 7200), undefined)
  })
  t.test('with the baselines of the watch before it, where the base was reloaded', async (t) => {
    const sky = new Sky(4)
    const arp = roundEcef(sky.model.truth)
    const first = new MovementWatch({ arp, acc_m: 1 }, undefined)
    sky.run(first, arp, 700)
    t.ok(first.baselines.residuals)
    const second = new MovementWatch({ arp, acc_m: 1 }, undefined, structuredClone(first.baselines))
    sky.model.move(30, 0, 0)
    t.ok((sky.run(second, arp, 30)?.after_s ?? 99) <= 30)
  })
  t.test('without any prior only after the first minute', async (t) => {
    const sky = new Sky(5)
    const arp = roundEcef(sky.model.truth)
    const watch = new MovementWatch({ arp, acc_m: 1 }, undefined)
    t.equal(sky.run(watch, arp, 90), undefined)
    sky.model.move(30, 0, 0)
    t.ok(sky.run(watch, arp, 30))
  })
  t.test('by a second solution, and not by its echo of the reference', async (t) => {
    const { truth } = new Sky(1).model
    const fix = (position: Ecef, kind: ReceiverFix['fix']): ReceiverFix => ({
      t: 0,
      fix: kind,
      ok: true,
      position,
      lat: 0,
      lon: 0,
      alt: 0,
      acc_m: 1,
      geoidSeparation_m: 0,
      satellitesUsed: 20,
      corrected: false,
      arrival_ms: 0,
    })
    const watch = new MovementWatch({ arp: truth, acc_m: 1 }, { position: truth, acc_m: 1 })
    const away = offsetEnu(truth, { east: 12, north: 0, up: 0 })
    const found = (kind: ReceiverFix['fix']) => {
      for (let i = 0; i < 150; i++) if (watch.secondFix(fix(away, kind), i * 1000) !== undefined) return i
    }
    t.equal(found('time'), undefined)
    const after_s = found('3d') ?? 999
    t.ok(after_s <= 40, `${after_s} s`)
    t.ok(Math.abs((watch.delta_m(after_s * 1000) ?? 0) - 12) < 0.01)
  })
})

t.test('the least squares of residuals', async (t) => {
  t.test('gives any offset back, whatever the clocks', async () => {
    const metres = fc.double({ min: -100, max: 100, noNaN: true })
    fc.assert(
      fc.property(
        metres,
        metres,
        metres,
        fc.array(metres, { minLength: 4, maxLength: 4 }),
        (east, north, up, clocks) => {
          const sky = new Sky(6)
          const { truth } = sky.model
          const arp = offsetEnu(truth, { east: -east, north: -north, up: -up })
          const names = ['GPS', 'GLONASS', 'Galileo', 'BeiDou']
          const { tracks } = sky.model.epoch(begin_ms, 1, true)
          const residuals = tracks.map(({ sight }) => {
            const { los, constellation, svId, azimuth_deg, elevation_deg } = sight
            const along = los.x * (arp.x - truth.x) + los.y * (arp.y - truth.y) + los.z * (arp.z - truth.z)
            const residual_m = along + (clocks[names.indexOf(constellation.name)] ?? 0)
            return {
              constellation: constellation.name,
              satellite: svId,
              azimuth_deg,
              elevation_deg,
              residual_m,
              used: true,
            }
          })
          const found = offsetOf(residuals)
          return found !== undefined && distance(offsetEnu(arp, found), truth) < 0.01
        },
      ),
      { numRuns: 50 },
    )
  })
  t.test('says nothing with fewer than 8 used satellites, or where they all stand in one place', async (t) => {
    const one = { constellation: 'gps', azimuth_deg: 10, elevation_deg: 40, residual_m: 1, used: true }
    const few = [...Array(7).keys()].map((satellite) => ({ ...one, satellite, azimuth_deg: satellite * 50 }))
    t.equal(offsetOf(few), undefined)
    t.equal(offsetOf([...few, { ...one, satellite: 9, used: false }]), undefined)
    t.equal(offsetOf([...Array(12).keys()].map((satellite) => ({ ...one, satellite }))), undefined)
  })
})
