/** What can be done with a router: operations, the table of their ways, and who performs them. */
export { type Generation, generationOf, versionIn } from './generation.js'
export type {
  AccessPoint,
  BoardFacts,
  Input,
  IpBlock,
  ModemCount,
  OperationName,
  Operations,
  Output,
  PingReboot,
  SystemState,
} from './operations.js'
export { Performer } from './performer.js'
export { type ColumnName, columnOf, columns } from './table.js'
