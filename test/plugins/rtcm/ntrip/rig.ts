/** What the tests of NTRIP share: a station with a receiver, casters that are simulated, clients that keep what they get. */
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import rtcm from '../../../../plugins/rtcm/rtcm/index.js'
import { encodeMsm, Framer, messageNumber } from '../../../../runtime/lib/gnss/index.js'
import { tcpQueues } from '../../../../runtime/lib/link/index.js'
import { ChunkReader } from '../../../../runtime/lib/ntrip/index.js'
import type { AnyPlugin } from '../../../../runtime/plugin.js'
import { drive, pass } from '../../../harness/drive.js'
import {
  arpFrame,
  createTestStation,
  fakeReceiver,
  ManualClock,
  msmFrame,
  type TestStationOptions,
  until,
} from '../../../harness/index.js'

export const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

/** An epoch of one message of 64 cells. */
export const largeEpoch = (): Uint8Array =>
  encodeMsm({
    ...{ type: 1077, stationId: 0, epochTime: 1_000, multiple: false },
    observations: Array.from({ length: 64 }, (_, cell) => ({
      ...{ satellite: (cell >> 1) + 1, signal: 2 + (cell & 1), pseudorange_m: 22_000_000 + cell, phase_m: 22_000_000 },
    })),
  })

/** The whole RTCM frames in these bytes. */
export function framesIn(bytes: Uint8Array): Uint8Array[] {
  const frames: Uint8Array[] = []
  new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && frames.push(frame.bytes) }).push(bytes, 0)
  return frames
}

/** Their message numbers. */
export const typesIn = (bytes: Uint8Array): number[] => framesIn(bytes).map(messageNumber)

/** What follows the head of a message, without its chunks where it has any. */
function bodyOf(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return Buffer.alloc(0)
  const body = bytes.subarray(end + 4)
  const isChunked = /transfer-encoding: *chunked/i.test(bytes.toString('latin1', 0, end))
  return isChunked ? Buffer.concat(new ChunkReader().push(body)) : body
}

/** A station with a receiver that says what a test wants, the stream and the plugin that is tested. */
export async function setUpStation(t: Test, options: TestStationOptions = {}) {
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  const station = await createTestStation({
    ...options,
    clock,
    plugins: { 'fake-receiver': receiver.definition, rtcm: rtcm as AnyPlugin, ...options.plugins },
  })
  t.teardown(() => station.stop())
  receiver.become({ mode: 'listening' })
  const epoch = (time: number, ...types: number[]) => {
    const all = types.length > 0 ? types : [1074, 1084, 1124]
    for (const [index, type] of all.entries()) receiver.emit(msmFrame(type, time, index < all.length - 1))
  }
  let time = 0
  const emit = async () => {
    if (++time % 20 === 0) await acknowledged()
    receiver.emit(arpFrame(here))
    epoch(time * 1_000, 1074, 1084)
  }
  /** A second of RTCM: the position and an epoch. */
  const second = async () => {
    await emit()
    await pass(clock, 1_000)
  }
  /** Seconds of RTCM until something is so. */
  const secondsUntil = async (condition: () => unknown, what: string) => {
    const isOver = async () => (await condition()) || void (await emit())
    return (await drive(clock, isOver, what)) / 1_000
  }
  const change = (values: object) => station.station.change(values, { source: 'http' })
  const command = (text: string) => station.station.command(text, { source: 'console' })
  return { station, clock, receiver, epoch, second, secondsUntil, change, command }
}

/** The end of a connection that keeps what it gets. */
export class Client {
  readonly socket: Socket
  bytes = Buffer.alloc(0)
  closed = false

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (bytes) => {
      this.bytes = Buffer.concat([this.bytes, bytes])
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.closed = true
    })
  }

  get text(): string {
    return this.bytes.toString('latin1')
  }

  get head(): string {
    return this.text.slice(0, this.text.indexOf('\r\n\r\n'))
  }

  /** Message numbers after the head. */
  types(): number[] {
    return typesIn(bodyOf(this.bytes))
  }

  frames(): Uint8Array[] {
    return framesIn(bodyOf(this.bytes))
  }

  /** The head and what came with it: where it is the wrong one, the connection may stay. */
  async answer(): Promise<string> {
    await until(() => this.text.includes('\r\n\r\n') || this.closed, 'an answer')
    return this.text
  }

  async ends(): Promise<string> {
    await until(() => this.closed, 'the end of the connection')
    return this.text
  }
}

/** A connection that a simulated caster was given. */
export interface Visit {
  readonly socket: Socket
  bytes: Buffer
  readonly head: string
  /** What came after the head. */
  readonly body: Buffer
  readonly types: number[]
}

/** Connections of the simulated casters. */
const visitors = new Set<Socket>()

/**
 * Waits until the system has acknowledged all that simulated casters have read. It may do so 40 ms later: that is real time in which
 * nothing works. Without this wait every 20 s, the 25 s of a cut line could pass.
 */
export const acknowledged = () =>
  until(async () => {
    const queueOf = await tcpQueues()
    const isOpen = ({ localPort, remotePort }: Socket) =>
      (queueOf({ localPort: remotePort as number, remotePort: localPort as number }) ?? 0) > 0
    return ![...visitors].some((socket) => !socket.isPaused() && isOpen(socket))
  }, 'the acknowledgements of the system')

/** A simulated caster: it keeps what it gets, and answers as it is told to. */
export async function fakeCaster(t: Test, answer: (visit: Visit, index: number) => void) {
  const visits: Visit[] = []
  const server = createServer((socket) => {
    const visit: Visit = {
      socket,
      bytes: Buffer.alloc(0),
      get head() {
        return visit.bytes.toString('latin1').split('\r\n\r\n')[0] as string
      },
      get body() {
        return bodyOf(visit.bytes)
      },
      get types() {
        return typesIn(visit.body)
      },
    }
    const index = visits.push(visit) - 1
    let answered = false
    visitors.add(socket)
    socket.on('close', () => visitors.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      visit.bytes = Buffer.concat([visit.bytes, bytes])
      if (answered || !visit.bytes.includes('\r\n\r\n')) return
      answered = true
      answer(visit, index)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const { socket } of visits) socket.destroy()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, visits }
}
