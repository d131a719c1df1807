import type { MqttMessage, PluginContext } from 'rtk-base/plugin'
import { type ChangeResult, station } from 'rtk-base/services'
import { type Refusals, respond } from './responses.js'

/** As on HTTP. */
const changeLimit = 65_536
/** Memory of the changes that wait for earlier ones: each is written durably, and messages arrive faster than that. */
const waitingLimit = 8_388_608
/** Memory of one change beside its text. */
const changeOverhead = 4_096

/** `base/{SN}/change/post`: every message is answered on `change/resp`, also a malformed one. */
export class ChangeRequests {
  readonly #ctx: PluginContext
  readonly #refusals: Refusals
  readonly #answerTopic: string
  #malformed = 0
  #waiting = 0
  #loggedTooMany = false
  /** Resolves when every change that came so far is answered. */
  #answered: Promise<void> = Promise.resolve()

  constructor(ctx: PluginContext, refusals: Refusals) {
    this.#ctx = ctx
    this.#refusals = refusals
    this.#answerTopic = `base/${ctx.serial}/change/resp`
  }

  /** Messages that were not a change since the plugin was loaded. */
  get malformed(): number {
    return this.#malformed
  }

  /**
   * A client without correlation data tells the answers apart by order, so a malformed change waits for those before it. A change
   * that does not fit the queue is answered at once.
   */
  readonly handle = async (message: MqttMessage): Promise<void> => {
    const bytes = message.payload.length + changeOverhead
    if (this.#waiting + bytes > waitingLimit) return this.#publish(message, this.#tooMany(message.payload))
    this.#waiting += bytes
    this.#answered = this.#answer(message, this.#answered).finally(() => {
      this.#waiting -= bytes
      if (this.#waiting === 0) this.#loggedTooMany = false
    })
    return this.#answered
  }

  async #answer(message: MqttMessage, before: Promise<void>): Promise<void> {
    // Values that end the link are applied after the answer was published.
    let answered = () => {}
    const answer = new Promise<void>((resolve) => {
      answered = resolve
    })
    const result = await this.#changed(message.payload, answer)
    await before
    this.#publish(message, result)
    answered()
  }

  #publish(message: MqttMessage, result: ChangeResult): void {
    const text = JSON.stringify(result)
    const reasons = result.errors?.map(({ name, message: why }) => (name === '' ? why : `${name}: ${why}`)).join('; ')
    this.#refusals.note(message, 'a change', result.result === 'failed' ? (reasons ?? '') : undefined)
    const { correlationData, responseTopic } = message
    this.#ctx.mqtt.publish(this.#answerTopic, text, correlationData && { properties: { correlationData } })
    if (responseTopic !== this.#answerTopic) respond(this.#ctx, message, text)
  }

  async #changed(payload: Buffer, answered: Promise<void>): Promise<ChangeResult> {
    if (payload.length > changeLimit) return this.#rejected(`the change is larger than ${changeLimit} bytes`)
    try {
      return await this.#ctx.services.use(station).change(valuesOf(payload), { source: 'mqtt', answered })
    } catch (error) {
      return this.#rejected((error as Error).message)
    }
  }

  /** Logged once until all waiting changes are done. */
  #tooMany(payload: Buffer): ChangeResult {
    const message = 'too many changes are waiting: try again later'
    if (!this.#loggedTooMany)
      this.#ctx.log.warn('too many changes over MQTT are waiting: further ones are rejected until these are done')
    this.#loggedTooMany = true
    return { result: 'failed', leftover: repeatable(payload), errors: [{ name: '', message }] }
  }

  #rejected(message: string): ChangeResult {
    this.#malformed++
    this.#ctx.log.warn(`a message on change/post was rejected: ${message}`)
    return { result: 'failed', leftover: {}, errors: [{ name: '', message }] }
  }
}

/** @throws SyntaxError for a malformed change */
function valuesOf(payload: Buffer): unknown {
  try {
    // Skips a byte order mark, which editors of Windows write.
    return JSON.parse(new TextDecoder().decode(payload))
  } catch (error) {
    throw new SyntaxError(`the change is not JSON: ${(error as Error).message}`)
  }
}

/** The submitted change, for the answer; `{}` if not an object, or too deep to serialise. */
function repeatable(payload: Buffer): Record<string, unknown> {
  try {
    const values = payload.length > changeLimit ? {} : valuesOf(payload)
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return {}
    JSON.stringify(values)
    return values as Record<string, unknown>
  } catch {
    return {}
  }
}
