/** The newest survey-in as a curve: decimated, so that a page that opens late shows all of it. */
import type { Ecef } from 'rtk-base/services'

export interface SurveyPoint {
  /** Seconds since it began. */
  readonly t: number
  /** Where the receiver is now, and the mean so far; ECEF, metres. */
  readonly now: Ecef
  readonly mean: Ecef
  /** Stated accuracy, 3D 1 sigma, metres. */
  readonly acc: number
}

/** The parts `gnss.ref.survey` and `gnss.pos` of the document. */
interface SurveyFacts {
  readonly state: string
  readonly elapsed: number
  readonly count: number
  readonly acc: number
  readonly mean: Ecef
  readonly now: Ecef
}

/** Undefined while there is nothing to be drawn. */
export function surveyFactsOf(document: Record<string, unknown>): SurveyFacts | undefined {
  const { gnss } = document as {
    gnss?: { pos?: Ecef & { t: number }; ref?: { survey?: Ecef & Omit<SurveyFacts, 'mean' | 'now'> } }
  }
  // Time 0 means no position yet.
  if (!gnss?.pos?.t || !gnss.ref?.survey) return undefined
  const { state, elapsed, count, acc, x, y, z } = gnss.ref.survey
  return { state, elapsed, count, acc, mean: { x, y, z }, now: { x: gnss.pos.x, y: gnss.pos.y, z: gnss.pos.z } }
}

const most = 600

export class SurveyCurve {
  readonly #look: () => SurveyFacts | undefined
  #points: SurveyPoint[] = []
  /** Seconds between two points: doubled when there are too many. */
  #spacing_s = 1

  constructor(look: () => SurveyFacts | undefined) {
    this.#look = look
  }

  get points(): readonly SurveyPoint[] {
    return this.#points
  }

  /** Called once a second. @returns the new point; `anew` for a new curve; undefined: nothing new */
  take(): SurveyPoint | 'anew' | undefined {
    const facts = this.#look()
    if (facts?.state !== 'running') return undefined
    if (facts.count === 0) return this.#clear()
    const last = this.#points.at(-1)
    const { elapsed: t, now, mean, acc } = facts
    if (last && t < last.t) {
      this.#points = [{ t, now, mean, acc }]
      this.#spacing_s = 1
      return 'anew'
    }
    if (last && t - last.t < this.#spacing_s) return undefined
    const point = { t, now, mean, acc }
    this.#points.push(point)
    if (this.#points.length <= most) return point
    this.#points = this.#points.filter((_, index) => index % 2 === 0)
    this.#spacing_s *= 2
    return 'anew'
  }

  /** A new one has begun: the one before it must not look like it. */
  #clear(): 'anew' | undefined {
    if (this.#points.length === 0) return undefined
    this.#points = []
    this.#spacing_s = 1
    return 'anew'
  }

  /** Continues the curve of the previous instance. */
  restore(points: readonly SurveyPoint[]): void {
    this.#points = [...points]
    const [first, second] = points
    this.#spacing_s = first && second ? Math.max(1, second.t - first.t) : 1
  }
}
