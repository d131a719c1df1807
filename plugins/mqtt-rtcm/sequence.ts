import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'

const stored = 'sequence'
/** Numbers that are reserved at once: one write an hour at one publication a second. */
export const block = 3_600
/** The next block is reserved while so many are left. */
const ahead = 600

/**
 * Numbers of signed publications. They begin at the time (UTC milliseconds), so that a station whose store was lost does not
 * begin anew; and a number is used only after a higher one was made durable, so that they do not fall after any power cut,
 * whatever the clock says then.
 */
export class Sequence {
  readonly #ctx: PluginContext
  /** 0 until the first one is taken. */
  #next = 0
  /** Numbers below it may be used. */
  #reserved = 0
  #reserving: Promise<void> | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** The number that comes next, for the next instance after a reload; 0 while none was taken. */
  get next(): number {
    return this.#next
  }

  /** @param goOn the next number of the instance before, after a reload */
  async start(goOn = 0): Promise<void> {
    const reserved = await this.#ctx.store.get(stored)
    this.#reserved = typeof reserved === 'number' && Number.isSafeInteger(reserved) ? reserved : 1
    this.#next = goOn
  }

  /** The next number. Rejects while none can be reserved. */
  async take(): Promise<number> {
    if (this.#next === 0) {
      // What the last run had reserved it may have used.
      this.#next = Math.max(this.#reserved, Math.floor(this.#ctx.services.use(device).utc_ms()))
      this.#reserved = 0
    }
    if (this.#reserved - this.#next < ahead) {
      this.#reserving ??= this.#reserve()
      if (this.#next >= this.#reserved) await this.#reserving
    }
    if (this.#next >= this.#reserved) throw new Error('its sequence cannot be stored')
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
        'no numbers could be reserved for signed RTCM; the next publication tries again',
      )
    } finally {
      this.#reserving = undefined
    }
  }
}
