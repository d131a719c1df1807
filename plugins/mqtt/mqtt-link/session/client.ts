/** Socket and MQTT client of a session, and the online status that the client announces. */
import { MqttClient } from 'mqtt'
import { asciiHost } from 'rtk-base/link'
import type { MqttMessage, NetworkPort, Socket } from 'rtk-base/plugin'
import type { OnlineStatus } from 'rtk-base/schemas'
import type { DialledBroker } from '../broker.js'
import type { Identity } from '../identity/identity.js'
import { largestInbound } from './inspection.js'

/** Stated to MQTT 5 brokers: publications of QoS 1 that they may send before the first was acknowledged. */
const receiveMaximum = 32
const keepalive_s = 120
const connectTimeout_ms = 20_000

/** Values retained on `base/{SN}/online`, described in the schema. */
export const onlineStatus = {
  online: 'y',
  restarting: 'r',
  quitting: 'q',
  lost: 'L',
} as const satisfies Record<string, OnlineStatus>

export const onlineTopic = (serial: string) => `base/${serial}/online`

/**
 * Whether the station has to publish `y` again. A broker publishes the will of a connection when it gives that up, which may be
 * after the next connection published `y`. So the station listens to its own status.
 */
export const isStale = (message: MqttMessage): boolean => message.payload.toString('latin1') !== onlineStatus.online

export interface SessionOptions extends DialledBroker {
  net: Pick<NetworkPort, 'dial'>
  serial: string
  clientId: string
  identity: Identity
  tls: boolean
  version: 4 | 5
}

/** Begins to connect. @throws when TLS rejects the identity */
export const socketOf = ({ net, host, port, resolve, identity: { ca, cert, key }, tls }: SessionOptions): Socket =>
  net.dial({ host: asciiHost(host), port, ...(resolve && { resolve }), ...(tls && { tls: { ca, cert, key } }) })

export const clientOf = (socket: Socket, { clientId, serial, version }: SessionOptions): MqttClient =>
  new MqttClient(() => socket, {
    manualConnect: true,
    clientId,
    clean: true,
    protocolVersion: version,
    keepalive: keepalive_s,
    connectTimeout: connectTimeout_ms,
    reconnectPeriod: 0,
    queueQoSZero: false,
    resubscribe: false,
    // 65,536 buffers, for a broker's packet rate.
    writeCache: false,
    will: { topic: onlineTopic(serial), payload: Buffer.from(onlineStatus.lost), qos: 0, retain: true },
    ...(version === 5 ? { properties: { maximumPacketSize: largestInbound, receiveMaximum } } : {}),
  })
