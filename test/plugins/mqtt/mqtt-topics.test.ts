import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { asyncApi } from '../../../schemas/mqtt/async-api.js'
import { type MqttTopic, topics } from '../../../schemas/mqtt/topics.js'
import { pluginFolders } from '../../harness/shipped.js'

const facts = { version: '1.2.3', topics: Object.values(topics) }

t.test('every reference of the AsyncAPI document leads somewhere', (t) => {
  const document = asyncApi(facts)
  const find = (path: string) =>
    path
      .slice(2)
      .split('/')
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document)
  let references = 0
  JSON.stringify(document, (key, value) => {
    if (key !== '$ref') return value
    references++
    t.ok(find(String(value)), String(value))
    return value
  })
  t.ok(references > facts.topics.length)
  t.end()
})

t.test('wildcards become parameters, an answer that nobody describes is left out', (t) => {
  const topic: MqttTopic = { address: 'a/+/b/#', from: 'client', summary: 'x', replyOn: 'base/{SN}/elsewhere' }
  const { channels, operations, servers } = asyncApi({ ...facts, topics: [topic] })
  t.match(channels, { 'a-b': { address: 'a/{level1}/b/{rest}', parameters: { level1: {}, rest: {} } } })
  t.strictSame(Object.keys((operations as Record<string, object>)['a-b'] ?? {}), ['action', 'channel', 'messages'])
  t.equal(servers, undefined, 'no broker')
  t.end()
})

t.test('a broker with TLS asks for a certificate', (t) => {
  const { servers, components } = asyncApi({ ...facts, broker: { host: '2001:db8::1', port: 8883, tls: true } })
  t.match(servers, { broker: { host: '[2001:db8::1]:8883', protocol: 'mqtts', security: [{ $ref: String }] } })
  t.match(components, { securitySchemes: { certificate: { type: 'X509' } } })
  t.end()
})

t.test('every topic of the table is in the documentation of its plugin', (t) => {
  const page = ['mqtt-link', 'mqtt-api', 'mqtt-rtcm']
    .map((name) => readFileSync(join(pluginFolders().get(name) ?? '', 'README.md'), 'utf8'))
    .join()
  for (const { address } of facts.topics) t.ok(page.includes(`\`${address}\``), address)
  t.end()
})
