import type { TransportKind } from '../transport/call.js'

/** RUTOS generations, by the version string of the firmware. */
export type Generation = 'legacy' | '7'

/** `RUTX_R_00.07.04.5`, `RUT9XX_R_00.06.09.5`, `RUTX_T_DEV_00.07.01.585`, `RUTX_R_GPL_00.07.20` */
const pattern = /\b[A-Z0-9]+_[A-Z]+(?:_[A-Z]+)?_00\.(\d{2})\.(\d+)(?:\.(\d+))?/
const current = 7

/** The first firmware version in a text or anywhere in an answer; `''` when there is none. */
export function versionIn(value: unknown): string {
  if (typeof value === 'string') return pattern.exec(value)?.[0] ?? ''
  if (typeof value !== 'object' || value === null) return ''
  for (const inner of Object.values(value)) {
    const version = versionIn(inner)
    if (version !== '') return version
  }
  return ''
}

/** Undefined if not a firmware version. Unknown newer versions count as the newest known one. */
export function generationOf(version: string): Generation | undefined {
  const digits = pattern.exec(version)?.[1]
  if (digits === undefined) return undefined
  return Number(digits) < current ? 'legacy' : '7'
}

/** How a router is spoken to: generation and transport. */
export const dialects = ['legacy/ubus', '7/ubus', '7/rest'] as const
export type Dialect = (typeof dialects)[number]

/** REST exists from 7.x on only. */
export function dialectOf(generation: Generation, transport: TransportKind): Dialect {
  if (transport === 'rest') return '7/rest'
  return generation === 'legacy' ? 'legacy/ubus' : '7/ubus'
}
