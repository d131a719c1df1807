/**
 * Shared code of plugins that talk to a device (`rtk-base/link`): ports that stay open, requests and replies, retry
 * delays. Time is always a parameter, so that a test controls it.
 */

export type { BytePort, PortSink } from '../../../schemas/byte-port.js'
export { listenReason } from '../../errors.js'
export { isIP, isIPv4, isIPv6, networkOf, normalAddress, Prefixes } from '../../platform/address/address.js'
export { checkedResolve, type Refuses } from '../../platform/address/checked-resolve.js'
export { Host, OptionalHost } from '../../platform/address/host.js'
export { asciiHost, hostOf } from '../../platform/address/host-name.js'
export { FairShare, WrongTries } from '../../platform/fair-share/fair-share.js'
export {
  Budget,
  budgetsByNetwork,
  Intake,
  type IntakeOptions,
  type IntakeStream,
  type Rate,
  rateText,
} from '../../platform/intake.js'
export { PasswordCheck } from '../../platform/password-check.js'
/** For programs outside of a station; a plugin has `ctx.net`. */
export { systemNetwork } from '../../platform/ports/system-network.js'
export { type TcpQueues, tcpQueues } from '../../platform/ports/tcp-queues.js'
export * as rates from '../../platform/rates.js'
export type { Edges } from '../../platform/time/edges.js'
export { AwakeClock, pause } from '../../platform/time/edges.js'
export { topicMatches } from '../../platform/topic-filter.js'
export {
  BusConnection,
  BusError,
  type BusEvents,
  BusLost,
  type BusSignal,
  BusTimeout,
  type Call,
  systemBus,
  variant,
} from './d-bus.js'
export { Dialog, type Matcher } from './dialog.js'
export { type Answer, type CommandFamily, CommandReceiver, type SendOptions } from './driver/command-receiver.js'
export {
  type DriverOptions,
  DriverSnapshot,
  isSame,
  type OwnFrame,
  ReceiverDriver,
  type ReceiverFamily,
  type StationSettings,
  type WantedSetup,
} from './driver/receiver-driver.js'
export { type DriverPlugin, driverPlugin, type ReceiverPlugin, receiverPlugin } from './driver/receiver-plugin.js'
export { type BaseSettings, tracks } from './driver/settings.js'
export {
  BackoffRetry,
  type ConnectionEnd,
  type ConnectionRetry,
  type RetryOptions,
} from './outbound/connection-retry.js'
export { type DialEvents, type DialFailure, type Dialled, type DialTarget, dial, failureText } from './outbound/dial.js'
export {
  type ConnectionEvents,
  KeptConnection,
  type KeptConnectionOptions,
  type KeptConnectionState,
} from './outbound/kept-connection.js'
export { Outbound } from './outbound/outbound.js'
export {
  type Ends,
  isLocal,
  type OwnAddress,
  ownAddresses,
  type UplinkEvents,
  UplinkWatch,
} from './outbound/uplink-watch.js'
export { KeptPort, type KeptPortEvents, type KeptPortPhase } from './port/kept-port.js'
export { portFrom } from './port/port-from.js'
export { linkTick_ms } from './port/receiver-link.js'
export type { ReplayOptions } from './port/replay.js'
export { Reconciler, type ReconcilerOptions, withStandingError } from './reconciler.js'
export { type HostReach, hostTrouble, reachOf, urlHost } from './target.js'
