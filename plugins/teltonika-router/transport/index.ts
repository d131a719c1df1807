/** How a router is reached: ubus JSON-RPC or REST, over HTTP or https with a pinned certificate, one call at a time. */
export {
  type Call,
  type Credentials,
  isUbus,
  type LoginAnswer,
  limits_ms,
  nameOf,
  type Outcome,
  type RestCall,
  type Transport,
  type TransportKind,
  type UbusCall,
} from './call.js'
export { CertificatePin, confirmationOf, type Pin } from './certificate.js'
export { findTransport } from './find.js'
export { BrokenOff } from './http.js'
export { parsedJson } from './json.js'
export { RouterQueue, type TurnOptions } from './queue.js'
export { RestTransport } from './rest.js'
export { UbusTransport } from './ubus.js'
