/** Questions to the receiver and their answers: one at a time, each with a time limit. */
import type { Dispose } from 'rtk-base/plugin'
import type { Edges } from '../port/types.js'
import * as ubx from '../ubx/index.js'

/** Looks at a message; anything but undefined ends the wait. */
type Matcher<T> = (cls: number, id: number, payload: Uint8Array) => T | undefined

interface Waiting {
  take(cls: number, id: number, payload: Uint8Array): void
  giveUp(): void
}

const answer_ms = 1000

export class Dialog {
  readonly #edges: Edges
  readonly #write: (bytes: Uint8Array) => boolean
  #waiting: Waiting | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #generation = 0

  constructor(edges: Edges, write: (bytes: Uint8Array) => boolean) {
    this.#edges = edges
    this.#write = write
  }

  /** Every UBX message that comes. */
  take(cls: number, id: number, payload: Uint8Array): void {
    this.#waiting?.take(cls, id, payload)
  }

  /** The link was lost: nothing that was asked will be answered. */
  abort(): void {
    this.#generation++
    this.#waiting?.giveUp()
  }

  /** @returns undefined when nothing matched within 1 s, or the link went */
  ask<T>(request: Uint8Array, match: Matcher<T>): Promise<T | undefined> {
    const generation = this.#generation
    const asked = this.#queue.then(() => (generation === this.#generation ? this.#ask(request, match) : undefined))
    this.#queue = asked
    return asked
  }

  /** The payload of a polled message. */
  poll(layout: { cls: number; id: number }): Promise<Uint8Array | undefined> {
    return this.ask(ubx.ubxFrame(layout.cls, layout.id), (cls, id, payload) =>
      cls === layout.cls && id === layout.id && payload.length > 0 ? payload : undefined,
    )
  }

  /** The values of keys in a layer; undefined when refused or not answered. Asks again for what one answer can't hold. */
  async values(keys: readonly number[], layer: ubx.LayerName): Promise<Map<number, ubx.ConfigValue> | undefined> {
    const values = new Map<number, ubx.ConfigValue>()
    for (let position = 0; ; position += ubx.maxPairs) {
      const page = await this.ask(ubx.valgetPoll(keys, layer, position), (cls, id, payload) =>
        messageIs(cls, id, ubx.CFG.cls, ubx.CFG.valget)
          ? ubx.decodeValget(payload)
          : acknowledged(cls, id, payload, ubx.CFG.valget) === false
            ? null
            : undefined,
      )
      if (!page) return position === 0 ? undefined : values
      for (const [key, value] of page.values) values.set(key, value)
      if (page.values.size < ubx.maxPairs) return values
    }
  }

  /** Writes keys; true when acknowledged, false when refused, undefined when not answered. */
  set(pairs: readonly ubx.ConfigPair[], layers: number): Promise<boolean | undefined> {
    return this.#command(ubx.valset(pairs, layers), ubx.CFG.valset)
  }

  delete(keys: readonly number[], layers: number): Promise<boolean | undefined> {
    return this.#command(ubx.valdel(keys, layers), ubx.CFG.valdel)
  }

  #command(request: Uint8Array, msgId: number): Promise<boolean | undefined> {
    return this.ask(request, (cls, id, payload) => acknowledged(cls, id, payload, msgId))
  }

  #ask<T>(request: Uint8Array, match: Matcher<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      let cancel: Dispose = () => {}
      const done = (answer: T | undefined) => {
        this.#waiting = undefined
        void cancel()
        resolve(answer)
      }
      this.#waiting = {
        take: (cls, id, payload) => {
          const answer = match(cls, id, payload)
          if (answer !== undefined) done(answer)
        },
        giveUp: () => done(undefined),
      }
      cancel = this.#edges.timers.after(answer_ms, () => done(undefined))
      if (!this.#write(request)) done(undefined)
    })
  }
}

function messageIs(cls: number, id: number, wantedCls: number, wantedId: number): boolean {
  return cls === wantedCls && id === wantedId
}

/** True for ACK, false for NAK of that configuration message, undefined for anything else. */
function acknowledged(cls: number, id: number, payload: Uint8Array, msgId: number): boolean | undefined {
  if (cls !== ubx.ackAck.cls) return undefined
  const ack = ubx.decode(ubx.ackAck, payload)
  return ack?.clsId === ubx.CFG.cls && ack.msgId === msgId ? id === ubx.ackAck.id : undefined
}
