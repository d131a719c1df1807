/** Run as a child: many UDP, TCP, NTRIP clients or dashboards of one server; counts what they get. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { addressOf } from './addresses.js'
import type { ClientReport } from './edges.js'

const [kind, port, count, stalled, mounts, first] = [process.argv[2], ...process.argv.slice(3).map(Number)] as [
  string,
  number,
  number,
  number,
  number,
  number,
]
const perClient = new Array<number>(count).fill(0)
const bytesOf = new Array<number>(count).fill(0)
const whereFrom = (client: number) => addressOf(first + client)
let arrivals: ClientReport['arrivals'] = []
const keepArrivals = count <= 64

function got(client: number, length: number): void {
  perClient[client] += 1
  bytesOf[client] += length
  if (keepArrivals) arrivals.push({ client, bytes: length, at_ms: performance.timeOrigin + performance.now() })
}

async function udpClient(client: number): Promise<void> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 262_144 })
  socket.bind(0, whereFrom(client))
  await once(socket, 'listening')
  socket.on('message', (datagram) => got(client, datagram.length))
  const ask = () => socket.send(`bench ${client}`, port, '127.0.0.1')
  // Asked again soon: thousands of first datagrams at once may not all fit into one socket's buffer.
  setInterval(ask, 5_000 + Math.random() * 5_000)
  ask()
}

async function tcpClient(client: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: whereFrom(client), noDelay: true })
  await once(socket, 'connect')
  if (client < stalled) return
  socket.on('data', (chunk) => got(client, chunk.length))
  socket.on('error', () => {})
}

/** The head comes in a piece of its own; it is not counted. */
async function ntripClient(client: number): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: whereFrom(client), noDelay: true })
  await once(socket, 'connect')
  socket.write(`GET /${mounts > 0 ? `M${client % mounts}` : 'BENCH'} HTTP/1.0\r\nUser-Agent: NTRIP bench\r\n\r\n`)
  await once(socket, 'data')
  if (client < stalled) socket.pause()
  else socket.on('data', (chunk) => got(client, chunk.length))
  socket.on('error', () => {})
}

/** The event stream of an open page. */
async function eventsClient(client: number): Promise<void> {
  const headers = { 'accept-encoding': 'gzip, deflate', accept: 'text/event-stream' }
  const localAddress = whereFrom(client)
  const asked = request({ port, host: '127.0.0.1', path: '/events', headers, localAddress, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`page ${client}: the station answered ${answer.statusCode}`)
  if (client < stalled) answer.pause()
  else answer.on('data', (chunk) => got(client, chunk.length))
}

const clientOf: Readonly<Record<string, (client: number) => Promise<void>>> = {
  udp: udpClient,
  tcp: tcpClient,
  ntrip: ntripClient,
  events: eventsClient,
}
for (let client = 0; client < count; client++) await clientOf[kind]?.(client)
process.send?.('ready')
process.on('message', (message) => {
  if (message === 'reset') {
    perClient.fill(0)
    bytesOf.fill(0)
    arrivals = []
    return
  }
  const report: ClientReport = {
    clients: count,
    bytes: bytesOf.reduce((sum, n) => sum + n, 0),
    datagrams: perClient.reduce((sum, n) => sum + n, 0),
    silent: perClient.filter((n) => n === 0).length,
    fewest: Math.min(...perClient),
    fewest_bytes: Math.min(...bytesOf),
    arrivals,
  }
  process.send?.(report)
})
