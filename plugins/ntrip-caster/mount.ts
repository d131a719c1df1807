import { type Gga, isMsm } from 'rtk-base/gnss'
import { chunkOf, type Selection, Selector } from 'rtk-base/ntrip'
import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { RtcmEpoch, RtcmFrame, RtcmStream } from 'rtk-base/services'

/** One that takes the stream. */
export interface Rover {
  readonly connection: Connection
  readonly user: string
  readonly agent: string
  readonly version: 1 | 2
  readonly chunked: boolean
  /** UTC seconds, 0 without a credible clock. */
  readonly since: number
  /** Where it says that it is, and when it said so (monotonic ms). */
  gga?: { position: Gga; at_ms: number; distance_m: number | undefined }
  /** It has the position of the base: nothing else goes out before. */
  primed: boolean
  frames: number
}

const isPosition = (type: number) => type === 1005 || type === 1006

/** A mount point: what it sends is chosen and put together once for all its rovers, an epoch in one piece. */
export class Mount {
  readonly name: string
  readonly #ctx: PluginContext
  readonly #selection: Selection
  readonly #stream: RtcmStream
  #selector: Selector
  readonly rovers = new Set<Rover>()
  /** Message number → monotonic ms of the last two, for the source table. */
  readonly #seen = new Map<number, { last_ms: number; interval_s: number }>()
  #bytes = 0
  #since_ms: number

  constructor(ctx: PluginContext, stream: RtcmStream, { name, ...selection }: Selection & { name: string }) {
    this.name = name
    this.#ctx = ctx
    this.#stream = stream
    this.#selection = selection
    this.#selector = new Selector(selection)
    this.#since_ms = ctx.clock.monotonic()
  }

  /** A frame that belongs to no epoch goes out at once: it is small, and the position has to come first. */
  frame(frame: RtcmFrame): void {
    if (isMsm(frame.type) || !this.#selector.wantsFrame(frame.type)) return
    this.#count(frame.type, frame.bytes.length)
    this.#send(frame.bytes, isPosition(frame.type))
  }

  epoch({ frames }: RtcmEpoch): void {
    const chosen = this.#selector.epoch(frames, this.#ctx.clock.monotonic())
    if (chosen.length === 0) return
    for (const bytes of chosen)
      this.#count((((bytes[3] as number) << 4) | ((bytes[4] as number) >> 4)) & 0xfff, bytes.length)
    this.#send(Buffer.concat(chosen), false)
  }

  /** The gate opened with another verdict, or closed: nobody has the position any more. */
  reset(): void {
    for (const rover of this.rovers) rover.primed = false
    this.#selector = new Selector(this.#selection)
  }

  add(rover: Rover): void {
    this.rovers.add(rover)
    // Where the gate is closed there is none, and nothing goes out.
    if (!this.#stream.open) return
    const reference = this.#stream.reference().filter(({ type }) => this.#selector.wantsFrame(type))
    if (reference.length === 0) return
    rover.primed = reference.some(({ type }) => isPosition(type))
    this.#write(rover, Buffer.concat(reference.map(({ bytes }) => bytes)))
  }

  #send(bytes: Uint8Array, isPositionFrame: boolean): void {
    let chunk: Buffer | undefined
    for (const rover of this.rovers) {
      if (isPositionFrame) rover.primed = true
      if (!rover.primed) continue
      if (rover.chunked) chunk ??= chunkOf(bytes)
      rover.frames += 1
      rover.connection.write(rover.chunked ? (chunk as Buffer) : bytes)
    }
  }

  #write(rover: Rover, bytes: Buffer): void {
    rover.connection.write(rover.chunked ? chunkOf(bytes) : bytes)
  }

  #count(type: number, bytes: number): void {
    const now_ms = this.#ctx.clock.monotonic()
    const before = this.#seen.get(type)
    this.#seen.set(type, { last_ms: now_ms, interval_s: before ? (now_ms - before.last_ms) / 1000 : 0 })
    this.#bytes += bytes
    // The rate of the last minute or two.
    if (now_ms - this.#since_ms > 120_000) {
      this.#bytes /= 2
      this.#since_ms += (now_ms - this.#since_ms) / 2
    }
  }

  /** Measured: messages that came in the last minute with their intervals, bit/s. */
  contents(): { messages: { type: number; interval_s: number }[]; bitrate: number } {
    const now_ms = this.#ctx.clock.monotonic()
    const messages = [...this.#seen]
      .filter(([, { last_ms }]) => now_ms - last_ms < 60_000)
      .map(([type, { interval_s }]) => ({ type, interval_s: Math.max(1, Math.round(interval_s)) }))
      .sort((one, other) => one.type - other.type)
    return { messages, bitrate: (this.#bytes * 8_000) / Math.max(1_000, now_ms - this.#since_ms) }
  }
}
