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
  /** The longest time that the service takes; undefined: not limited. */
  readonly longest_h?: number
}

/** The files that PPP services accept, by name of the preset. */
export const rinexPresets = {
  full: { text: 'everything, as it was observed', version: '3.05', interval_s: undefined, systems: undefined },
  '30s': { text: 'all constellations, every 30 s', version: '3.05', interval_s: 30, systems: undefined },
  'csrs-ppp': { text: 'CSRS-PPP of NRCan', version: '3.05', interval_s: 30, systems: ['G', 'R', 'E'], longest_h: 24 },
  auspos: {
    text: 'AUSPOS of Geoscience Australia',
    version: '2.11',
    interval_s: 30,
    systems: ['G'],
    longest_h: 168,
  },
  opus: { text: 'OPUS of the NGS', version: '2.11', interval_s: 30, systems: ['G'], longest_h: 48 },
  ign: { text: 'IGN, and Centipede with it', version: '2.11', interval_s: 30, systems: ['G'] },
} as const satisfies Readonly<Record<string, RinexPreset>>
export type RinexPresetName = keyof typeof rinexPresets

/** 2.11 has no BeiDou, QZSS and NavIC. */
const oldSystems: readonly SystemLetter[] = ['G', 'R', 'E', 'S']

/** Why a service does not take a file of this span, as a sentence; undefined: it does. */
export function spanTrouble(name: RinexPresetName, span_s: number): string | undefined {
  const { longest_h, text }: RinexPreset = rinexPresets[name]
  if (longest_h === undefined || span_s <= longest_h * 3600) return undefined
  const hours = (span_s / 3600).toFixed(1)
  return `${text} takes at most ${longest_h} h, and this is ${hours} h: choose a shorter time, or the preset 30s`
}

/** The satellite systems that a file of this version can have, out of the wanted ones; undefined: all. */
export function systemsIn(
  version: RinexVersion,
  wanted: readonly SystemLetter[] | undefined,
): readonly SystemLetter[] | undefined {
  if (version !== '2.11') return wanted
  return wanted ? wanted.filter((system) => oldSystems.includes(system)) : oldSystems
}
