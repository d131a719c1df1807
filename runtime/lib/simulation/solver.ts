/** The position that a simulated receiver computes. */
import { offsetEnu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Epoch, Model, Track } from './model.js'
import type { Enu } from './motion.js'
import { GaussMarkov } from './random.js'

export interface PvtSolution {
  /** Computed position; undefined: no fix. */
  readonly position: Ecef | undefined
  readonly used: readonly Track[]
  readonly sigma_m: Enu
}

/** Plain data: survives a reload. */
export const SolverState = Type.Object({ untilFix_s: Type.Number(), since_s: Type.Number() })
export type SolverState = Static<typeof SolverState>

export interface SolverOptions {
  /** Seconds of tracking until the first fix, after a hot and after a cold start. */
  readonly hotFix_s: number
  readonly coldFix_s: number
  /** Standard deviations that the receiver states in quiet surroundings, metres. */
  readonly stated_m: Enu
}

const minSatellites = 5

export class Solver {
  readonly #model: Model
  readonly #options: SolverOptions
  readonly #errors: readonly [GaussMarkov, GaussMarkov, GaussMarkov]
  state: SolverState

  constructor(model: Model, options: SolverOptions) {
    this.#model = model
    this.#options = options
    const slow = () => new GaussMarkov(model.random, 600)
    this.#errors = [slow(), slow(), slow()]
    this.state = { untilFix_s: options.coldFix_s, since_s: 0 }
  }

  restart(cold: boolean): void {
    this.#model.forgetTracks()
    const { coldFix_s, hotFix_s } = this.#options
    this.state = { untilFix_s: cold ? coldFix_s : hotFix_s, since_s: 0 }
  }

  step(epoch: Epoch, used: readonly Track[], dt_s: number): PvtSolution {
    const { state } = this
    const tracks = used.length >= minSatellites
    if (!tracks) state.since_s = 0
    else if (state.untilFix_s > 0) state.untilFix_s -= dt_s
    else state.since_s += dt_s
    const { profile } = this.#model.surroundings
    const scale = profile.position * (1 + 5 * Math.exp(-state.since_s / 8))
    const drift = this.#model.surroundings.drift(epoch.gps_s, dt_s)
    const [east, north, up] = this.#errors.map((error, axis) => {
      const size_m = axis === 2 ? 1.2 : 0.5
      return size_m * scale * (error.step(dt_s) + 0.1 * this.#model.random.normal()) + drift[axis]
    })
    const hasFix = tracks && state.untilFix_s <= 0
    const { stated_m } = this.#options
    return {
      position: hasFix ? offsetEnu(this.#model.truth, { east, north, up }) : undefined,
      used: hasFix ? used : [],
      sigma_m: { east: stated_m.east * scale, north: stated_m.north * scale, up: stated_m.up * scale },
    }
  }
}
