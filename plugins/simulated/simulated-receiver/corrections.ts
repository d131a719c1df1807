/** The correction input of the simulated receiver: input, age, and its reports. */
import { constellationOf, isMsm, type ReferencePoint, referencePoint } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { Corrections } from './solution.js'

/** After a gap longer than this the ambiguities are determined again. */
const gap_ms = 10_000

/** Reports that wait for the next epoch; a receiver has a bounded buffer too. */
const mostReports = 256

/** A message that came in. */
export interface HeardCorrection {
  readonly isUsed: boolean
  readonly stationId: number
  readonly type: number
}

export class CorrectionInput {
  #observation_ms: number | undefined
  #since_ms: number | undefined
  #reference: ReferencePoint | undefined
  /** Where the bases of this world truly are, by station ID. */
  readonly bases = new Map<number, Ecef>()
  readonly #reports: HeardCorrection[] = []

  /** @param type message number of a verified frame */
  hear(frame: Uint8Array, type: number, now_ms: number, listening: boolean): void {
    const stationId = frame.length >= 8 ? ((frame[4] & 15) << 8) | frame[5] : 0
    const isUsed = listening && (isMsm(type) || type === 1005 || type === 1006 || type === 1230)
    if (this.#reports.length < mostReports) this.#reports.push({ isUsed, stationId, type })
    this.#reference = referencePoint(frame) ?? this.#reference
    if (!constellationOf(type)) return
    if (this.#observation_ms === undefined || now_ms - this.#observation_ms > gap_ms) this.#since_ms = now_ms
    this.#observation_ms = now_ms
  }

  /** Undefined before the first complete set. */
  state(now_ms: number): Corrections | undefined {
    if (this.#observation_ms === undefined || this.#since_ms === undefined || !this.#reference) return undefined
    return {
      age_s: (now_ms - this.#observation_ms) / 1000,
      steady_s: (now_ms - this.#since_ms) / 1000,
      error: this.#error(this.#reference),
    }
  }

  /** The input since the last call. */
  reports(): HeardCorrection[] {
    return this.#reports.splice(0)
  }

  forget(): void {
    this.#observation_ms = undefined
    this.#since_ms = undefined
    this.#reference = undefined
    this.#reports.length = 0
  }

  #error({ stationId, arp }: ReferencePoint): Ecef {
    const truth = this.bases.get(stationId) ?? arp
    return { x: arp.x - truth.x, y: arp.y - truth.y, z: arp.z - truth.z }
  }
}
