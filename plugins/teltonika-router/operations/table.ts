/** Operation → the ways of each generation and transport. The table in README.md is made of this one. */
import type { TransportKind } from '../transport/index.js'
import { currentRest } from './current-rest.js'
import { currentUbus } from './current-ubus.js'
import type { Generation } from './generation.js'
import { legacyUbus } from './legacy-ubus.js'
import type { Column } from './operations.js'

export const columns = { 'legacy/ubus': legacyUbus, '7/ubus': currentUbus, '7/rest': currentRest } as const
export type ColumnName = keyof typeof columns

/** REST exists from 7.x on only. */
export function columnOf(generation: Generation, transport: TransportKind): ColumnName {
  if (transport === 'rest') return '7/rest'
  return generation === 'legacy' ? 'legacy/ubus' : '7/ubus'
}

export const waysOf = (column: ColumnName): Column => columns[column]
