import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Aedes } from 'aedes'
import { connect, type MqttClient } from 'mqtt'
import type { Test } from 'tap'
import api from '../../../plugins/mqtt/mqtt-api/index.js'
import link from '../../../plugins/mqtt/mqtt-link/index.js'
import { createTestStation, type TestStation, type TestStationOptions } from '../station.js'

/** Serial number of test stations. */
export const sn = 'TEST0001'

interface ConnectPacket {
  clientId: string
  clean: boolean
  keepalive: number
  will?: { topic: string; payload: Buffer; retain: boolean; qos: number }
}

/** A broker in the test's process, with an observer that sees every message under `base/`. */
export async function startBroker(t: Test) {
  const connects: ConnectPacket[] = []
  const aedes = await Aedes.createBroker({
    preConnect: (_client, packet, done) => {
      if (packet.clientId !== 'observer') connects.push(packet as unknown as ConnectPacket)
      done(null, true)
    },
  })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    aedes.handle(socket)
  })
  const port = await listen(server)
  const observer = connect({ port, host: '127.0.0.1', clientId: 'observer', protocolVersion: 4, reconnectPeriod: 0 })
  const seen: { topic: string; text: string; payload: Buffer; retain: boolean }[] = []
  observer.on(
    'message',
    (topic, payload, { retain }) => void seen.push({ topic, text: payload.toString(), payload, retain }),
  )
  await observer.subscribeAsync('base/#', { qos: 1 })
  t.teardown(async () => {
    observer.end(true)
    for (const socket of sockets) socket.destroy()
    server.close()
    await new Promise<void>((resolve) => aedes.close(resolve))
  })
  const connection = () => (aedes as unknown as { clients: Record<string, { conn: Socket }> }).clients[sn]?.conn
  const texts = (name: string) => seen.filter(({ topic }) => topic === `base/${sn}/${name}`).map(({ text }) => text)
  return {
    port,
    aedes,
    observer,
    connects,
    seen,
    texts,
    online: () => texts('online').join(''),
    /** It takes its time over each UNSUBSCRIBE, until it is released. */
    holdUnsubscribes() {
      const held: (() => void)[] = []
      const unsubscribe = aedes.unsubscribe.bind(aedes)
      aedes.unsubscribe = (...given) => void held.push(() => unsubscribe(...given))
      const release = () => {
        aedes.unsubscribe = unsubscribe
        for (const go of held) go()
      }
      return { held, release }
    },
    /** Ends the station's connection without a word. */
    cut: () => connection()?.destroy(),
    /** Nothing more comes through the station's connection, which stays open. */
    silence: () => void Object.assign(connection() ?? {}, { write: () => true }),
  }
}

export const connected = (client: MqttClient) => new Promise<void>((resolve) => client.once('connect', () => resolve()))
export const message = (client: MqttClient) =>
  new Promise<{ payload: string; retain: boolean }>((resolve) =>
    client.once('message', (_topic, payload, { retain }) => resolve({ payload: payload.toString(), retain })),
  )

export async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

export async function startLinkStation(
  t: Test,
  port: number,
  options: Record<string, unknown> = {},
  more: TestStationOptions = {},
) {
  const station = await createTestStation({
    ...more,
    plugins: {
      'mqtt-api': api as never,
      'mqtt-link': [link as never, { insecure: true, ...options }],
      ...more.plugins,
    },
    variant: { ...more.variant, changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port, ...more.variant?.changes } },
  })
  t.teardown(() => station.stop())
  return station
}

export const isUp = (station: TestStation) => () => station.field('mqtt.state.link') === 'up'

/** Whole packets of MQTT in a stream of bytes. @returns takes the bytes */
export function packetReader(take: (packet: Buffer) => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0)
  return (bytes) => {
    held = Buffer.concat([held, bytes])
    for (;;) {
      let [length, digits] = [0, 0]
      do length += ((held[1 + digits] ?? 0) & 127) * 128 ** digits
      while ((held[1 + digits++] ?? 0) >= 128)
      if (held.length < 1 + digits || held.length < 1 + digits + length) return
      take(held.subarray(0, 1 + digits + length))
      held = held.subarray(1 + digits + length)
    }
  }
}

/** The SUBACK of MQTT 5 to a SUBSCRIBE of less than 16 kB without properties: QoS 1 for each of its topics. */
export function subackOf(subscribe: Buffer): Buffer {
  let at = ((subscribe[1] ?? 0) >= 128 ? 3 : 2) as number
  const id = subscribe.subarray(at, at + 2)
  let topics = 0
  for (at += 3; at < subscribe.length; at += subscribe.readUInt16BE(at) + 3) topics++
  return Buffer.concat([Buffer.from([0x90, 3 + topics]), id, Buffer.alloc(1), Buffer.alloc(topics, 1)])
}

/** Speaks just enough MQTT to accept a session and its subscriptions, then does what `then` says. */
export async function fakeBroker(t: Test, then: (socket: Socket) => void, { subscribes = true } = {}) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.from([0x20, 0x03, 0x00, 0x00, 0x00])) // CONNACK of MQTT 5: accepted, no properties
      const read = packetReader((packet) => {
        if (packet[0] !== 0x82 || !subscribes) return
        socket.write(subackOf(packet))
        then(socket)
      })
      socket.on('data', read)
      if (!subscribes) then(socket)
    })
  })
  const port = await listen(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, sockets }
}
