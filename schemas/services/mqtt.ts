/** The bus of the runtime, the link to the broker, and the broker inside the service. */
import type { Event } from '../event.js'
import type { MqttFailureCause, MqttLinkState } from '../info/mqtt.js'
import { defineService } from '../token.js'

type Undo = () => void

/** How a driver carries the bus's topics over a real link. */
export interface MqttDriver {
  publish(
    topic: string,
    payload: string | Uint8Array,
    options: { retain: boolean; qos: 0 | 1 | 2; properties?: MqttProperties },
  ): 'sent' | 'offline' | 'full'
  /** Called with every topic filter that is wanted, at attach and after each change of the plugin set. */
  subscribe(filters: readonly string[]): void
}
export interface MqttProperties {
  userProperties?: Record<string, string>
  correlationData?: Uint8Array
}
export interface MqttInbound {
  topic: string
  payload: Uint8Array
  retain: boolean
  responseTopic?: string
  correlationData?: Uint8Array
}
/** The driver's side of the bus: topic handlers belong to the bus, so reloading the driver loses none. */
export interface MqttBus {
  attach(driver: MqttDriver): Undo
  deliver(message: MqttInbound): void
  /** A session is up: runs onMqttConnect. Never rejects. */
  connected(session: { clientId: string; reconnect: boolean }): Promise<void>
  /** The broker answered: an accepted session, a ping. @param address the station's own address of that connection */
  alive(address: string): void
}
export const mqttBus = defineService<MqttBus>('mqtt-bus')

export interface MqttSignature {
  /** `sig-alg` (schemas/mqtt/messages.ts) */
  algorithm: string
  signature: Uint8Array
  /** Of the certificate, hexadecimal. */
  serial: string
}

/** The link to the broker, for plugins that do more than publish. Take it softly (`find`): a station may have none. */
export interface MqttLink {
  /** `mqtt-en` is 1. */
  readonly enabled: boolean
  readonly up: boolean
  /** What the link uses, or would use where `mqtt-en` is 0; undefined while no broker is set. */
  readonly broker?: { readonly host: string; readonly port: number; readonly tls: boolean } | undefined
  /** `mqtt.state.link` */
  readonly state?: MqttLinkState
  /** Why it is down, as in `mqtt.state.error`: both are empty while it is not. */
  readonly failure?: { readonly cause: MqttFailureCause; readonly text: string }
  /** Until when the certificate is valid, UTC seconds; 0 without one. */
  readonly certificateUntil_s?: number
  /** MQTT 5 or 3.1.1 (4); undefined while the link is down. */
  readonly version: 4 | 5 | undefined
  /** Names the session that `onMqttConnect` was called for last: each session has another name. Undefined while there is none. */
  readonly session: string | undefined
  /** `mqtt.via`: interface of the broker socket; `''` while the link is down, or where it is none of these. */
  readonly via: 'eth' | 'sta' | 'cellular' | ''
  /** Address of the broker at the other end of the session; `''` while the link is down. */
  readonly brokerAddress: string
  /** Whether the link is up and would admit a publication of so many bytes: ask before a large payload is built. */
  hasRoom(bytes: number): boolean
  /** The largest payload on `topic` that the broker accepts, in bytes; infinite where it states no limit. */
  largestPayload(topic: string): number
  /** The station's certificate, PEM, followed by its intermediates; undefined without one, or before the first attempt. */
  readonly certificate: string | undefined
  /** Signs with the private key of that certificate, which is never handed out. Rejects with the reason when it cannot sign. */
  sign(data: Uint8Array): Promise<MqttSignature>
  /**
   * Reports that a network came up: while the link is down the next attempt follows at once, and the back-off starts again. A
   * session that is up stays. For every plugin that manages an interface, each time one gets an address.
   */
  networkUp(): void
  /**
   * Publishes `q` and ends the link with a DISCONNECT before the uplink is cut on purpose (a scan, a WiFi network that is left).
   * Resolves after at most 1.5 s with a function that ends the hold; no attempt is made until it is called, or for 10 min.
   */
  hold(reason: string): Promise<() => void>
}
export const mqttLink = defineService<MqttLink>('mqtt-link')

/** A broker inside the service, for a desk. The link uses it while nobody has set another one. */
export interface EmbeddedBroker {
  /** Where clients on this machine reach it; undefined while it does not listen. */
  readonly address: { readonly host: string; readonly port: number } | undefined
  /** `address` changed. */
  readonly onAddress: Event<void>
}
export const embeddedBroker = defineService<EmbeddedBroker>('embedded-broker')
