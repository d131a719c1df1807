/** The carrier phases of the station's own observations: frames and directions in, antenna moves out. */
import { isMsm, type MsmEpoch, MsmEpochs, stationId } from 'rtk-base/gnss'
import type { MoveEvidence, RtcmFrame } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { stale_ms } from './limits.js'
import { OrbitSky } from './orbit-sky.js'
import { PhaseWatch } from './phase/phase-watch.js'
import type { PhaseReport } from './phase/report.js'
import { type KnownSatellite, type Sky, skyOf } from './phase/sky.js'

/** Lifetime of known directions: a satellite moves by up to 0.6° in a minute. */
const skyLasts_ms = 60_000
/** Lifetime of a report from a slow receiver, in observation intervals. */
const staleIntervals = 2.5

export interface PhaseOptions {
  /** False: carrier phases are ignored. */
  enabled: boolean
  /** Net displacement within 10 s that counts as a move, metres. */
  threshold_m: number
}

/** About two minutes at 1 Hz with four constellations. A full buffer is halved. */
const mostFrames = 960

/** The largest frame: 1023 bytes with header and checksum. */
const longestFrame = 1029
const Frame = Type.Refine(
  Type.Unsafe<Uint8Array>({}),
  (value) => value instanceof Uint8Array && value.length <= longestFrame,
)
const number = Type.Number()

/** State handed over to the next instance on a reload. */
export const PhaseSnapshot = Type.Object({
  frames: Type.Array(Frame, { maxItems: mostFrames }),
  satellites: Type.Array(
    Type.Unsafe<KnownSatellite>(
      Type.Object({
        ...{ constellation: Type.String(), satellite: number, azimuth_deg: number, elevation_deg: number },
      }),
    ),
  ),
  at_ms: number,
})
type PhaseSnapshot = Static<typeof PhaseSnapshot>

/** An epoch and its result; `report` is undefined for a late epoch. */
export interface HeardEpoch {
  readonly epoch: MsmEpoch
  readonly report: PhaseReport | undefined
}

export class AntennaPhases {
  readonly #epochs = new MsmEpochs()
  readonly #watch: PhaseWatch | undefined
  readonly #orbits: OrbitSky
  #sky: Sky | undefined
  #skyAt_ms = 0
  #newest: PhaseReport | undefined
  #newestAt_ms = 0
  /** The frames of the last epochs, from which the next plugin instance rebuilds the history. */
  #frames: Uint8Array[] = []
  #satellites: readonly KnownSatellite[] = []

  /** @param orbits for exact directions */
  constructor({ enabled, threshold_m }: PhaseOptions, orbits = new OrbitSky(() => undefined)) {
    this.#watch = enabled ? new PhaseWatch({ threshold_m }) : undefined
    this.#orbits = orbits
  }

  /** The known satellite directions. */
  look(satellites: readonly KnownSatellite[], now_ms: number): void {
    this.#skyAt_ms = now_ms
    this.#satellites = satellites
    this.#sky = skyOf(satellites)
  }

  /** @param station configured station ID: frames of other stations come from another antenna @returns the epochs that the frame completes, mostly none or one */
  hear({ type, bytes, arrival_ms }: RtcmFrame, station: number): HeardEpoch[] {
    if (!isMsm(type) || stationId(bytes) !== station) return []
    this.#frames.push(bytes)
    if (this.#frames.length > mostFrames) this.#frames = this.#frames.slice(-mostFrames / 2)
    const sky = arrival_ms - this.#skyAt_ms <= skyLasts_ms ? this.#sky : undefined
    return this.#epochs.push(bytes).map((epoch) => {
      const report = this.#watch?.take(epoch, this.#orbits.over(sky, epoch.time_ms))
      if (report) {
        this.#newest = report
        this.#newestAt_ms = arrival_ms
      }
      return { epoch, report }
    })
  }

  /** For the next instance of the plugin. */
  snapshot(): PhaseSnapshot {
    const satellites = this.#satellites.flatMap(({ constellation, satellite, azimuth_deg, elevation_deg }) =>
      // Without a direction it is in no sky.
      [satellite, azimuth_deg, elevation_deg].every(Number.isFinite)
        ? [{ constellation, satellite, azimuth_deg, elevation_deg }]
        : [],
    )
    return { frames: this.#frames, satellites, at_ms: this.#newestAt_ms }
  }

  /** Continues from the state of the previous instance. */
  restore({ frames, satellites, at_ms }: PhaseSnapshot): void {
    this.#satellites = satellites
    this.#sky = skyOf(satellites)
    this.#skyAt_ms = at_ms
    for (const bytes of frames) {
      this.#frames.push(bytes)
      for (const epoch of this.#epochs.push(bytes)) this.#watch?.take(epoch, this.#sky)
    }
  }

  /** Whether carrier phases are used. */
  get enabled(): boolean {
    return this.#watch !== undefined
  }

  /** The newest report, unless it is stale. */
  at(now_ms: number): PhaseReport | undefined {
    const newest = this.#newest
    const lasts_ms = Math.max(stale_ms, staleIntervals * 1000 * (newest?.interval_s ?? 0))
    return now_ms - this.#newestAt_ms <= lasts_ms ? newest : undefined
  }
}

/** Evidence of one epoch that the antenna may have moved, if any. It counts at once. */
export function evidenceOf({ contradiction, interrupted, lossOfLock }: PhaseReport): MoveEvidence | undefined {
  if (interrupted) return unknown('the observations paused for longer than their carrier phases can bridge')
  if (!lossOfLock && !contradiction) return undefined
  return unknown('most signals were lost, or their phases contradict each other')
}

/** Nothing is known about the antenna. */
export const unknown = (text: string): MoveEvidence => ({ moved: undefined, by: 'phases', text, size_m: undefined })
