/** What the driver of a receiver is configured with. */
import type { ReceiverIdentity, ReceiverOutput, SwitchableConstellation } from '../../../schemas/services/receiver.js'

/** The messages of a base: the options of the plugin, over which the `output` of a target stands. */
export interface BaseSettings {
  readonly msm: 4 | 7
  readonly observationInterval_s: number
  readonly referenceInterval_s: number
  readonly biasInterval_s: number
  /** As the receiver has it. */
  readonly elevationMask_deg: number | undefined
  /** All. */
  readonly constellations: readonly SwitchableConstellation[] | undefined
}

/** Whether this set of a base tracks it; QZSS goes with GPS. */
export function tracks({ constellations }: BaseSettings, name: SwitchableConstellation | 'qzss'): boolean {
  return constellations?.includes(name === 'qzss' ? 'gps' : name) ?? true
}

/** Members of a target's `output` that are taken. */
export const takenOutput: ReadonlySet<keyof ReceiverOutput> = new Set([
  ...(['constellations', 'elevationMask_deg', 'msm'] as const),
  ...(['observationInterval_s', 'referenceInterval_s', 'biasInterval_s'] as const),
])

export const nobody: ReceiverIdentity = {
  maker: '',
  module: '',
  firmware: '',
  hardware: '',
  software: '',
  serial: '',
}
