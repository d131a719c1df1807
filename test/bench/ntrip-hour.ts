import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPty } from '../harness/peers/pty.js'
import { addressOf, clientNumbers } from './addresses.js'
import { epochFrames, processUse, settled, unixNow_ms } from './edges.js'
import { HostWatch } from './host.js'
import { atMost, figure, lost, quantile } from './measurement.js'
import { ntripStation } from './ntrip.js'
import { definePart, pause } from './part.js'
import { rtkBase } from './stations.js'

interface Size {
  readonly rovers: number
  readonly stalled: number
  /** Connect again at each epoch. */
  readonly reconnecting: number
  /** Read everything the whole time, so that each epoch can be followed. */
  readonly followed: number
  /** Sent first and not measured: until then a station compiles what it runs. */
  readonly warmUp: number
  readonly epochs: number
  readonly pace_ms: number
  readonly reloads: number
  readonly settle_ms: number
}

const limit_ms = 250

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
  const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(clientNumbers(1)), noDelay: true })
  socket.on('error', () => {})
  socket.write('GET /BENCH HTTP/1.0\r\nUser-Agent: NTRIP hour\r\n\r\n')
  return new Follower(socket, written)
}

async function startCrowd(port: number, { rovers, followed, stalled, reconnecting }: Size): Promise<ChildProcess> {
  const script = join(fileURLToPath(import.meta.url), '..', 'crowd.js')
  const count = rovers - followed
  const numbers = [port, count, stalled, reconnecting, clientNumbers(count)].map(String)
  const child = spawn(process.execPath, [script, ...numbers], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  return child
}

/** The hour of a caster: 2,000 rovers, 1 % stalled, 1 % connecting again each second, 20 reloads. */
export const part = definePart<Size>({
  sizes: {
    // NTRIP_EPOCHS=300 for less, NTRIP_PACE=250 for four epochs a second.
    full: {
      ...{ rovers: 2_000, stalled: 20, reconnecting: 20, followed: 200, warmUp: 60, reloads: 20, settle_ms: 5_000 },
      ...{ epochs: Number(process.env.NTRIP_EPOCHS ?? 3_600), pace_ms: Number(process.env.NTRIP_PACE ?? 1_000) },
    },
    smoke: {
      ...{ rovers: 100, stalled: 2, reconnecting: 2, followed: 20, warmUp: 2, reloads: 1, settle_ms: 500 },
      ...{ epochs: 12, pace_ms: 400 },
    },
  },
  async run(size) {
    const { rovers, followed, warmUp, epochs, pace_ms, reloads, settle_ms } = size
    const reloadEvery = Math.floor(epochs / reloads)
    const pty = await openPty()
    const { station, port } = await ntripStation(pty.near)
    const file = await open(pty.far, 'w')
    const pid = station.child.pid as number
    await file.write(Buffer.concat(epochFrames(0)))
    const written = new Map<number, number>()
    const staying = Array.from({ length: followed }, () => follow(port, written))
    const crowd = await startCrowd(port, size)
    const host = new HostWatch()
    await pause(settle_ms)
    let early_MB = 0
    let reloaded: Promise<unknown> = Promise.resolve()
    const started = performance.now()
    for (let n = 1; n <= warmUp + epochs; n++) {
      if (n > warmUp) written.set(n, unixNow_ms())
      await file.write(Buffer.concat(epochFrames(n)))
      crowd.send('reconnect')
      // In the middle of its share of the epochs.
      if (n > warmUp && (n - warmUp) % reloadEvery === reloadEvery >> 1) {
        reloaded = rtkBase(['plugins', 'reload', 'ntrip-caster', '--data', station.data])
      }
      if (n === warmUp + Math.ceil(epochs / 6)) early_MB = processUse(pid).rss_bytes / 1e6
      const wait_ms = started + n * pace_ms - performance.now()
      await pause(Math.max(1, wait_ms))
    }
    const seconds = (performance.now() - started) / 1_000
    await reloaded
    const cameAll = () => staying.reduce((sum, { received }) => sum + new Set(received.map(([epoch]) => epoch)).size, 0)
    await settled(
      async () => cameAll(),
      (count) => count,
      (count) => count >= epochs * followed,
    )
    const late_MB = processUse(pid).rss_bytes / 1e6
    const late = staying.flatMap((one) => one.received).filter(([, ms]) => ms > limit_ms)
    const own = late.filter(([epoch, ms]) => {
      const sent_ms = written.get(epoch) as number
      return ms - host.taken_ms(sent_ms, sent_ms + ms) > limit_ms
    })
    const sinceReload = ([epoch]: [number, number]) => (epoch - warmUp + reloadEvery - (reloadEvery >> 1)) % reloadEvery
    const atReload = late.filter((one) => sinceReload(one) <= 1)
    const delays_ms = staying.flatMap((one) => one.received.map(([, ms]) => ms))
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8')
    await file.close()
    await station.end('SIGKILL')
    crowd.kill()
    host.stop()
    await pty.close()
    return [
      figure(`${rovers} rovers, ${epochs} epochs in`, seconds, 's'),
      lost('epochs lost by those that are followed', epochs * followed, cameAll(), 'epochs'),
      atMost(`epochs more than ${limit_ms} ms late`, late.length, 1, 'epochs', epochs * followed),
      figure('of these by more than the host took', own.length, 'epochs'),
      figure('of these at a reload', atReload.length, 'epochs'),
      figure('epochs at a rover: p50', quantile(delays_ms, 0.5), 'ms'),
      figure('p99', quantile(delays_ms, 0.99), 'ms'),
      figure('the latest one', quantile(delays_ms, 1), 'ms'),
      atMost('memory at the end, beside that after ten minutes', late_MB / early_MB, 1.25, 'times'),
      figure('resident memory', late_MB, 'MB', 120),
      figure('threads', Number(/Threads:\s+(\d+)/.exec(lines)?.[1]), '', 11),
    ]
  },
})
