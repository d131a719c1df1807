/**
 * Biases between the codes and the phases of GLONASS, for the RINEX header (RINEX 3.05, table A2; RTCM 10403.3,
 * message 1230).
 */
import { fixed, line } from './header.js'

/** The content of RTCM 1230. */
export interface GlonassBiases {
  /** DF421: the biases were added to the phases, so the phases are aligned to the codes. */
  readonly isAligned: boolean
  /** DF423 to DF426, metres; missing: not transmitted. */
  readonly biases_m: Readonly<Partial<Record<'l1ca' | 'l1p' | 'l2ca' | 'l2p', number | undefined>>>
}

const codes = { l1ca: 'C1C', l1p: 'C1P', l2ca: 'C2C', l2p: 'C2P' } as const

function told({ biases_m }: GlonassBiases): [code: string, bias_m: number][] {
  return Object.entries(codes).flatMap(([name, code]) => {
    const bias_m = biases_m[name as keyof typeof codes]
    return bias_m === undefined ? [] : [[code, bias_m] as [string, number]]
  })
}

/**
 * The record has the corrections by which phases were aligned. It is blank if those are not known, and also if 1230 says that they were not
 * applied: the values are then in `biasComments`.
 */
export function biasLine(biases: GlonassBiases | undefined): string {
  const applied = biases?.isAligned ? told(biases) : []
  return line(applied.map(([code, bias_m]) => ` ${code} ${fixed(bias_m, 8, 3)}`).join(''), 'GLONASS COD/PHS/BIS')
}

/** Phases that are not aligned stay as they are. */
export function biasComments(biases: GlonassBiases | undefined): readonly string[] {
  if (!biases || biases.isAligned) return []
  const values = told(biases).map(([code, bias_m]) => `${code} ${bias_m.toFixed(3)}`)
  if (values.length === 0) return []
  return ['GLONASS phases are not aligned to codes. Add, in metres:', values.join(', ')]
}
