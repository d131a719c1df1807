import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { openPty } from '../harness/peers/pty.js'
import { rtkBase } from '../harness/process.js'
import { epochFrames, processUse, unixNow_ms } from './edges.js'
import { atMost, type Measurement } from './measurement.js'
import { ntripStation } from './ntrip.js'

const rovers = 2_000
/** An hour; `NTRIP_EPOCHS=300` for less, `NTRIP_PACE=250` for four epochs a second. */
const epochs = Number(process.env.NTRIP_EPOCHS ?? 3_600)
const pace_ms = Number(process.env.NTRIP_PACE ?? 1_000)
const stalledShare = 0.01
const reconnectingShare = 0.01
const reloads = 20
const reloadEvery = Math.floor(epochs / reloads)
const limit_ms = 250
/** Reads everything the whole time, so that each epoch can be followed. */
const followed = 200

/** One that stays: which epochs came, and how late. */
class Follower {
  readonly late: [epoch: number, ms: number][] = []
  epochs = 0
  #held = Buffer.alloc(0)

  constructor(socket: Socket, written: ReadonlyMap<number, number>) {
    socket.on('data', (bytes: Buffer) => {
      this.#held = Buffer.concat([this.#held, bytes])
      for (let at = this.#held.indexOf(0xd3); at >= 0 && this.#held.length >= at + 6; at = 0) {
        this.#held = this.#held.subarray(at)
        const size = this.#held.readUInt16BE(1) + 6
        if (this.#held.length < size) break
        // A GPS MSM7 stands for its epoch, and has its number for a time.
        if (this.#held.readUInt16BE(3) >> 4 === 1077) {
          this.epochs += 1
          const epoch = this.#held.readUInt32BE(6) >>> 2
          const sent_ms = written.get(epoch)
          if (sent_ms !== undefined) this.late.push([epoch, unixNow_ms() - sent_ms])
        }
        this.#held = this.#held.subarray(size)
        if (this.#held[0] !== 0xd3) break
      }
    })
  }
}

function join(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  socket.write('GET /BENCH HTTP/1.0\r\nUser-Agent: NTRIP hour\r\n\r\n')
  return socket
}

/** The hour of a caster: 2,000 rovers, 1 % stalled, 1 % connecting again each second, 20 reloads. */
export async function benchNtripHour(): Promise<Measurement[]> {
  const pty = await openPty()
  const { station, port } = await ntripStation(pty.near)
  const file = await open(pty.far, 'w')
  const pid = station.child.pid as number
  await file.write(Buffer.concat(epochFrames(0)))
  const written = new Map<number, number>()
  const staying = Array.from({ length: followed }, () => new Follower(join(port), written))
  const others = Array.from({ length: rovers - followed }, (_, index) => {
    const socket = join(port)
    if (index < rovers * stalledShare) socket.pause()
    else socket.resume()
    return socket
  })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  let next = Math.ceil(rovers * stalledShare)
  let early_MB = 0
  let reloaded: Promise<unknown> = Promise.resolve()
  const started = performance.now()
  for (let n = 1; n <= epochs; n++) {
    written.set(n, unixNow_ms())
    await file.write(Buffer.concat(epochFrames(n)))
    for (let i = 0; i < rovers * reconnectingShare; i++) {
      others[next]?.destroy()
      const socket = join(port)
      socket.resume()
      others[next] = socket
      next = next + 1 < others.length ? next + 1 : Math.ceil(rovers * stalledShare)
    }
    if (n % reloadEvery === 0) {
      reloaded = rtkBase(['plugins', 'reload', 'ntrip-caster', '--data', station.data])
    }
    if (n === Math.floor(epochs / 6)) early_MB = processUse(pid).rss_bytes / 1e6
    const wait_ms = started + n * pace_ms - performance.now()
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, wait_ms)))
  }
  const seconds = (performance.now() - started) / 1_000
  await reloaded
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const late_MB = processUse(pid).rss_bytes / 1e6
  const lost = staying.reduce((sum, { epochs: got }) => sum + Math.max(0, epochs - got), 0)
  const late = staying.flatMap((one) => one.late).filter(([, ms]) => ms > limit_ms)
  const atReload = late.filter(([epoch]) => epoch % reloadEvery <= 1)
  const worst_ms = staying.reduce((most, one) => one.late.reduce((max, [, ms]) => Math.max(max, ms), most), 0)
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8')
  await file.close()
  await station.end('SIGKILL')
  for (const socket of others) socket.destroy()
  await pty.close()
  return [
    { name: `${rovers} rovers, ${epochs} epochs in`, value: seconds, unit: 's' },
    atMost(`epochs lost of ${epochs * followed}`, lost, 1, 'epochs'),
    atMost(`epochs more than ${limit_ms} ms late`, late.length, 1, 'epochs'),
    { name: 'of these at a reload', value: atReload.length, unit: 'epochs' },
    { name: 'the latest one', value: worst_ms, unit: 'ms' },
    atMost('memory at the end, beside that after ten minutes', late_MB / early_MB, 1.25, 'times'),
    { name: 'resident memory', value: late_MB, unit: 'MB' },
    { name: 'threads', value: Number(/Threads:\s+(\d+)/.exec(lines)?.[1]), unit: '' },
  ]
}
