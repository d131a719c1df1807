/**
 * What plugins that talk to a device share (`rtk-base/link`): ports that stay open, questions and answers, waiting times of
 * retries. Time is always passed in, so that a test holds it.
 */

export { topicMatches } from '../mqtt/bus.js'
export { Acknowledgement, cutText, queueOf, unacknowledged_ms, whenCut } from './acknowledgement.js'
export { AwakeClock } from './awake-clock.js'
export { Backoff, type BackoffOptions } from './backoff.js'
export {
  Bus,
  BusError,
  type BusEvents,
  BusLost,
  BusTimeout,
  type Call,
  type Signal,
  systemBus,
  variant,
} from './d-bus.js'
export { type DialEvents, type Dialled, type DialTarget, dial, failureText } from './dial.js'
export {
  addressesFor,
  type DialAddress,
  type DialState,
  type DialStep,
  type Family,
  failed,
  remembered,
  resolved,
  stepOf,
  succeeded,
  untried,
} from './dial-steps.js'
export { Dialog, type Matcher } from './dialog.js'
export { readByOthers } from './exclusive.js'
export { AddressBudgets, Budget, Intake, type IntakeOptions, type IntakeStream, type Rate, rateText } from './intake.js'
export { KeptPort, type KeptPortEvents, type KeptPortPhase } from './kept-port.js'
export { isAnswer, Outbound, type ResolveName } from './outbound.js'
export { type Ends, isLocal, type OwnAddress, ownAddresses, plain } from './own-addresses.js'
export { pause } from './pause.js'
export type { BytePort, Edges, PortSink } from './port.js'
export { portFrom } from './port-from.js'
export * as rates from './rates.js'
export { type ReplayOptions, ReplayPort } from './replay.js'
export { SerialDevice } from './serial.js'
export { TcpPort } from './tcp.js'
export { type WayEvents, Ways } from './ways.js'
