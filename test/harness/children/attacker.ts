/** A stranger with many addresses of the local network: does what it is told (IPC), and says what came of it. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { packetReader, subackOf } from '../peers/brokers.js'

export interface AttackerOptions {
  host: string
  http: number
  tcp: number
  caster: number
  tls: number
  udp: number
  broker: number
  addresses: readonly string[]
}

const { host, http, tcp, caster, tls, udp, broker, addresses } = JSON.parse(
  process.argv[2] as string,
) as AttackerOptions
const held = new Set<Socket>()
const address = (n: number) => addresses[n % addresses.length] as string
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** What a connection came to. */
const tally = { opened: 0, closed: 0, bytes: 0 }
function open(port: number, localAddress: string, hello?: string | Buffer): Socket {
  const socket = connect({ host, port, localAddress })
  held.add(socket)
  socket.on('error', () => {})
  socket.on('connect', () => {
    tally.opened++
    if (hello !== undefined) socket.write(hello)
  })
  socket.on('data', ({ length }) => {
    tally.bytes += length
  })
  socket.on('close', () => {
    tally.closed++
    held.delete(socket)
  })
  return socket
}

/** Writes as fast as the other end takes it, for as long as it takes it. */
async function pour(socket: Socket, bytes: Buffer, times = Number.POSITIVE_INFINITY): Promise<void> {
  for (let n = 0; n < times && !socket.destroyed; n++) {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
  }
}

/** A ClientHello that is never finished. */
const clientHello = Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])

function publish(topic: string, { qos = 0, id = 1, bytes = 0, answerTo = '' } = {}): Buffer {
  const properties = answerTo ? [8, 0, answerTo.length, ...Buffer.from(answerTo)] : []
  const packetId = qos > 0 ? [id >> 8, id & 255] : []
  const head = Buffer.from([0, topic.length, ...Buffer.from(topic), ...packetId, properties.length, ...properties])
  const length = head.length + bytes
  const digits: number[] = []
  for (let rest = length; digits.length === 0 || rest > 0; rest >>= 7)
    digits.push((rest & 127) | (rest > 127 ? 128 : 0))
  return Buffer.concat([Buffer.from([0x30 | (qos << 1), ...digits]), head, Buffer.alloc(bytes, 120)])
}

const command = (n: number) => Buffer.concat([publish('base/SIM00001/cmd', { bytes: 0, answerTo: `foreign/${n}` })])

/** What the broker sends once it is subscribed to, by the address that the station dialled. */
const brokerFloods: readonly ((socket: Socket) => Promise<void>)[] = [
  (socket) => pour(socket, Buffer.alloc(400_000, Buffer.from([0xd0, 0])), 10),
  (socket) => pour(socket, Buffer.alloc(400_000, Buffer.from([0x40, 2, 0, 1])), 10),
  (socket) => pour(socket, Buffer.alloc(400_000, Buffer.from([0x62, 2, 0, 1])), 10),
  async (socket) => {
    for (let id = 1; id <= 7_650 && !socket.destroyed; id++)
      await pour(socket, publish('base/SIM00001/cmd', { qos: 2, id, bytes: 200_000 }), 1)
  },
  (socket) => pour(socket, Buffer.alloc(4_000_000, publish('other')), 1),
  async (socket) => {
    for (let n = 0; n < 20_000 && !socket.destroyed; n++) await pour(socket, command(n), 1)
  },
  // Within what the station subscribed to, for as long as it is let.
  (socket) => pour(socket, publish('base/SIM00001/change/post', { bytes: 60_000 })),
]

function serveBrokers(): void {
  createServer((socket) => {
    socket.on('error', () => {})
    const flood = brokerFloods[addresses.indexOf(socket.localAddress ?? '')]
    socket.once('data', () => {
      socket.write(Buffer.from([0x20, 3, 0, 0, 0]))
      socket.on(
        'data',
        packetReader((packet) => {
          if (packet[0] !== 0x82) return
          tally.opened++
          socket.write(subackOf(packet))
          void flood?.(socket)
        }),
      )
    })
  }).listen(broker, '0.0.0.0')
}

const frame = Buffer.from([0xd3, 0, 0, 0x47, 0xea, 0x4b])

const attacks: Record<string, () => Promise<void>> = {
  /** One address takes connections and keeps them. */
  async idle() {
    for (let n = 0; n < 520; n++) open(http, address(0), 'GET /get-info?1 HTTP/1.1\r\nHost: 10.78.0.1\r\n\r\n')
    await pause(10_000)
  },
  async 'idle from all'() {
    for (let n = 0; n < 1_000; n++) open(http, address(n), 'GET /get-info?1 HTTP/1.1\r\nHost: 10.78.0.1\r\n\r\n')
    await pause(10_000)
  },
  async 'half-open TLS'() {
    for (let n = 0; n < 640; n++) open(tls, address(n % 40), n % 2 ? clientHello : undefined)
    await pause(15_000)
  },
  async requests() {
    const agents = addresses.map((localAddress) => new Agent({ keepAlive: true, maxSockets: 2, localAddress }))
    const until_ms = performance.now() + 10_000
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`k${n}`, [n]])))
    const one = (n: number) =>
      new Promise<void>((resolve) => {
        const post = n % 3 === 0
        const options = { host, port: http, agent: agents[n % agents.length], method: post ? 'POST' : 'GET' }
        const path = post ? '/change' : ['/get-info', '/metrics'][n % 2]
        const sent = request({ ...options, path: path as string }, (reply) => reply.resume().once('close', resolve))
        sent.once('error', () => resolve()).end(post ? body : undefined)
      })
    await Promise.all(
      addresses.map(async (_, start) => {
        for (let n = start; performance.now() < until_ms; n += addresses.length) await one(n)
      }),
    )
    for (const agent of agents) agent.destroy()
  },
  async 'caster logins'() {
    const until_ms = performance.now() + 10_000
    for (let n = 0; performance.now() < until_ms; n++) {
      const login = Buffer.from(`rover:wrong${n}`).toString('base64')
      open(caster, address(n), `GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP x\r\nAuthorization: Basic ${login}\r\n\r\n`)
      if (held.size > 300) await pause(20)
      if (n % 10 === 0) await pause(5)
    }
  },
  async 'caster and TCP full of what is no request'() {
    for (let n = 0; n < 200; n++) {
      void pour(open(n % 2 ? caster : tcp, address(n)), Buffer.alloc(65_536, n % 3 ? frame : Buffer.from('x: y\r\n')))
    }
    await pause(10_000)
  },
  async 'readers that do not read'() {
    for (let n = 0; n < 200; n++) {
      open(n % 2 ? caster : tcp, address(n), 'GET /SIM00001 HTTP/1.0\r\nUser-Agent: NTRIP x\r\n\r\n').pause()
    }
    await pause(10_000)
  },
  /** One datagram each, from many ports of every address; then corrections that are none. */
  async datagrams() {
    const sockets = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const socket = createSocket('udp4').on('message', ({ length }) => {
          tally.bytes += length
        })
        socket.on('error', () => {})
        socket.bind(0, address(n < 200 ? 0 : n))
        await once(socket, 'listening')
        return socket
      }),
    )
    for (const socket of sockets) socket.send('x', udp, host)
    const until_ms = performance.now() + 10_000
    while (performance.now() < until_ms) {
      for (const socket of sockets) socket.send(Buffer.alloc(1_200, frame), udp, host)
      await pause(20)
    }
    for (const socket of sockets) socket.close()
  },
}

serveBrokers()
process.on('disconnect', () => process.exit(0))
process.on('message', async (name: string) => {
  Object.assign(tally, { opened: 0, closed: 0, bytes: 0 })
  if (name === 'wait') await pause(12_000)
  else await attacks[name]?.()
  const report = { ...tally }
  for (const socket of held) socket.destroy()
  process.send?.(report)
})
process.send?.('ready')
