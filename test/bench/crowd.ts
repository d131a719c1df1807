/**
 * Run as a child: NTRIP rovers that are load, some of them stalled; at each message some connect again. They give way to the rovers that
 * are timed: on the roof they have processors of their own.
 */
import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { addressOf } from './addresses.js'

const [port, count, stalled, reconnecting, first] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
  number,
]
/** A nice value. */
const priority = 10

function rover(index: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(first + index), noDelay: true })
  socket.on('error', () => {})
  socket.write('GET /BENCH HTTP/1.0\r\nUser-Agent: NTRIP hour\r\n\r\n')
  return index < stalled ? socket.pause() : socket.resume()
}

setPriority(priority)
const rovers = Array.from({ length: count }, (_, index) => rover(index))
let next = stalled
process.send?.('ready')
process.on('message', () => {
  for (let n = 0; n < reconnecting; n++) {
    rovers[next]?.destroy()
    rovers[next] = rover(next)
    next = next + 1 < count ? next + 1 : stalled
  }
})
process.on('disconnect', () => process.exit())
