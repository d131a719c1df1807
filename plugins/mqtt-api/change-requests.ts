import type { MqttMessage, PluginContext } from 'rtk-base/plugin'
import { type ChangeResult, station } from 'rtk-base/services'
import { respond } from './responses.js'

/** As on HTTP. */
const changeLimit = 65_536
/** Memory of the changes that wait for earlier ones: each is written durably, and messages arrive faster than that. */
const waitingLimit = 8_388_608
/** Memory of one change beside its text. */
const changeOverhead = 4_096

/** `base/{SN}/change/post`: every message is answered on `change/resp`, also a malformed one. */
export class ChangeRequests {
  readonly #ctx: PluginContext
  readonly #answerTopic: string
  #malformed = 0
  #waiting = 0
  #loggedTooMany = false

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#answerTopic = `base/${ctx.serial}/change/resp`
  }

  /** Messages that were not a change since the plugin was loaded. */
  get malformed(): number {
    return this.#malformed
  }

  readonly handle = async (message: MqttMessage): Promise<void> => {
    // Values that end the link are applied after the answer was published.
    let answered = () => {}
    const answer = new Promise<void>((resolve) => {
      answered = resolve
    })
    const text = JSON.stringify(await this.#changed(message.payload, answer))
    const { correlationData, responseTopic } = message
    this.#ctx.mqtt.publish(this.#answerTopic, text, correlationData && { properties: { correlationData } })
    if (responseTopic !== this.#answerTopic) respond(this.#ctx, message, text)
    answered()
  }

  async #changed(payload: Buffer, answered: Promise<void>): Promise<ChangeResult> {
    if (payload.length > changeLimit) return this.#rejected(`the change is larger than ${changeLimit} bytes`)
    let values: unknown
    try {
      values = JSON.parse(payload.toString('utf8'))
    } catch (error) {
      return this.#rejected(`the change is not JSON: ${(error as Error).message}`)
    }
    const bytes = payload.length + changeOverhead
    if (this.#waiting + bytes > waitingLimit) return this.#tooMany(values)
    this.#waiting += bytes
    try {
      return await this.#ctx.services.use(station).change(values, { source: 'mqtt', answered })
    } catch (error) {
      return this.#rejected((error as Error).message)
    } finally {
      this.#waiting -= bytes
      if (this.#waiting === 0) this.#loggedTooMany = false
    }
  }

  /** Logged once until all waiting changes are done. */
  #tooMany(values: unknown): ChangeResult {
    const message = 'too many changes are waiting: try again later'
    if (!this.#loggedTooMany)
      this.#ctx.log.warn('too many changes over MQTT are waiting: further ones are rejected until these are done')
    this.#loggedTooMany = true
    return { result: 'failed', leftover: repeatable(values), errors: [{ name: '', message }] }
  }

  #rejected(message: string): ChangeResult {
    this.#malformed++
    this.#ctx.log.warn(`a message on change/post was rejected: ${message}`)
    return { result: 'failed', leftover: {}, errors: [{ name: '', message }] }
  }
}

/** What was submitted, for the answer; `{}` where it is not an object, or too deep to be serialised. */
function repeatable(values: unknown): Record<string, unknown> {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return {}
  try {
    JSON.stringify(values)
    return values as Record<string, unknown>
  } catch {
    return {}
  }
}
