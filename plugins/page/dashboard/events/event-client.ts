import type { Readable } from 'node:stream'
import { PassThrough } from 'node:stream'
import { constants, createGzip, type Gzip } from 'node:zlib'

/** An event for a page: name and data (JSON without line breaks). */
export interface PageEvent {
  readonly name: string
  readonly data: string
  /** A log line: queued while the page is slow, up to a limit. Other events are replaced by the next of the same name. */
  readonly isLine?: boolean
}

const encoded = new WeakMap<PageEvent, Uint8Array>()
const encoder = new TextEncoder()

/** As it goes out; the same bytes for every page. In memory of their own: of Node's pool a kept line would hold 8 kB. */
function bytesOf(event: PageEvent): Uint8Array {
  let bytes = encoded.get(event)
  if (!bytes) {
    bytes = encoder.encode(`event: ${event.name}\ndata: ${event.data}\n\n`)
    encoded.set(event, bytes)
  }
  return bytes
}

/** Maximum queued lines of a slow page, including those it gets when opened; the oldest are dropped. */
const mostLines = 500

/**
 * One page that listens (server-sent events, HTML Standard §9.2). One gzip stream for all its life, flushed after each event, so that
 * a document that hardly changed costs about 100 bytes. A page that takes nothing holds nothing up, and nothing piles up for it.
 */
export class EventClient {
  readonly stream: Readable
  readonly #sink: Gzip | PassThrough
  readonly #waiting = new Map<string, PageEvent>()
  #lines: PageEvent[] = []
  #dropped = 0

  constructor(compressed: boolean) {
    // The window must hold all that goes out in a second, document and satellites: with a smaller one nothing is found again. 160 kB a page.
    this.#sink = compressed ? createGzip({ windowBits: 15, memLevel: 6, level: 5 }) : new PassThrough()
    this.stream = this.#sink
    this.#sink.on('drain', () => this.#catchUp())
    this.#sink.on('error', () => {})
  }

  send(event: PageEvent): void {
    if (this.#sink.destroyed) return
    if (!this.#sink.writableNeedDrain) this.#write(event)
    else if (!event.isLine) this.#waiting.set(event.name, event)
    else {
      this.#lines.push(event)
      if (this.#lines.length <= mostLines) return
      this.#lines.shift()
      this.#dropped += 1
    }
  }

  end(): void {
    this.#sink.end()
  }

  #catchUp(): void {
    const events = [...this.#waiting.values(), ...this.#lines]
    if (this.#dropped > 0) events.push({ name: 'dropped', data: String(this.#dropped) })
    this.#waiting.clear()
    this.#lines = []
    this.#dropped = 0
    for (const event of events) this.send(event)
  }

  #write(event: PageEvent): void {
    this.#sink.write(bytesOf(event))
    if ('flush' in this.#sink) this.#sink.flush(constants.Z_SYNC_FLUSH)
  }
}
