/** One connection to a broker, and how the station arrives and leaves there. */
export { Farewell } from './farewell.js'
export { isStale, type OnlineStatus, onlineStatus, onlineTopic } from './online-status.js'
export type { Session } from './session.js'
export { SessionFactory } from './session-factory.js'
export { interfaceOf } from './via.js'
