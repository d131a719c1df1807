/** The bus of the runtime, the link to the broker, and the broker inside the service. */
import type { Event } from '../event.js'
import type { MqttFailureCause, MqttLinkState } from '../info/mqtt.js'
import { defineService } from '../token.js'

type Undo = () => void

/** Driver that carries the topics of the bus over a real link. */
export interface MqttDriver {
  publish(
    topic: string,
    payload: string | Uint8Array,
    options: {
      retain: boolean
      qos: 0 | 1 | 2
      properties?: MqttProperties
      /** Published right after it: both go out, or neither. */
      followedBy?: { topic: string; payload: string | Uint8Array }
    },
  ): 'sent' | 'offline' | 'full'
  /** Called with all wanted topic filters, at attach and after each change of the plugin set. */
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
  /** Reports a new session: runs onMqttConnect. Never rejects. */
  connected(session: { clientId: string; reconnect: boolean }): Promise<void>
  /** Reports an answer of the broker: an accepted session, a ping. @param address the station's own address of the connection */
  alive(address: string): void
}
export const mqttBus = defineService<MqttBus>('mqtt-bus')

export interface MqttSignature {
  /** `sig-alg` (schemas/mqtt/messages.ts) */
  algorithm: string
  signature: Uint8Array
  /** Serial number of the certificate, hexadecimal. */
  serial: string
}

/** The link to the broker, for plugins that do more than publish. Use `find`: a station may have none. */
export interface MqttLink {
  /** `mqtt-en` is 1. */
  readonly enabled: boolean
  readonly up: boolean
  /** The configured broker, also while `mqtt-en` is 0; undefined while none is set. */
  readonly broker?: { readonly host: string; readonly port: number; readonly tls: boolean } | undefined
  /** `mqtt.state.link` */
  readonly state?: MqttLinkState
  /** Why the link is down, as in `mqtt.state.error`; both are empty while it is up. */
  readonly failure?: { readonly cause: MqttFailureCause; readonly text: string }
  /** Expiry of the certificate, UTC seconds; 0 without one. */
  readonly certificateUntil_s?: number
  /** MQTT 5 or 3.1.1 (4); undefined while the link is down. */
  readonly version: 4 | 5 | undefined
  /** Unique name of the session of the last `onMqttConnect`. Undefined without a session. */
  readonly session: string | undefined
  /** `mqtt.via`: interface of the broker socket; `''` while the link is down, or for any other interface. */
  readonly via: 'eth' | 'sta' | 'cellular' | ''
  /** Address of the broker in the session; `''` while the link is down. */
  readonly brokerAddress: string
  /** Whether the link is up and would accept a publication of this size. Check it before building a large payload. */
  hasRoom(bytes: number): boolean
  /** The largest payload on `topic` that the broker accepts, in bytes; infinite if the broker states no limit. */
  largestPayload(topic: string): number
  /** The station's certificate, PEM, followed by its intermediates; undefined without one, or before the first attempt. */
  readonly certificate: string | undefined
  /** Signs with the private key of the certificate. The key is never exposed. Rejects with the reason if signing fails. */
  sign(data: Uint8Array): Promise<MqttSignature>
  /**
   * Reports that a network came up: if the link is down, it retries at once and resets its back-off. An existing session is kept.
   * Every plugin that manages an interface calls this whenever the interface gets an address.
   */
  networkUp(): void
  /**
   * Publishes `q` and closes the link with a DISCONNECT before the uplink is cut on purpose (a scan, leaving a WiFi network).
   * Resolves within 1.5 s with a function that ends the hold. The link does not reconnect until it is called, or for 10 min.
   */
  hold(reason: string): Promise<() => void>
}
export const mqttLink = defineService<MqttLink>('mqtt-link')

/** A broker inside the service, for trials. The link uses it unless another broker is configured. */
export interface EmbeddedBroker {
  /** Address for clients on this machine; undefined while the broker does not listen. */
  readonly address: { readonly host: string; readonly port: number } | undefined
  /** `address` changed. */
  readonly onAddress: Event<void>
}
export const embeddedBroker = defineService<EmbeddedBroker>('embedded-broker')
