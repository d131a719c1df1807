import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPty } from '../harness/peers/pty.js'
import { rtkBase } from '../harness/process.js'
import { epochFrames, processUse, unixNow_ms } from './edges.js'
import { HostWatch } from './host.js'
import { atMost, type Measurement, quantile } from './measurement.js'
import { ntripStation } from './ntrip.js'

const rovers = 2_000
/** An hour; `NTRIP_EPOCHS=300` for less, `NTRIP_PACE=250` for four epochs a second. */
const epochs = Number(process.env.NTRIP_EPOCHS ?? 3_600)
const pace_ms = Number(process.env.NTRIP_PACE ?? 1_000)
/** Sent first and not measured: until then a station compiles what it runs. */
const warmUp = 60
const stalledShare = 0.01
const reconnectingShare = 0.01
const reloads = 20
const reloadEvery = Math.floor(epochs / reloads)
const limit_ms = 250
/** Reads everything the whole time, so that each epoch can be followed. */
const followed = 200

/** One that stays: which epochs came, and how late. */
class Follower {
  readonly received: [epoch: number, ms: number][] = []
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
          const epoch = this.#held.readUInt32BE(6) >>> 2
          const sent_ms = written.get(epoch)
          if (sent_ms !== undefined) this.received.push([epoch, unixNow_ms() - sent_ms])
        }
        this.#held = this.#held.subarray(size)
        if (this.#held[0] !== 0xd3) break
      }
    })
  }
}

function follow(port: number, written: ReadonlyMap<number, number>): Follower {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  socket.write('GET /BENCH HTTP/1.0\r\nUser-Agent: NTRIP hour\r\n\r\n')
  return new Follower(socket, written)
}

async function startCrowd(port: number): Promise<ChildProcess> {
  const script = join(fileURLToPath(import.meta.url), '..', 'crowd.js')
  const counts = [rovers - followed, rovers * stalledShare, rovers * reconnectingShare]
  const child = spawn(process.execPath, [script, ...[port, ...counts].map(String)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}

/** The hour of a caster: 2,000 rovers, 1 % stalled, 1 % connecting again each second, 20 reloads. */
export async function benchNtripHour(): Promise<Measurement[]> {
  const pty = await openPty()
  const { station, port } = await ntripStation(pty.near)
  const file = await open(pty.far, 'w')
  const pid = station.child.pid as number
  await file.write(Buffer.concat(epochFrames(0)))
  const written = new Map<number, number>()
  const staying = Array.from({ length: followed }, () => follow(port, written))
  const crowd = await startCrowd(port)
  const host = new HostWatch()
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  let early_MB = 0
  let reloaded: Promise<unknown> = Promise.resolve()
  const started = performance.now()
  for (let n = 1; n <= warmUp + epochs; n++) {
    if (n > warmUp) written.set(n, unixNow_ms())
    await file.write(Buffer.concat(epochFrames(n)))
    crowd.send('reconnect')
    if (n > warmUp && (n - warmUp) % reloadEvery === 0) {
      reloaded = rtkBase(['plugins', 'reload', 'ntrip-caster', '--data', station.data])
    }
    if (n === warmUp + Math.floor(epochs / 6)) early_MB = processUse(pid).rss_bytes / 1e6
    const wait_ms = started + n * pace_ms - performance.now()
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, wait_ms)))
  }
  const seconds = (performance.now() - started) / 1_000
  await reloaded
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const late_MB = processUse(pid).rss_bytes / 1e6
  const lost = staying.reduce((sum, { received }) => sum + epochs - new Set(received.map(([epoch]) => epoch)).size, 0)
  const late = staying.flatMap((one) => one.received).filter(([, ms]) => ms > limit_ms)
  const own = late.filter(([epoch, ms]) => {
    const sent_ms = written.get(epoch) as number
    return ms - host.taken_ms(sent_ms, sent_ms + ms) > limit_ms
  })
  const atReload = late.filter(([epoch]) => (epoch - warmUp) % reloadEvery <= 1)
  const delays_ms = staying.flatMap((one) => one.received.map(([, ms]) => ms))
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8')
  await file.close()
  await station.end('SIGKILL')
  crowd.kill()
  host.stop()
  await pty.close()
  return [
    { name: `${rovers} rovers, ${epochs} epochs in`, value: seconds, unit: 's' },
    atMost(`epochs lost of ${epochs * followed}`, lost, 1, 'epochs'),
    atMost(`epochs more than ${limit_ms} ms late`, late.length, 1, 'epochs'),
    { name: 'of these by more than the host took', value: own.length, unit: 'epochs' },
    { name: 'of these at a reload', value: atReload.length, unit: 'epochs' },
    { name: 'epochs at a rover: p50', value: quantile(delays_ms, 0.5), unit: 'ms' },
    { name: 'p99', value: quantile(delays_ms, 0.99), unit: 'ms' },
    { name: 'the latest one', value: quantile(delays_ms, 1), unit: 'ms' },
    atMost('memory at the end, beside that after ten minutes', late_MB / early_MB, 1.25, 'times'),
    { name: 'resident memory', value: late_MB, unit: 'MB' },
    { name: 'threads', value: Number(/Threads:\s+(\d+)/.exec(lines)?.[1]), unit: '' },
  ]
}
