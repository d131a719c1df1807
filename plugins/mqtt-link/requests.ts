import type { MqttMessage, PluginContext } from 'rtk-base/plugin'
import { type ChangeResult, station as stationToken } from 'rtk-base/services'

/** As on HTTP. */
const changeLimit = 65_536
const commandLimit = 4_096

/** What arrives on `cmd`, `change/post` and `info/get`. */
export class Requests {
  readonly #ctx: PluginContext
  #retained = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Retained requests that were dropped since the plugin was loaded. */
  get retained(): number {
    return this.#retained
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

  /** `base/{SN}/cmd`: there is no answer on this topic, the log has it. */
  async command({ payload }: MqttMessage): Promise<void> {
    const text = commandText(payload)
    if (text === undefined) {
      this.#ctx.log.warn({ bytes: payload.length }, 'a message on cmd is neither a command nor an updateBase object')
      return
    }
    const name = text.split('=', 1)[0]
    const { status, text: answer } = await this.#ctx.services
      .use(stationToken)
      .command(text, { source: 'mqtt', signal: this.#ctx.signal })
    this.#ctx.log.info({ command: name, status }, answer.slice(0, 200))
  }

  /** `base/{SN}/change/post`: every message is answered on `change/resp`, also a malformed one. */
  async change({ payload }: MqttMessage): Promise<void> {
    // What ends the link is applied once the answer is out.
    let answered = () => {}
    const answer = new Promise<void>((resolve) => {
      answered = resolve
    })
    const result = await this.#changed(payload, answer)
    this.#ctx.mqtt.publish('base/{SN}/change/resp', JSON.stringify(result))
    answered()
  }

  async #changed(payload: Buffer, answered: Promise<void>): Promise<ChangeResult> {
    if (payload.length > changeLimit) return failed(`the change is larger than ${changeLimit} bytes`)
    let values: unknown
    try {
      values = JSON.parse(payload.toString('utf8'))
    } catch (error) {
      return failed(`the change is not JSON: ${(error as Error).message}`)
    }
    try {
      return await this.#ctx.services.use(stationToken).change(values, { source: 'mqtt', answered })
    } catch (error) {
      return failed((error as Error).message)
    }
  }
}

const failed = (message: string): ChangeResult => ({ result: 'failed', leftover: {}, errors: [{ name: '', message }] })

/** The `/system` command that a payload stands for; undefined when it stands for none. */
export function commandText(payload: Buffer): string | undefined {
  const text = payload.toString('utf8').trim()
  if (text === '' || payload.length > commandLimit) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is for
  if (!text.startsWith('{')) return /[\u0000-\u001f]/.test(text) ? undefined : text
  try {
    const { cmd_type, cmd_param } = JSON.parse(text) as { cmd_type?: unknown; cmd_param?: { url?: unknown } }
    const url = cmd_param?.url
    return cmd_type === 'updateBase' && typeof url === 'string' && url !== '' ? `firmware=${url}` : undefined
  } catch {
    return undefined
  }
}
