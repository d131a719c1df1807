/** Where the receiver believes to be, and the position that it announces as a base. */
import { distance, offsetEnu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Enu, type Epoch, GaussMarkov, type Model, type Track } from 'rtk-base/simulation'
import { enteredPosition, type Mode } from './mode.js'

export interface Solution {
  /** Its own position; undefined: no fix. */
  readonly position: Ecef | undefined
  readonly used: readonly Track[]
  readonly sigma_m: Enu
}

/** Plain data: a reload continues a survey. */
export interface NavigationState {
  untilFix_s: number
  since_s: number
  survey: { seconds: number; sum: Ecef }
  reference: Ecef | undefined
}

const minSatellites = 5
/** Seconds of tracking until the first fix; cold as recorded. */
const hotFix_s = 3
const coldFix_s = 8
/** An entered position that is further away than this is not believed. */
const tooFar_m = 300

export class Navigation {
  readonly #model: Model
  readonly #errors: readonly [GaussMarkov, GaussMarkov, GaussMarkov]
  state: NavigationState
  /** It sends no RTCM: the entered position is elsewhere. */
  refused = false

  constructor(model: Model) {
    this.#model = model
    const slow = () => new GaussMarkov(model.random, 600)
    this.#errors = [slow(), slow(), slow()]
    this.state = { ...this.#nothing(), untilFix_s: coldFix_s, since_s: 0 }
  }

  restart(cold: boolean): void {
    this.#model.forgetTracks()
    this.state = { ...this.#nothing(), untilFix_s: cold ? coldFix_s : hotFix_s, since_s: 0 }
    this.refused = false
  }

  /** A new mode: the survey begins again. */
  modeChanged(): void {
    this.state = { ...this.state, ...this.#nothing() }
    this.refused = false
  }

  /** @param surveyed the result of the last survey, which outlives a restart */
  step(epoch: Epoch, used: readonly Track[], dt_s: number, base: BaseInput): Solution {
    const solution = this.#solve(epoch, used, dt_s)
    if (solution.position) this.#base(solution.position, dt_s, base)
    return solution
  }

  #nothing() {
    return { survey: { seconds: 0, sum: { x: 0, y: 0, z: 0 } }, reference: undefined }
  }

  #solve(epoch: Epoch, used: readonly Track[], dt_s: number): Solution {
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
    return {
      position: hasFix ? offsetEnu(this.#model.truth, { east, north, up }) : undefined,
      used: hasFix ? used : [],
      // As recorded with 28 satellites: larger than the errors are.
      sigma_m: { east: 1.95 * scale, north: 2.11 * scale, up: 2.64 * scale },
    }
  }

  #base(position: Ecef, dt_s: number, { mode, undulation_m, memory }: BaseInput): void {
    const { state } = this
    const entered = enteredPosition(mode, undulation_m)
    if (entered) {
      this.refused = distance(entered, position) > tooFar_m
      state.reference = this.refused ? undefined : entered
    }
    if (mode.kind !== 'survey' || state.reference) return
    const { survey } = state
    survey.seconds += dt_s
    for (const axis of ['x', 'y', 'z'] as const) survey.sum[axis] += position[axis] * dt_s
    if (survey.seconds < mode.seconds) return
    const { x, y, z } = survey.sum
    const mean = { x: x / survey.seconds, y: y / survey.seconds, z: z / survey.seconds }
    const isNear = memory.surveyed !== undefined && distance(memory.surveyed, mean) <= mode.reuse_m
    // The dangerous quirk: the old position is announced again, and nothing says so.
    if (!isNear) memory.surveyed = mean
    state.reference = memory.surveyed
  }
}

/** Inputs of the position that the base announces. */
export interface BaseInput {
  readonly mode: Mode
  readonly undulation_m: number
  /** What the receiver remembers over a restart without SAVECONFIG. */
  readonly memory: { surveyed?: Ecef }
}
