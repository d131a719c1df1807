import type { RtcmEpoch, RtcmFrame, RtcmStream } from '../../schemas/services.js'
import { isMsm } from '../gnss/index.js'
import type { PluginContext } from '../plugin.js'
import { chunkOf } from './chunked.js'
import { isPosition, type Selection, Selector } from './selection.js'

/** Bytes that go to many takers: put into a chunk once, however many want one. */
export class Piece {
  readonly bytes: Uint8Array
  #chunk: Buffer | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get chunk(): Buffer {
    this.#chunk ??= chunkOf(this.bytes)
    return this.#chunk
  }
}

/** Takes the stream as NTRIP sends it: observations by the epoch, everything else at once. */
export interface StreamSink {
  /** @param sequence its number in the stream */
  frame(frame: RtcmFrame, sequence: number): void
  epoch(epoch: RtcmEpoch, sequence: number): void
  /** The gate opened with another verdict, or closed. */
  reset(): void
}

/** Feeds sinks from one subscription. It is not shown in the document: whoever is connected is shown there by the plugin. */
export function feed(ctx: PluginContext, stream: RtcmStream, sinks: () => Iterable<StreamSink>): void {
  // What a newcomer gets at once is of no use here: each taker gets it when it comes.
  let isPrime = true
  const subscription = stream.subscribe({
    via: 'ntrip',
    name: ctx.name,
    ip: '',
    shown: false,
    take(frame) {
      if (!isPrime) for (const sink of sinks()) sink.frame(frame, stream.sequence)
      return true
    },
  })
  isPrime = false
  ctx.defer(() => subscription.close())
  ctx.on(stream.onEpoch, (epoch) => {
    for (const sink of sinks()) sink.epoch(epoch, stream.sequence)
  })
  ctx.on(stream.onState, () => {
    for (const sink of sinks()) sink.reset()
  })
}

/** Sinks that are new catch up with what went out in the last seconds: those who were handed over to them miss nothing. */
export function catchUp(stream: RtcmStream, sinks: readonly StreamSink[]): void {
  for (const item of stream.recent()) {
    for (const sink of sinks) {
      if ('frame' in item) sink.frame(item.frame, item.sequence)
      else sink.epoch(item.epoch, item.sequence)
    }
  }
}

/** The position that goes out now, as a text to compare; `''` while there is none. */
export function positionOf(stream: Pick<RtcmStream, 'open' | 'reference'>): string {
  const frame = stream.open ? stream.reference().find(({ type }) => isPosition(type)) : undefined
  return frame ? Buffer.from(frame.bytes).toString('base64') : ''
}

/** Pieces that an outlet keeps for takers of the outlet before it. */
const mostKept = 64

/** One that takes an outlet's stream. */
export interface OutletTaker {
  /** It has the position of the base: observations go out after it only. */
  primed: boolean
}

export interface OutletEvents<T> {
  /** @returns false: it was left out, as the taker is slow */
  send(taker: T, piece: Piece): boolean
  /** A frame of this length goes out, whether somebody takes it or not. */
  counted?(type: number, bytes: number): void
}

/** A selection of the stream for any number of takers: chosen and put together once, the position of the base first. */
export class Outlet<T extends OutletTaker> implements StreamSink {
  readonly takers = new Set<T>()
  readonly #stream: Pick<RtcmStream, 'open' | 'reference'>
  readonly #selection: Selection
  readonly #now_ms: () => number
  readonly #events: OutletEvents<T>
  #selector: Selector
  #kept: { piece: Piece; sequence: number }[] = []
  /** Of the newest item of the stream that was looked at. */
  sequence = 0

  /** @param now_ms monotonic */
  constructor(
    stream: Pick<RtcmStream, 'open' | 'reference'>,
    selection: Selection,
    now_ms: () => number,
    events: OutletEvents<T>,
  ) {
    this.#stream = stream
    this.#selection = selection
    this.#now_ms = now_ms
    this.#events = events
    this.#selector = new Selector(selection)
  }

  /** See `positionOf`. */
  get position(): string {
    return positionOf(this.#stream)
  }

  /**
   * A newcomer gets the reference messages at once. While the gate is closed there are none, and nothing goes out.
   * @param before of one that another outlet served: the position that it has, and the newest item that it got
   */
  add(taker: T, before?: { position: string; sequence: number }): void {
    this.takers.add(taker)
    taker.primed = before !== undefined && before.position !== '' && before.position === this.position
    if (before && taker.primed) {
      for (const { piece, sequence } of this.#kept) if (sequence > before.sequence) this.#events.send(taker, piece)
      return
    }
    if (!this.#stream.open) return
    const reference = this.#stream.reference().filter(({ type }) => this.#selector.wantsFrame(type))
    if (reference.length === 0) return
    const isSent = this.#events.send(taker, new Piece(Buffer.concat(reference.map(({ bytes }) => bytes))))
    taker.primed = isSent && reference.some(({ type }) => isPosition(type))
  }

  /** A frame of no epoch goes out at once: it is small, and the position has to come first. */
  frame({ type, bytes }: RtcmFrame, sequence: number): void {
    this.sequence = sequence
    if (isMsm(type) || !this.#selector.wantsFrame(type)) return
    this.#events.counted?.(type, bytes.length)
    this.#send(bytes, isPosition(type))
  }

  epoch({ frames }: RtcmEpoch, sequence: number): void {
    this.sequence = sequence
    const chosen = this.#selector.epoch(frames, this.#now_ms())
    if (chosen.length === 0) return
    for (const { type, bytes } of chosen) this.#events.counted?.(type, bytes.length)
    this.#send(Buffer.concat(chosen.map(({ bytes }) => bytes)))
  }

  /** Nobody has the position any more. */
  reset(): void {
    for (const taker of this.takers) taker.primed = false
    this.#kept = []
    this.#selector = new Selector(this.#selection)
  }

  /** @param primes it is the position: a taker that has left it out gets no observations, they would be used with another one */
  #send(bytes: Uint8Array, primes = false): void {
    const piece = new Piece(bytes)
    this.#kept.push({ piece, sequence: this.sequence })
    if (this.#kept.length > mostKept) this.#kept.shift()
    for (const taker of this.takers) {
      if (!primes && !taker.primed) continue
      const isSent = this.#events.send(taker, piece)
      if (primes && isSent) taker.primed = true
    }
  }
}
