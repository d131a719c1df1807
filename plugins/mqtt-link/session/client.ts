/** Socket and MQTT client of a session. */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { MqttClient } from 'mqtt'
import { asciiHost } from 'rtk-base/link'
import type { Identity } from '../identity/certificate.js'
import type { DialledBroker } from '../settings.js'
import { largestInbound } from './inspection.js'
import { lastWill } from './online-status.js'

/** Stated to MQTT 5 brokers: publications of QoS 1 that they may send before the first was acknowledged. */
const receiveMaximum = 32
const keepalive_s = 120
const connectTimeout_ms = 20_000

export interface SessionOptions extends DialledBroker {
  serial: string
  clientId: string
  identity: Identity
  tls: boolean
  version: 4 | 5
}

/** Begins to connect. @throws when TLS rejects the identity */
export function socketOf({ host, port, dial, identity: { ca, cert, key }, tls }: SessionOptions): Socket {
  const name = asciiHost(host)
  const address = { host: name, port, ...dial }
  const servername = isIP(name) === 0 ? { servername: name } : {}
  return tls ? connectTls({ ...address, ...servername, ca, cert, key, rejectUnauthorized: true }) : connectTcp(address)
}

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
    will: lastWill(serial),
    ...(version === 5 ? { properties: { maximumPacketSize: largestInbound, receiveMaximum } } : {}),
  })
