import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { Type } from 'typebox'

const stored = 'sequence'
/** The next number, as handed over to the next instance; 0: none was issued. */
export const SequenceNumber = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** Numbers that are reserved in one write: one write an hour at one publication a second. */
export const block = 3_600
/** The next block is reserved when this many are left. */
const ahead = 600

/**
 * Numbers of signed publications. They start at the time (UTC milliseconds), so that a station that lost its store does not start
 * from 0 again; and a number is used only after a higher one is durable, so that they never fall after a power cut, whatever the
 * clock says.
 */
export class Sequence {
  readonly #ctx: PluginContext
  /** 0 until the first number is issued. */
  #next = 0
  /** Numbers below this one may be used. */
  #reserved = 0
  #reserving: Promise<void> | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** The next number, for the instance after a reload; 0 while none was issued. */
  get next(): number {
    return this.#next
  }

  /** @param goOn after a reload: the next number of the previous instance */
  async start(goOn = 0): Promise<void> {
    const reserved = await this.#ctx.store.get(stored)
    this.#reserved = typeof reserved === 'number' && Number.isSafeInteger(reserved) ? reserved : 1
    this.#next = goOn
  }

  /** The next number. Rejects when none can be reserved. */
  async issue(): Promise<number> {
    if (this.#next === 0) {
      // The last run may have used everything that it had reserved.
      this.#next = Math.max(this.#reserved, Math.floor(this.#ctx.services.use(device).utc_ms()))
      this.#reserved = 0
    }
    if (this.#reserved - this.#next < ahead) {
      this.#reserving ??= this.#reserve()
      if (this.#next >= this.#reserved) await this.#reserving
    }
    if (this.#next >= this.#reserved) throw new Error('the signing sequence could not be stored (disk full?)')
    return this.#next++
  }

  async #reserve(): Promise<void> {
    const until = this.#next + block
    try {
      await this.#ctx.store.set(stored, until)
      this.#reserved = until
    } catch (error) {
      this.#ctx.log.warn(
        { err: error },
        'the sequence of signed RTCM could not be stored; the next publication tries again',
      )
    } finally {
      this.#reserving = undefined
    }
  }
}
