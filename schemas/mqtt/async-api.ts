/**
 * The MQTT surface as an AsyncAPI 3.0 document, made of the topic table and the schemas. `schemas/asyncapi.json` holds it; a test
 * compares the two, and with `WRITE_ASYNCAPI=1` writes the file: `WRITE_ASYNCAPI=1 node build/test/plugins/mqtt/mqtt-topics.test.js`, then `npm run format`.
 */
import { type Topic, topics } from './topics.js'

type Json = Record<string, unknown>

const ref = (path: string) => ({ $ref: `#/${path}` })

/** Plain JSON Schema: what TypeBox keeps beside it is not enumerable, and goes with the serialisation. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema)) as Json

/** The user properties are those of signed publications only, so none is required. */
function message(topic: Topic): Json {
  const { summary, contentType, payload, userProperties } = topic
  const headers = userProperties && { ...plain(userProperties), required: [] }
  return { summary, contentType, ...(headers && { headers }), payload: plain(payload) }
}

function channel(topic: Topic): Json {
  const { address, summary, name } = topic
  return {
    address,
    summary,
    parameters: { SN: ref('components/parameters/SN') },
    messages: { [name]: ref(`components/messages/${name}`) },
  }
}

/** What the station does with the topic: AsyncAPI describes the application itself. */
function operation(topic: Topic): Json {
  const { name, from, qos, retain, replyOn } = topic
  const bindings = from === 'station' ? { mqtt: { qos, retain, bindingVersion: '0.2.0' } } : undefined
  return {
    action: from === 'station' ? 'send' : 'receive',
    channel: ref(`channels/${name}`),
    messages: [ref(`channels/${name}/messages/${name}`)],
    ...(bindings && { bindings }),
    ...(replyOn && {
      reply: { channel: ref(`channels/${replyOn}`), messages: [ref(`channels/${replyOn}/messages/${replyOn}`)] },
    }),
  }
}

const mapped = (build: (topic: Topic) => Json): Json =>
  Object.fromEntries(topics.map((topic) => [topic.name, build(topic)]))

/** The document that stands in `schemas/asyncapi.json`. */
export function asyncApi(): Json {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'rtk-base over MQTT',
      version: '1.0.0',
      description:
        'A GNSS RTK base station as its clients see it. MQTT 5, or 3.1.1 where the broker has no 5; client id {SN}.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: mapped(channel),
    operations: mapped(operation),
    components: {
      parameters: { SN: { description: 'serial number of the station: only A-Z, a-z, 0-9, _ and -' } },
      messages: mapped(message),
    },
  }
}
