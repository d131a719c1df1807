/**
 * Run as a child: rovers that connect again, to the next caster, 1-5 s after theirs is gone. Arguments: ports of the casters, separated by
 * commas; rovers; mountpoints; bytes of an epoch; number of the first rover.
 */
import { connect } from 'node:net'
import { addressOf } from './addresses.js'

const [ports = '', count = 0, mounts = 1, epoch = 1, first = 0] = [
  process.argv[2],
  ...process.argv.slice(3).map(Number),
] as [string, number, number, number, number]
const casters = ports.split(',').map(Number)
/** Connections that are made at the same time at the start. */
const mostAtOnce = 100
const jitter_ms = () => 1_000 + 4_000 * Math.random()

/** What the rovers of one process saw. */
export interface RoverReport {
  bytes: number
  /** Complete epochs of the rover that got the fewest. */
  fewest: number
  lost: number
  /** From the loss of the caster to the first epoch from another, the longest, seconds. */
  back_s: number
  streaming: number
}

const bytes = new Array<number>(count).fill(0)
const lost_ms = new Array<number>(count).fill(0)
const streaming = new Array<boolean>(count).fill(false)
let [lost, back_s] = [0, 0]

function dial(rover: number, at: number, done: () => void): void {
  const port = casters[at % casters.length] as number
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(first + rover), noDelay: true })
  let isHead = true
  socket.on('connect', () => socket.write(`GET /M${rover % mounts} HTTP/1.0\r\nUser-Agent: NTRIP bench\r\n\r\n`))
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (isHead) {
      isHead = false
      done()
      // It may come with the newest epoch, which is not one of those that are counted.
      return
    }
    bytes[rover] = (bytes[rover] ?? 0) + chunk.length
    streaming[rover] = true
    const since_ms = lost_ms[rover] ?? 0
    if (since_ms === 0) return
    back_s = Math.max(back_s, (performance.now() - since_ms) / 1_000)
    lost_ms[rover] = 0
  })
  socket.on('close', () => {
    done()
    if (streaming[rover]) {
      lost += 1
      lost_ms[rover] = performance.now()
    }
    streaming[rover] = false
    // One of the others, as a balancer chooses.
    const next = at + 1 + Math.floor(Math.random() * Math.max(1, casters.length - 1))
    setTimeout(() => dial(rover, next, () => {}), jitter_ms())
  })
}

let started = 0
await new Promise<void>((resolve) => {
  let ready = 0
  const more = () => {
    const rover = started
    started += 1
    let isDone = false
    dial(rover, 0, () => {
      if (isDone) return
      isDone = true
      ready += 1
      if (ready === count) resolve()
      else if (started < count) more()
    })
  }
  for (let n = 0; n < Math.min(mostAtOnce, count); n++) more()
})
process.send?.('ready')
process.on('message', (message) => {
  if (message === 'reset') {
    bytes.fill(0)
    lost = 0
    back_s = 0
    return
  }
  const isStreaming = streaming.filter(Boolean).length
  const report: RoverReport = {
    bytes: bytes.reduce((sum, one) => sum + one, 0),
    fewest: Math.floor(Math.min(...bytes) / epoch),
    ...{ lost, back_s, streaming: isStreaming },
  }
  process.send?.(report)
})
process.once('disconnect', () => process.exit(0))
