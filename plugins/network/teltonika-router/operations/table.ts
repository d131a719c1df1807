/** The table: each row is an operation, its columns define the calls of each dialect. README.md shows it. */
import type { Dialect } from './dialect.js'
import { modemRows } from './modem-rows.js'
import type { Input, OperationName, Output, Rows, Way } from './operations.js'
import { protectionRows } from './protection-rows.js'
import { radioRows } from './radio-rows.js'
import { routerRows } from './router-rows.js'
import { simRows } from './sim-rows.js'

export const table: Rows<OperationName> = { ...routerRows, ...modemRows, ...radioRows, ...simRows, ...protectionRows }

/** In the order in which they are tried; none where the dialect cannot do it. */
export const waysOf = <K extends OperationName>(name: K, dialect: Dialect): readonly Way<Input<K>, Output<K>>[] =>
  table[name][dialect] ?? []
