import type { RtcmEpoch, RtcmFrame, RtcmStream } from '../../../schemas/services.js'
import type { Dispose, PluginContext } from '../../plugin.js'
import { isMsm, isReferencePoint } from '../gnss/index.js'
import { chunkOf } from './chunked.js'
import { type Selection, Selector } from './selection.js'

/** Bytes for many clients. The chunk is made only once, for all clients that need it. */
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

/** Receives the stream as NTRIP sends it: observations by epoch, everything else frame by frame. */
export interface StreamSink {
  /** @param sequence number of the item (frame or epoch) in the stream */
  frame(frame: RtcmFrame, sequence: number): void
  epoch(epoch: RtcmEpoch, sequence: number): void
  /** The gate closed, or opened with another reference. Forget what was sent before. */
  reset(): void
}

/**
 * Feeds sinks from one subscription to the stream. The status document does not list this subscription, because the
 * plugin lists its clients there.
 * @returns a function that ends the subscription. It also ends with the plugin
 */
export function feed(ctx: PluginContext, stream: RtcmStream, sinks: () => Iterable<StreamSink>): Dispose {
  // The initial data for a newcomer is of no use here: each client gets it when it connects.
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
  const epochs = ctx.on(stream.onEpoch, (epoch) => {
    for (const sink of sinks()) sink.epoch(epoch, stream.sequence)
  })
  const states = ctx.on(stream.onState, () => {
    for (const sink of sinks()) sink.reset()
  })
  const end = () => {
    void epochs()
    void states()
    subscription.close()
  }
  ctx.defer(end)
  return end
}

/** Passes the output of the last seconds to new sinks, so that clients that are handed over to them miss nothing. */
export function catchUp(stream: RtcmStream, sinks: readonly StreamSink[]): void {
  for (const item of stream.recent()) {
    for (const sink of sinks) {
      if ('frame' in item) sink.frame(item.frame, item.sequence)
      else sink.epoch(item.epoch, item.sequence)
    }
  }
}

/** The position that is sent now, as a text for comparison; `''` if none. */
export function positionOf(stream: Pick<RtcmStream, 'open' | 'reference'>): string {
  const frame = stream.open ? stream.reference().find(({ type }) => isReferencePoint(type)) : undefined
  return frame ? Buffer.from(frame.bytes).toString('base64') : ''
}

/** Pieces that a distributor keeps for clients of the previous distributor. */
const mostKept = 64

/** A client of a `Distributor`. */
export interface StreamClient {
  /** Whether the client has received the position of the base. Observations are sent only after it. */
  primed: boolean
}

export interface DistributorEvents<T> {
  /** @returns false: the piece was skipped because the client is slow */
  send(client: T, piece: Piece): boolean
  /** Called once for each frame of the selection, also without clients. @param bytes its length */
  counted?(type: number, bytes: number, frame: Uint8Array): void
}

/**
 * Sends a selection of the stream to any number of clients. The selection is made once for all of them. Each client
 * gets the position of the base first.
 */
export class Distributor<T extends StreamClient> implements StreamSink {
  readonly clients = new Set<T>()
  readonly #stream: Pick<RtcmStream, 'open' | 'reference'>
  readonly #now_ms: () => number
  readonly #events: DistributorEvents<T>
  readonly #selector: Selector
  #kept: { piece: Piece; sequence: number }[] = []
  /** Number of the newest item of the stream that was processed. */
  sequence = 0

  /** @param now_ms monotonic */
  constructor(
    stream: Pick<RtcmStream, 'open' | 'reference'>,
    selection: Selection,
    now_ms: () => number,
    events: DistributorEvents<T>,
  ) {
    this.#stream = stream
    this.#now_ms = now_ms
    this.#events = events
    this.#selector = new Selector(selection)
  }

  /** The position that is sent now, see `positionOf`. */
  get position(): string {
    return positionOf(this.#stream)
  }

  /**
   * Adds a client, which immediately gets the reference messages. While the gate is closed there are none, and
   * nothing is sent.
   * @param before for a client of a previous distributor: the position that it received, and the number of the newest item
   *   that it received
   */
  add(client: T, before?: { position: string; sequence: number }): void {
    this.clients.add(client)
    client.primed = before !== undefined && before.position !== '' && before.position === this.position
    if (before && client.primed) {
      for (const { piece, sequence } of this.#kept) if (sequence > before.sequence) this.#events.send(client, piece)
      return
    }
    if (!this.#stream.open) return
    const reference = this.#stream.reference().filter(({ type }) => this.#selector.wantsFrame(type))
    if (reference.length === 0) return
    const isSent = this.#events.send(client, new Piece(Buffer.concat(reference.map(({ bytes }) => bytes))))
    client.primed = isSent && reference.some(({ type }) => isReferencePoint(type))
  }

  /** A frame outside an epoch is sent at once: it is small, and the position must come first. */
  frame(frame: RtcmFrame, sequence: number): void {
    this.sequence = sequence
    const { type, bytes } = frame
    if (isMsm(type) || !this.#selector.frame(frame)) return
    this.#events.counted?.(type, bytes.length, bytes)
    this.#send(bytes, isReferencePoint(type))
  }

  epoch({ frames }: RtcmEpoch, sequence: number): void {
    this.sequence = sequence
    const chosen = this.#selector.epoch(frames, this.#now_ms())
    if (chosen.length === 0) return
    for (const { type, bytes } of chosen) this.#events.counted?.(type, bytes.length, bytes)
    this.#send(Buffer.concat(chosen.map(({ bytes }) => bytes)))
  }

  /** No client counts as having the position any more. */
  reset(): void {
    for (const client of this.clients) client.primed = false
    this.#kept = []
    this.#selector.reset()
  }

  /**
   * @param primes it is the position: a client that skipped it gets no observations, as it would use them with another
   * position
   */
  #send(bytes: Uint8Array, primes = false): void {
    const piece = new Piece(bytes)
    this.#kept.push({ piece, sequence: this.sequence })
    if (this.#kept.length > mostKept) this.#kept.shift()
    for (const client of this.clients) {
      if (!primes && !client.primed) continue
      const isSent = this.#events.send(client, piece)
      if (primes && isSent) client.primed = true
    }
  }
}
