/**
 * Keeps a port open: opens it, notices that it was lost, opens it again.
 *
 * | phase     | event                               | next      | also                                          |
 * |-----------|-------------------------------------|-----------|-----------------------------------------------|
 * | `stopped` | `start`                             | `opening` |                                               |
 * | `opening` | it opened                           | `open`    |                                               |
 * | `opening` | it could not be opened              | `waiting` | opened again after 0.2 … 5 s                  |
 * | `waiting` | the wait has ended                  | `opening` |                                               |
 * | `waiting` | the device was absent and appears   | `opening` | the next waits are short again                |
 * | `open`    | EOF, error, the device node changed | `waiting` | closed first: an open port would be busy      |
 * | `open`    | `drop`: the owner cannot use it     | `waiting` | the same                                      |
 * | `open`    | end of a recording                  | `ended`   |                                               |
 * | any       | `stop`                              | `stopped` |                                               |
 */

import type { BytePort } from '../../../../schemas/byte-port.js'
import { Backoff } from '../../../platform/time/backoff.js'
import type { Edges } from '../../../platform/time/edges.js'
import type { Dispose } from '../../../plugin.js'

/** The phases of the table above. */
export type KeptPortPhase = 'stopped' | 'waiting' | 'opening' | 'open' | 'ended'

export interface KeptPortEvents {
  /** Returns the baud rate for opening the port; 0 if the line has none. */
  baud(): number
  /** The port is about to be opened. */
  opening?(): void
  opened(): void
  data(chunk: Uint8Array): void
  /** The port is closed, or could not be opened. It will be opened again. */
  closed(reason: string): void
  /** A recording came to its end. */
  ended(reason: string): void
}

const look_ms = 250
const waits = { first_ms: 200, longest_ms: 5000 } as const

/** Keeps a port open, by the table above. */
export class KeptPort {
  readonly #port: BytePort
  readonly #edges: Edges
  readonly #events: KeptPortEvents
  readonly #backoff: Backoff
  /** Counts openings: events of an earlier opening are ignored. */
  #generation = 0
  #phase: KeptPortPhase = 'stopped'
  #retryAt_ms = 0
  #wasAbsent: boolean = false
  #looking: Dispose = () => {}

  constructor(port: BytePort, edges: Edges, events: KeptPortEvents, random?: () => number) {
    this.#port = port
    this.#edges = edges
    this.#events = events
    this.#backoff = new Backoff({ ...waits, ...(random && { random }) })
  }

  get phase(): KeptPortPhase {
    return this.#phase
  }

  start(): void {
    this.#looking = this.#edges.timers.every(look_ms, () => this.#look())
    this.#open()
  }

  async stop(): Promise<void> {
    void this.#looking()
    this.#phase = 'stopped'
    this.#generation++
    await this.#port.close()
  }

  /** False: not open, or it accepts nothing now. */
  write(bytes: Uint8Array): boolean {
    return this.#phase === 'open' && this.#port.write(bytes)
  }

  /** The device works: after a loss, the first wait is short again. */
  works(): void {
    this.#backoff.reset()
  }

  /** Changes the rate without closing. @returns false if the port was lost meanwhile */
  async setBaud(baud: number): Promise<boolean> {
    const generation = this.#generation
    try {
      await this.#port.setBaud?.(baud)
    } catch (error) {
      if (generation === this.#generation) this.drop(messageOf(error))
      return false
    }
    return generation === this.#generation
  }

  /** Closes the port and opens it again. */
  drop(reason: string): void {
    this.#generation++
    this.#phase = 'waiting'
    this.#retryAt_ms = Number.POSITIVE_INFINITY
    this.#events.closed(reason)
    const again = () => {
      // Until the device was released, the system would call it busy.
      if (this.#phase === 'waiting') this.#retryAt_ms = this.#now() + this.#backoff.next()
    }
    this.#port.close().then(again, again)
  }

  #open(): void {
    const generation = ++this.#generation
    const current = () => generation === this.#generation
    this.#phase = 'opening'
    this.#events.opening?.()
    this.#port
      .open(this.#events.baud(), {
        data: (chunk) => {
          if (current()) this.#events.data(chunk)
        },
        closed: (reason, end) => {
          if (current()) end ? this.#end(reason) : this.drop(reason)
        },
      })
      .then(
        () => {
          if (current()) this.#opened()
          else if (this.#phase === 'stopped') void this.#port.close()
        },
        (error: unknown) => {
          if (current()) this.#failed(messageOf(error))
        },
      )
  }

  #opened(): void {
    this.#phase = 'open'
    this.#wasAbsent = false
    this.#events.opened()
  }

  #failed(reason: string): void {
    this.#phase = 'waiting'
    this.#retryAt_ms = this.#now() + this.#backoff.next()
    this.#events.closed(reason)
  }

  #end(reason: string): void {
    this.#phase = 'ended'
    this.#events.ended(reason)
  }

  #look(): void {
    if (this.#phase === 'waiting') this.#retry()
    else if (this.#phase === 'open' && this.#port.present?.() === false) this.drop('the device has disconnected')
  }

  #retry(): void {
    const present = this.#port.present?.() ?? true
    if (!present) this.#wasAbsent = true
    else if (this.#wasAbsent) {
      // It has just come back: no reason to wait any longer.
      this.#wasAbsent = false
      this.#backoff.reset()
      this.#retryAt_ms = this.#now()
    }
    if (present && this.#now() >= this.#retryAt_ms) this.#open()
  }

  #now(): number {
    return this.#edges.clock.monotonic()
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
