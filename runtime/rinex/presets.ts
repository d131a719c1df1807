import type { RinexVersion } from './observation-file.js'
import type { SystemLetter } from './observations.js'

/** The form of a RINEX file for a service. */
export interface RinexPreset {
  /** Description for people. */
  readonly text: string
  readonly version: RinexVersion
  readonly interval_s: number | undefined
  /** Undefined: all. */
  readonly systems: readonly SystemLetter[] | undefined
}

/** The files that PPP services accept, by name of the preset. */
export const rinexPresets = {
  full: { text: 'everything, as it was observed', version: '3.05', interval_s: undefined, systems: undefined },
  '30s': { text: 'all constellations, every 30 s', version: '3.05', interval_s: 30, systems: undefined },
  'csrs-ppp': { text: 'CSRS-PPP of NRCan', version: '3.05', interval_s: 30, systems: ['G', 'R', 'E'] },
  auspos: { text: 'AUSPOS of Geoscience Australia', version: '2.11', interval_s: 30, systems: ['G'] },
  opus: { text: 'OPUS of the NGS', version: '2.11', interval_s: 30, systems: ['G'] },
  ign: { text: 'IGN, and Centipede with it', version: '2.11', interval_s: 30, systems: ['G'] },
} as const satisfies Readonly<Record<string, RinexPreset>>
export type RinexPresetName = keyof typeof rinexPresets

/** 2.11 has no BeiDou, QZSS and NavIC. */
const oldSystems: readonly SystemLetter[] = ['G', 'R', 'E', 'S']

/** The satellite systems that a file of this version can have, out of the wanted ones; undefined: all. */
export function systemsIn(
  version: RinexVersion,
  wanted: readonly SystemLetter[] | undefined,
): readonly SystemLetter[] | undefined {
  if (version !== '2.11') return wanted
  return wanted ? wanted.filter((system) => oldSystems.includes(system)) : oldSystems
}
