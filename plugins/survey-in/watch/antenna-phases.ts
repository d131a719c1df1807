/** The carrier phases of the station's own observations: frames and directions go in, what the antenna did comes out. */
import {
  isMsm,
  type MsmEpoch,
  MsmEpochs,
  type PhaseReport,
  PhaseWatch,
  type Sky,
  skyOf,
  stationId,
} from 'rtk-base/gnss'
import type { RtcmFrame, SatelliteResidual } from 'rtk-base/services'

/** As u-blox numbers the constellations. */
const gnssIds: Readonly<Record<string, number>> = {
  gps: 0,
  sbas: 1,
  galileo: 2,
  beidou: 3,
  qzss: 5,
  glonass: 6,
  navic: 7,
}
/** Directions are known for so long: a satellite moves by a quarter of a degree in a minute. */
const skyLasts_ms = 60_000
const stale_ms = 10_000

export interface PhaseOptions {
  /** False: carrier phases are not looked at. */
  enabled: boolean
  /** From how far on a net displacement within 10 s is a move, metres. */
  threshold_m: number
}

/** What one epoch said; `report` is undefined for one that came late. */
export interface HeardEpoch {
  readonly epoch: MsmEpoch
  readonly report: PhaseReport | undefined
}

export class AntennaPhases {
  readonly #epochs = new MsmEpochs()
  readonly #watch: PhaseWatch | undefined
  #sky: Sky | undefined
  #skyAt_ms = 0
  #newest: PhaseReport | undefined
  #newestAt_ms = 0

  constructor({ enabled, threshold_m }: PhaseOptions) {
    this.#watch = enabled ? new PhaseWatch({ threshold_m }) : undefined
  }

  /** Where the satellites stand. */
  look(satellites: readonly SatelliteResidual[], now_ms: number): void {
    this.#skyAt_ms = now_ms
    this.#sky = skyOf(
      satellites.map(({ constellation, satellite, azimuth_deg, elevation_deg }) => ({
        gnssId: gnssIds[constellation] ?? -1,
        svId: satellite,
        azimuth_deg,
        elevation_deg,
      })),
    )
  }

  /** @param station that the receiver is configured to send: others are not of our antenna @returns the epochs that the frame completes, mostly none or one */
  hear({ type, bytes, arrival_ms }: RtcmFrame, station: number): HeardEpoch[] {
    if (!isMsm(type) || stationId(bytes) !== station) return []
    const sky = arrival_ms - this.#skyAt_ms <= skyLasts_ms ? this.#sky : undefined
    return this.#epochs.push(bytes).map((epoch) => {
      const report = this.#watch?.take(epoch, sky)
      if (report) {
        this.#newest = report
        this.#newestAt_ms = arrival_ms
      }
      return { epoch, report }
    })
  }

  /** The newest report, unless it is of a time that is over. */
  at(now_ms: number): PhaseReport | undefined {
    return now_ms - this.#newestAt_ms <= stale_ms ? this.#newest : undefined
  }
}

/** What was found, for people. */
export function phaseText({ net }: PhaseReport): string {
  if (!net) return 'the carrier phases show a move'
  const [unit, per] = net.distance_m < 1 ? ['cm', 100] : ['m', 1]
  const part = (name: string, value_m: number) =>
    `${name} ${value_m < 0 ? '-' : '+'}${Math.abs(value_m * per).toFixed(1)}`
  const parts = [part('E', net.east_m), part('N', net.north_m), part('U', net.up_m)].join(' / ')
  return `the carrier phases show a move of ${(net.distance_m * per).toFixed(1)} ${unit} (${parts} ${unit})`
}
