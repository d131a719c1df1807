/** Settings of the driver of a receiver. */
import type {
  ReceiverIdentity,
  ReceiverOutput,
  SwitchableConstellation,
} from '../../../../schemas/services/receiver.js'

/** Messages and tracking of a base: the options of the plugin, overridden by the `output` of a target. */
export interface BaseSettings {
  readonly msm: 4 | 7
  readonly observationInterval_s: number
  readonly referenceInterval_s: number
  readonly biasInterval_s: number
  /** Undefined: the receiver's own setting. */
  readonly elevationMask_deg: number | undefined
  /** Undefined: all. */
  readonly constellations: readonly SwitchableConstellation[] | undefined
}

/** Whether a base with these settings tracks the constellation. QZSS is switched together with GPS. */
export function tracks({ constellations }: BaseSettings, name: SwitchableConstellation | 'qzss'): boolean {
  return constellations?.includes(name === 'qzss' ? 'gps' : name) ?? true
}

/** Members of a target's `output` that the driver applies. */
export const takenOutput: ReadonlySet<keyof ReceiverOutput> = new Set([
  ...(['constellations', 'elevationMask_deg', 'msm'] as const),
  ...(['observationInterval_s', 'referenceInterval_s', 'biasInterval_s'] as const),
])

/** The identity of an unknown receiver. */
export const nobody: ReceiverIdentity = {
  maker: '',
  module: '',
  firmware: '',
  hardware: '',
  software: '',
  serial: '',
}
