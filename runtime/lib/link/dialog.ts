import { Mutex } from 'async-mutex'
import type { Edges } from '../../platform/time/edges.js'

/** Returns the answer if the message is one, otherwise undefined. */
export type Matcher<M, T> = (message: M) => T | undefined

interface Waiting<M> {
  hear(message: M): void
  giveUp(): void
}

/** Sends requests to a device and waits for the answers: one request at a time, with a time limit for each try. */
export class Dialog<M> {
  readonly #edges: Pick<Edges, 'timers'>
  readonly #write: (request: Uint8Array) => boolean
  readonly #answer_ms: number
  readonly #turn = new Mutex()
  #waiting: Waiting<M> | undefined
  #generation = 0

  /**
   * @param write hands a request to the port; false: not accepted
   * @param answer_ms how long an answer may take
   */
  constructor(edges: Pick<Edges, 'timers'>, write: (request: Uint8Array) => boolean, answer_ms: number) {
    this.#edges = edges
    this.#write = write
    this.#answer_ms = answer_ms
  }

  /** Call this with every message of the device. */
  hear(message: M): void {
    this.#waiting?.hear(message)
  }

  /** The link was lost: waiting requests end without an answer. */
  abort(): void {
    this.#generation++
    this.#waiting?.giveUp()
  }

  /** @param tries default: 1. @returns undefined if no message matched in any of the tries, or the link was lost */
  ask<T>(request: Uint8Array, match: Matcher<M, T>, tries = 1): Promise<T | undefined> {
    const generation = this.#generation
    return this.#turn.runExclusive(async () => {
      for (let left = tries; left > 0 && generation === this.#generation; left--) {
        const answer = await this.#ask(request, match)
        if (answer !== undefined) return answer
      }
      return undefined
    })
  }

  #ask<T>(request: Uint8Array, match: Matcher<M, T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const done = (answer: T | undefined) => {
        this.#waiting = undefined
        void cancel()
        resolve(answer)
      }
      this.#waiting = {
        hear: (message) => {
          const answer = match(message)
          if (answer !== undefined) done(answer)
        },
        giveUp: () => done(undefined),
      }
      const cancel = this.#edges.timers.after(this.#answer_ms, () => done(undefined))
      if (!this.#write(request)) done(undefined)
    })
  }
}
