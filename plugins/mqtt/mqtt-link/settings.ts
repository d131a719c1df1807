import type { Resolve } from 'rtk-base/plugin'
import type { MqttInbound } from 'rtk-base/services'

export interface Broker {
  host: string
  port: number
}

/** A broker, and which of its addresses the attempt takes. */
export interface DialledBroker extends Broker {
  resolve?: Resolve
}

export const sameBroker = (a: Broker, b: Broker | undefined): boolean => a.host === b?.host && a.port === b.port

/** `host` and `port` name the broker that the link uses; `''` as host: none. */
export interface LinkSettings extends Broker {
  enabled: boolean
  /** `mqtt-host` and `mqtt-port` as configured. */
  parameters: Broker
}

export interface LinkOptions {
  clientId: string
  protocol: 'auto' | '4' | '5'
  /** Plain TCP, unless an identity is given. */
  insecure: boolean
}

export interface LinkEvents {
  /** The broker accepted the session; `y` is published and the topics are subscribed. */
  up(session: { clientId: string; reconnect: boolean }): void
  message(message: MqttInbound): void
  /** The broker answered. @param address the station's own, of that connection */
  alive(address: string): void
  /** The identity that stays in use is decided. */
  settled(): void
}
