import type { MqttMessage, PluginContext } from 'rtk-base/plugin'
import { UpdateBase } from 'rtk-base/schemas'
import { type ChangeResult, station as stationToken } from 'rtk-base/services'
import { Value } from 'typebox/value'
import { isOwnResponseTopic } from './response-topic.js'

/** As on HTTP. */
const changeLimit = 65_536
const commandLimit = 4_096
/** Commands of MQTT that run at the same time: some take half a minute, and nobody is told to wait. */
const mostCommands = 8
/** Memory of the changes that wait for the ones before: each is written durably, and messages arrive faster than that. */
const waitingLimit = 8_388_608
/** Of one change, beside its text. */
const changeOverhead = 4_096

/** What arrives on `cmd`, `change/post` and `info/get`. */
export class Requests {
  readonly #ctx: PluginContext
  readonly #changeTopic: string
  #retained = 0
  #malformed = 0
  #running = 0
  #waiting = 0
  #toldTooMany = false

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#changeTopic = `base/${ctx.serial}/change/resp`
  }

  /** Retained requests that were dropped since the plugin was loaded. */
  get retained(): number {
    return this.#retained
  }

  /** Messages that were no command or no change since the plugin was loaded. */
  get malformed(): number {
    return this.#malformed
  }

  /** Takes a handler for live messages only: a retained request would run again after every connect. */
  live(handle: (message: MqttMessage) => void | Promise<void>): (message: MqttMessage) => void | Promise<void> {
    return (message) => {
      if (!message.retain) return handle(message)
      this.#retained++
      if (this.#retained === 1)
        this.#ctx.log.warn(
          { topic: message.topic },
          'a retained request was dropped, further ones are counted: clear it at the broker with an empty retained message',
        )
    }
  }

  /** `base/{SN}/cmd`: the log has the answer, and the response topic of MQTT 5 where there is one. */
  async command(message: MqttMessage): Promise<void> {
    const text = commandText(message.payload)
    if (text === undefined) {
      this.#malformed++
      const bytes = message.payload.length
      this.#ctx.log.warn({ bytes }, 'a message on cmd is neither a command nor an updateBase object')
      this.#respond(message, 'neither a command nor an updateBase object\n', { status: '400' })
      return
    }
    const name = text.split('=', 1)[0]
    if (this.#running >= mostCommands) {
      this.#ctx.log.warn({ command: name }, `not run: ${mostCommands} commands of MQTT are running`)
      this.#respond(message, 'too many commands are running: try again later\n', { status: '503' })
      return
    }
    this.#running++
    try {
      const { status, text: answer } = await this.#ctx.services
        .use(stationToken)
        .command(text, { source: 'mqtt', signal: this.#ctx.signal })
      this.#ctx.log.info({ command: name, status }, answer.slice(0, 200).trimEnd())
      this.#respond(message, answer, { status: String(status) })
    } finally {
      this.#running--
    }
  }

  /** `base/{SN}/change/post`: every message is answered on `change/resp`, also a malformed one. */
  async change(message: MqttMessage): Promise<void> {
    // What ends the link is applied once the answer is out.
    let answered = () => {}
    const answer = new Promise<void>((resolve) => {
      answered = resolve
    })
    const text = JSON.stringify(await this.#changed(message.payload, answer))
    const { correlationData, responseTopic } = message
    this.#ctx.mqtt.publish(this.#changeTopic, text, correlationData && { properties: { correlationData } })
    if (responseTopic !== this.#changeTopic) this.#respond(message, text)
    answered()
  }

  async #changed(payload: Buffer, answered: Promise<void>): Promise<ChangeResult> {
    if (payload.length > changeLimit) return this.#refused(`the change is larger than ${changeLimit} bytes`)
    let values: unknown
    try {
      values = JSON.parse(payload.toString('utf8'))
    } catch (error) {
      return this.#refused(`the change is not JSON: ${(error as Error).message}`)
    }
    const bytes = payload.length + changeOverhead
    if (this.#waiting + bytes > waitingLimit) return this.#tooMany(values)
    this.#waiting += bytes
    try {
      return await this.#ctx.services.use(stationToken).change(values, { source: 'mqtt', answered })
    } catch (error) {
      return this.#refused((error as Error).message)
    } finally {
      this.#waiting -= bytes
      if (this.#waiting === 0) this.#toldTooMany = false
    }
  }

  /** Told once until all that wait are carried out. */
  #tooMany(values: unknown): ChangeResult {
    const message = 'too many changes are waiting: try again later'
    if (!this.#toldTooMany)
      this.#ctx.log.warn('too many changes of MQTT are waiting: further ones are refused until these are done')
    this.#toldTooMany = true
    return { result: 'failed', leftover: repeatable(values), errors: [{ name: '', message }] }
  }

  #refused(message: string): ChangeResult {
    this.#malformed++
    this.#ctx.log.warn(`a message on change/post was refused: ${message}`)
    return { result: 'failed', leftover: {}, errors: [{ name: '', message }] }
  }

  /** MQTT 5 request and response (section 4.10): answers where the request asked for it. */
  #respond(
    { responseTopic, correlationData }: MqttMessage,
    text: string,
    userProperties?: Record<string, string>,
  ): void {
    if (responseTopic === undefined) return
    if (!isOwnResponseTopic(this.#ctx.serial, responseTopic)) {
      this.#ctx.log.warn(
        { responseTopic: responseTopic.slice(0, 100) },
        'an answer was asked for on a topic that is not allowed',
      )
      return
    }
    const properties = { ...(userProperties && { userProperties }), ...(correlationData && { correlationData }) }
    this.#ctx.mqtt.publish(responseTopic, text, { properties })
  }
}

/** What was submitted, where it is an object that an answer can repeat: one that is nested too deep is none. */
function repeatable(values: unknown): Record<string, unknown> {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return {}
  try {
    JSON.stringify(values)
    return values as Record<string, unknown>
  } catch {
    return {}
  }
}

/** The `/system` command that a payload stands for; undefined when it stands for none. */
export function commandText(payload: Buffer): string | undefined {
  const text = payload.toString('utf8').trim()
  if (text === '' || payload.length > commandLimit) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is for
  if (!text.startsWith('{')) return /[\u0000-\u001f]/.test(text) ? undefined : text
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(UpdateBase, value) ? `firmware=${value.cmd_param.url}` : undefined
  } catch {
    return undefined
  }
}
