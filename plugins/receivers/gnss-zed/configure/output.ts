/** Satellites and messages of the base: the plugin's options, and what a person chose instead. Pure. */
import type { ReceiverOutput, SwitchableConstellation } from 'rtk-base/services'
import type { ConfigPair } from '../ubx/config.js'
import { keyId } from '../ubx/keys.js'
import type { Firmware } from './firmware.js'

/** The options `rtcm`. */
export interface RtcmOptions {
  /** One type for all constellations: receivers of the stream need not expect a mixture. */
  msm: 4 | 7
  /** Seconds between two messages; all MSM have the same. */
  msmInterval_s: number
  referenceInterval_s: number
  biasInterval_s: number
}

/** Undefined: as the receiver has it. */
export interface Output {
  readonly constellations: readonly SwitchableConstellation[] | undefined
  readonly elevationMask_deg: number | undefined
  readonly msm: 4 | 7
  readonly observationInterval_s: number
  readonly referenceInterval_s: number
  readonly biasInterval_s: number
}

/** Members that `configure` takes. */
export const takenOutput: ReadonlySet<keyof ReceiverOutput> = new Set([
  'constellations',
  'elevationMask_deg',
  'msm',
  'observationInterval_s',
  'referenceInterval_s',
  'biasInterval_s',
])

export function outputOf(options: RtcmOptions, chosen: ReceiverOutput = {}): Output {
  return {
    constellations: chosen.constellations,
    elevationMask_deg: chosen.elevationMask_deg,
    msm: chosen.msm ?? options.msm,
    observationInterval_s: chosen.observationInterval_s ?? options.msmInterval_s,
    referenceInterval_s: chosen.referenceInterval_s ?? options.referenceInterval_s,
    biasInterval_s: chosen.biasInterval_s ?? options.biasInterval_s,
  }
}

/** Whether observations of a constellation are sent. */
export const sends = ({ constellations }: Output, one: SwitchableConstellation): boolean =>
  constellations?.includes(one) ?? true

/** CFG-SIGNAL of each constellation. GPS and QZSS share their signals, so they are switched together. */
const enables: readonly (readonly [SwitchableConstellation, readonly number[]])[] = [
  ['gps', [keyId('CFG-SIGNAL-GPS_ENA'), keyId('CFG-SIGNAL-QZSS_ENA')]],
  ['galileo', [keyId('CFG-SIGNAL-GAL_ENA')]],
  ['beidou', [keyId('CFG-SIGNAL-BDS_ENA')]],
  ['glonass', [keyId('CFG-SIGNAL-GLO_ENA')]],
]

/** Empty: as the receiver has them. Firmware without GLONASS is only asked for it if a person wants it, so that its refusal is reported. */
export function signalPairs(output: Output, { glonass }: Firmware): ConfigPair[] {
  if (!output.constellations) return []
  return enables
    .filter(([name]) => name !== 'glonass' || glonass || sends(output, 'glonass'))
    .flatMap(([name, keys]) => keys.map((key): ConfigPair => [key, sends(output, name) ? 1 : 0]))
}
