/** Navigation of the receiver, from the model: fix, position with converging noise, survey-in, time mode. */
import { distance, geodeticToEcef, offsetEnu } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'
import { type Enu, type Epoch, GaussMarkov, type Model, type Track } from 'rtk-base/simulation'
import { type Static, Type } from 'typebox'
import type { ConfigStore } from './firmware/config-store.js'
import { keyId } from './ubx/keys.js'

export type CarrierSolution = 'none' | 'float' | 'fixed'

/** Corrections as they came in; ages in receiver seconds. */
export interface Corrections {
  /** Age of the newest observation message. */
  age_s: number
  /** Time in which corrections have come without a gap, with a reference position. */
  steady_s: number
  /** Error of their reference position. */
  error: Ecef
}

/** The probability of ambiguities that are fixed to wrong numbers, and the error of the position then. */
export interface WrongFix {
  probability: number
  by: Enu
}

export interface Solution {
  /** As NAV-PVT.fixType. */
  fixType: number
  carrier: CarrierSolution
  corrected: boolean
  position: Ecef
  hAcc_m: number
  vAcc_m: number
  pDOP: number
  /** The position without the time mode, as NAV2 reports it. */
  own: { position: Ecef; hAcc_m: number; vAcc_m: number }
  used: readonly Track[]
  /** By satellite key; metres. */
  residuals: ReadonlyMap<number, number>
  /** Whether date and time are known for sure. */
  resolved: boolean
}

const number = Type.Number()

const SurveyIn = Type.Object({
  active: Type.Boolean(),
  valid: Type.Boolean(),
  dur_s: number,
  obs: number,
  mean: EcefShape,
  meanAcc_m: number,
})
export type SurveyIn = Static<typeof SurveyIn>

/** State for the next instance at a reload of the plugin. */
export const NavigationState = Type.Object({
  untilFix_s: number,
  since_s: number,
  hadFix: Type.Boolean(),
  survey: SurveyIn,
  sum: EcefShape,
})
type NavigationState = Static<typeof NavigationState>

/** NAV-SVIN before any survey-in. */
const neverSurveyed: SurveyIn = {
  active: false,
  valid: false,
  dur_s: 0,
  obs: 0,
  mean: { x: 0, y: 0, z: 0 },
  meanAcc_m: 94_868.3264,
}

const key = {
  mode: keyId('CFG-TMODE-MODE'),
  posType: keyId('CFG-TMODE-POS_TYPE'),
  acc: keyId('CFG-TMODE-FIXED_POS_ACC'),
  minDur: keyId('CFG-TMODE-SVIN_MIN_DUR'),
  accLimit: keyId('CFG-TMODE-SVIN_ACC_LIMIT'),
  dgnssMode: keyId('CFG-NAVHPG-DGNSSMODE'),
  dgnssTimeout: keyId('CFG-NAVSPG-CONSTR_DGNSSTO'),
  mask: keyId('CFG-NAVSPG-INFIL_MINELEV'),
}
const [x, y, z, lat, lon, height] = ['ECEF_X', 'ECEF_Y', 'ECEF_Z', 'LAT', 'LON', 'HEIGHT'].map((name) => ({
  coarse: keyId(`CFG-TMODE-${name}`),
  fine: keyId(`CFG-TMODE-${name}_HP`),
}))

/** Horizontal and vertical 1 sigma once converged, metres, and how fast the noise changes. */
const quality = {
  none: { h: 0.7, v: 1.2, tau_s: 600 },
  float: { h: 0.2, v: 0.35, tau_s: 120 },
  fixed: { h: 0.008, v: 0.014, tau_s: 60 },
} as const
const minSatellites = 5
/** Seconds of corrections until the ambiguities are known at all, and from then on until they are whole numbers. */
const floatAfter_s = 3
const fixedAfter_s = 17
/** Seconds of tracking that a first fix needs. */
const hotFix_s = 2
const coldFix_s = 8
const time = { none: 0, threeD: 3, timeOnly: 5 } as const

export class Navigation {
  readonly #model: Model
  readonly #config: ConfigStore
  readonly #noise: Record<CarrierSolution, readonly [GaussMarkov, GaussMarkov, GaussMarkov]>
  survey: SurveyIn = { ...neverSurveyed }
  /** Seconds of tracking that the first fix still needs. */
  #untilFix_s: number = hotFix_s
  #since_s = 0
  #hadFix = false
  #sum: Ecef = { x: 0, y: 0, z: 0 }
  /** Seconds in which whole ambiguities were searched for. */
  #searched_s = 0
  #steady_s = 0
  #wrong: Enu | undefined
  wrongFix: WrongFix = { probability: 0, by: { east: 0, north: 0, up: 0 } }

  constructor(model: Model, config: ConfigStore) {
    this.#model = model
    this.#config = config
    const three = (tau_s: number) =>
      [
        new GaussMarkov(model.random, tau_s),
        new GaussMarkov(model.random, tau_s),
        new GaussMarkov(model.random, tau_s),
      ] as const
    this.#noise = {
      none: three(quality.none.tau_s),
      float: three(quality.float.tau_s),
      fixed: three(quality.fixed.tau_s),
    }
  }

  get state(): NavigationState {
    return {
      untilFix_s: this.#untilFix_s,
      since_s: this.#since_s,
      hadFix: this.#hadFix,
      survey: structuredClone(this.survey),
      sum: { ...this.#sum },
    }
  }

  set state({ untilFix_s, since_s, hadFix, survey, sum }: NavigationState) {
    this.#untilFix_s = untilFix_s
    this.#since_s = since_s
    this.#hadFix = hadFix
    this.survey = structuredClone(survey)
    this.#sum = { ...sum }
  }

  /** The GNSS part starts again. @param cold nothing is known any more, so it takes longer */
  restart(cold: boolean): void {
    // A hot start in the middle of a cold one still has to find the satellites.
    this.#untilFix_s = cold ? coldFix_s : Math.max(hotFix_s, this.#untilFix_s)
    this.#since_s = 0
    this.#hadFix = false
    this.#searched_s = 0
    this.survey = { ...neverSurveyed }
    this.#model.forgetTracks()
  }

  /** CFG-TMODE-MODE was written: a survey-in begins or is forgotten. */
  modeChanged(): void {
    this.#sum = { x: 0, y: 0, z: 0 }
    if (this.mode === 1) this.survey = { ...neverSurveyed, active: true }
    else if (this.mode === 0) this.survey = { ...neverSurveyed }
  }

  /** CFG-TMODE-MODE. */
  get mode(): number {
    return this.#config.get(key.mode)
  }

  /** The position that is sent in 1005: only of a fixed base, or after a valid survey-in. */
  get arp(): Ecef | undefined {
    if (this.mode === 2) return this.#fixedPosition()
    return this.mode === 1 && this.survey.valid ? this.survey.mean : undefined
  }

  solve(epoch: Epoch, dt_s: number, corrections: Corrections | undefined): Solution {
    const mask_deg = this.#config.get(key.mask)
    const used = epoch.tracks.filter(({ sight }) => sight.elevation_deg >= mask_deg)
    this.#count(used.length >= minSatellites, dt_s)
    const arp = this.arp
    const hasFix = used.length >= minSatellites && this.#untilFix_s <= 0
    if (hasFix) this.#hadFix = true
    const carrier = this.#carrier(hasFix && this.mode === 0 ? corrections : undefined, dt_s)
    const corrected = hasFix && this.mode === 0 && this.#fresh(corrections)
    // The noise always continues, so that a mode change does not make the position jump.
    const alone = this.#error('none', dt_s)
    const drift = this.#model.surroundings.drift(epoch.gps_s, dt_s)
    const own = offsetEnu(this.#model.truth, {
      east: alone.east + drift[0],
      north: alone.north + drift[1],
      up: alone.up + drift[2],
    })
    const error = carrier === 'none' ? scaled(alone, corrected ? 0.5 : 1) : this.#error(carrier, dt_s)
    const position = corrected ? this.#correctedPosition(error, corrections) : own
    const acc_m = arp ? this.#config.get(key.acc) / 1e4 || 0.01 : undefined
    const solution: Solution = {
      fixType: hasFix ? (arp ? time.timeOnly : time.threeD) : time.none,
      carrier,
      corrected,
      position: arp ?? position,
      own: { position: own, hAcc_m: alone.hAcc_m, vAcc_m: alone.vAcc_m },
      hAcc_m: acc_m ?? error.hAcc_m,
      vAcc_m: acc_m ?? error.vAcc_m,
      pDOP: arp || !hasFix ? 99.99 : 0.9 + 12 / Math.max(8, used.length),
      used: hasFix ? used : [],
      residuals: this.#residuals(used, arp),
      resolved: this.#hadFix,
    }
    if (hasFix) this.#surveyIn(solution, dt_s)
    return solution
  }

  #count(tracking: boolean, dt_s: number): void {
    if (!tracking) {
      this.#since_s = 0
      this.#untilFix_s = Math.max(this.#untilFix_s, hotFix_s)
      return
    }
    if (this.#untilFix_s > 0) this.#untilFix_s -= dt_s
    else this.#since_s += dt_s
  }

  #fresh(corrections: Corrections | undefined): boolean {
    return corrections !== undefined && corrections.age_s < this.#config.get(key.dgnssTimeout)
  }

  /** A search for whole ambiguities begins again after a gap in the corrections or the fixes, and after float only. */
  #carrier(corrections: Corrections | undefined, dt_s: number): CarrierSolution {
    const isFloat = corrections !== undefined && corrections.age_s <= 10 && corrections.steady_s >= floatAfter_s
    const isNew = corrections !== undefined && corrections.steady_s < this.#steady_s
    this.#steady_s = corrections?.steady_s ?? 0
    if (!isFloat || isNew || this.#config.get(key.dgnssMode) !== 3) this.#searched_s = 0
    else this.#searched_s += dt_s
    if (this.#searched_s < fixedAfter_s) {
      this.#wrong = undefined
      return isFloat ? 'float' : 'none'
    }
    this.#wrong ??= this.#drawFix()
    return 'fixed'
  }

  #drawFix(): Enu {
    const { probability, by } = this.wrongFix
    const isWrong = probability >= 1 || (probability > 0 && this.#model.random.uniform() < probability)
    return isWrong ? by : { east: 0, north: 0, up: 0 }
  }

  /** Relative to the base: includes the error of the base position. */
  #correctedPosition(error: Enu, corrections: Corrections | undefined): Ecef {
    const wrong = this.#wrong ?? { east: 0, north: 0, up: 0 }
    const { x: ex, y: ey, z: ez } = corrections?.error ?? { x: 0, y: 0, z: 0 }
    const place = offsetEnu(this.#model.truth, {
      east: error.east + wrong.east,
      north: error.north + wrong.north,
      up: error.up + wrong.up,
    })
    return { x: place.x + ex, y: place.y + ey, z: place.z + ez }
  }

  #error(carrier: CarrierSolution, dt_s: number) {
    const { profile } = this.#model.surroundings
    const rougher = carrier === 'none' ? profile.position : profile.rtk
    const h = quality[carrier].h * rougher
    const v = quality[carrier].v * rougher
    const scale = carrier === 'fixed' ? 1 : 1 + 5 * Math.exp(-this.#since_s / 8)
    const [east, north, up] = this.#noise[carrier]
    const white = 0.1 * scale
    const { random } = this.#model
    return {
      east: h * (scale * 0.7 * east.step(dt_s) + white * random.normal()),
      north: h * (scale * 0.7 * north.step(dt_s) + white * random.normal()),
      up: v * (scale * up.step(dt_s) + white * random.normal()),
      hAcc_m: h * scale * 1.2,
      vAcc_m: v * scale * 1.2,
    }
  }

  /** Measured minus predicted range; the common part goes into the clock. */
  #residuals(used: readonly Track[], arp: Ecef | undefined): Map<number, number> {
    const truth = this.#model.truth
    const raw = used.map(({ sight, noise_m }) => {
      if (!arp) return noise_m
      const { los } = sight
      return noise_m + los.x * (arp.x - truth.x) + los.y * (arp.y - truth.y) + los.z * (arp.z - truth.z)
    })
    const mean = raw.length > 0 ? raw.reduce((sum, value) => sum + value, 0) / raw.length : 0
    return new Map(used.map(({ sight }, i) => [sight.key, raw[i] - mean] as const))
  }

  #surveyIn(solution: Solution, dt_s: number): void {
    const { survey } = this
    if (!survey.active) return
    // A real receiver counts the first observation at 0 s.
    if (survey.obs > 0) survey.dur_s += dt_s
    survey.obs++
    const sum = this.#sum
    sum.x += solution.position.x
    sum.y += solution.position.y
    sum.z += solution.position.z
    survey.mean = { x: sum.x / survey.obs, y: sum.y / survey.obs, z: sum.z / survey.obs }
    survey.meanAcc_m = (Math.hypot(solution.hAcc_m, solution.vAcc_m) * 3) / Math.sqrt(1 + survey.dur_s / 20)
    const longEnough = survey.dur_s >= this.#config.get(key.minDur)
    if (longEnough && survey.meanAcc_m <= this.#config.get(key.accLimit) / 1e4) {
      survey.active = false
      survey.valid = true
    }
  }

  #fixedPosition(): Ecef {
    const value = ({ coarse, fine }: { coarse: number; fine: number }) =>
      this.#config.get(coarse) * 100 + this.#config.get(fine)
    // The sum of two parts in floating point: now and then it is a little below the decimal number that was entered.
    const metres = ({ coarse, fine }: { coarse: number; fine: number }) =>
      this.#config.get(coarse) * 0.01 + this.#config.get(fine) * 0.0001
    if (this.#config.get(key.posType) === 0) return { x: metres(x), y: metres(y), z: metres(z) }
    return geodeticToEcef({ lat: value(lat) / 1e9, lon: value(lon) / 1e9, alt: value(height) / 1e4 })
  }

  /** The reference is too far from the antenna: a base warns of that. */
  get implausible(): boolean {
    return this.mode === 2 && distance(this.#fixedPosition(), this.#model.truth) > 50
  }
}

interface PositionError extends Enu {
  hAcc_m: number
  vAcc_m: number
}

function scaled({ east, north, up, hAcc_m, vAcc_m }: PositionError, by: number): PositionError {
  return { east: east * by, north: north * by, up: up * by, hAcc_m: hAcc_m * by, vAcc_m: vAcc_m * by }
}
