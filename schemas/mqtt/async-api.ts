/** The MQTT interface as an AsyncAPI 3.0 document, of a running station or of the specification (`schemas/asyncapi.json`). Pure. */
import { withReferences } from '../named.js'
import type { MqttTopic } from './topics.js'

type Json = Record<string, unknown>

export interface AsyncApiFacts {
  readonly version: string
  /** Serial number of the station; omitted: any. */
  readonly serial?: string
  /** The broker of the station; omitted: none. */
  readonly broker?: { readonly host: string; readonly port: number; readonly tls: boolean }
  readonly topics: readonly MqttTopic[]
  /** Station-specific versions of named schemas, e.g. `Change` with its parameters. */
  readonly own?: Readonly<Record<string, object>>
}

const ref = (path: string) => ({ $ref: `#/${path}` })

/** `base/{SN}/info/get` → `info-get`. */
const keyOf = (address: string): string =>
  address
    .replace(/^base\/\{SN\}\//, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '') || 'any'

/** Wildcards as parameters: `a/+/b/#` → `a/{level1}/b/{rest}`. */
function addressOf({ address }: MqttTopic): string {
  let count = 0
  return address.replaceAll('+', () => `{level${++count}}`).replace(/#$/, '{rest}')
}

function parametersOf(topic: MqttTopic, serial?: string): Json {
  const known: Json = {
    SN: {
      description: 'Serial number of the station: only A-Z, a-z, 0-9, _ and -',
      ...(serial !== undefined && { enum: [serial], default: serial }),
    },
  }
  const names = [...addressOf(topic).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name) => [name, known[name] ?? { description: 'Any level of the topic' }]))
}

function messageOf({ summary, contentType = 'application/json', payload, userProperties }: MqttTopic): Json {
  return {
    summary,
    contentType: payload === undefined ? 'application/octet-stream' : contentType,
    ...(userProperties && { headers: { ...userProperties, required: [] } }),
    ...(payload && { payload }),
  }
}

/** The operation of the station: AsyncAPI describes the application itself, not its clients. */
function operationOf(key: string, { from, retain = false }: MqttTopic, reply: string | undefined): Json {
  return {
    action: from === 'station' ? 'send' : 'receive',
    channel: ref(`channels/${key}`),
    messages: [ref(`channels/${key}/messages/${key}`)],
    ...(from === 'station' && { bindings: { mqtt: { qos: 0, retain, bindingVersion: '0.2.0' } } }),
    ...(reply !== undefined && {
      reply: { channel: ref(`channels/${reply}`), messages: [ref(`channels/${reply}/messages/${reply}`)] },
    }),
  }
}

function serverOf(broker: AsyncApiFacts['broker']): Json | undefined {
  if (!broker || broker.host === '') return undefined
  const host = broker.host.includes(':') && !broker.host.startsWith('[') ? `[${broker.host}]` : broker.host
  return {
    host: `${host}:${broker.port}`,
    protocol: broker.tls ? 'mqtts' : 'mqtt',
    description:
      'The broker of this station. The station uses MQTT 5, or 3.1.1 if the broker or the option `protocol` of mqtt-link requires it',
    ...(broker.tls && { security: [ref('components/securitySchemes/certificate')] }),
  }
}

export function asyncApi(facts: AsyncApiFacts): Json {
  const { version, serial, own } = facts
  const topics = new Map(facts.topics.map((topic) => [topic.name ?? keyOf(topic.address), topic]))
  const mapped = (build: (key: string, topic: MqttTopic) => Json) =>
    Object.fromEntries([...topics].map(([key, topic]) => [key, build(key, topic)]))
  const replyOf = ({ replyOn = '' }: MqttTopic) => {
    const key = keyOf(replyOn)
    return topics.has(key) ? key : undefined
  }
  const server = serverOf(facts.broker)
  const { part: messages, definitions } = withReferences(
    mapped((_key, topic) => messageOf(topic)),
    '#/components/schemas/',
    own,
  )
  return {
    asyncapi: '3.0.0',
    info: {
      title: serial === undefined ? 'rtk-base over MQTT' : `rtk-base ${serial} over MQTT`,
      version,
      description: 'A GNSS RTK base station as its clients see it. The station is the client {SN} of the broker.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    ...(server && { servers: { broker: server } }),
    defaultContentType: 'application/json',
    channels: mapped((key, topic) => ({
      address: addressOf(topic),
      summary: topic.summary,
      parameters: parametersOf(topic, serial),
      messages: { [key]: ref(`components/messages/${key}`) },
    })),
    operations: mapped((key, topic) => operationOf(key, topic, replyOf(topic))),
    components: {
      messages,
      schemas: definitions,
      ...(server?.security !== undefined && {
        securitySchemes: { certificate: { type: 'X509', description: 'A client certificate that the broker accepts' } },
      }),
    },
  }
}
