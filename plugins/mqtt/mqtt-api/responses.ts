import type { MqttMessage, PluginContext } from 'rtk-base/plugin'

/** Topics on which the station itself publishes or listens: no answer to anybody belongs there. */
const ownTopics = /^(online|state|settings|info|cmd|change|drtk)(\/|$)/

/**
 * Whether an answer may go to this topic: below `base/{SN}/`, without wildcards, and none of the station's own topics. Otherwise a
 * client that may only send requests could publish in the station's name where the broker does not let that client publish.
 */
export function isOwnResponseTopic(serial: string, topic: string): boolean {
  const prefix = `base/${serial}/`
  if (!topic.startsWith(prefix) || topic.length > 256) return false
  const rest = topic.slice(prefix.length)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  return rest !== '' && !ownTopics.test(rest) && !/[+#\u0000-\u001f\u007f]/.test(rest)
}

/** MQTT 5 request and response (section 4.10): answers on the topic that the request names. */
export function respond(
  ctx: PluginContext,
  { responseTopic, correlationData }: MqttMessage,
  text: string,
  userProperties?: Record<string, string>,
): void {
  if (responseTopic === undefined) return
  if (!isOwnResponseTopic(ctx.serial, responseTopic)) {
    ctx.log.warn(
      { responseTopic: responseTopic.slice(0, 100) },
      'a request names a topic that is not allowed for its answer: it is not answered there; use one below base/{SN}/',
    )
    return
  }
  const properties = { ...(userProperties && { userProperties }), ...(correlationData && { correlationData }) }
  ctx.mqtt.publish(responseTopic, text, { properties })
}

const errorCode = 'mqtt-refused'
const longestReason = 300

/**
 * Rejections without a response topic: the newest reason is kept in `base.state.errors` until a message of the same kind
 * is accepted. It is the only feedback for such a sender.
 */
export class Refusals {
  readonly #ctx: Pick<PluginContext, 'errors' | 'serial'>

  constructor(ctx: Pick<PluginContext, 'errors' | 'serial'>) {
    this.#ctx = ctx
  }

  /** @param reason undefined: it was accepted */
  note({ responseTopic }: MqttMessage, what: string, reason: string | undefined): void {
    const { errors, serial } = this.#ctx
    if (responseTopic !== undefined && isOwnResponseTopic(serial, responseTopic)) return
    errors.while(errorCode, reason !== undefined && { request: what, reason: reason.trim().slice(0, longestReason) })
  }
}
