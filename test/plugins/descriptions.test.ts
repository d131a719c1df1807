import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { createTestStation, freeTcpPort, freeUdpPort, gateOnly, ManualClock, until } from '../harness/index.js'
import { shippedPlugin, shippedTogether } from '../harness/shipped.js'

const root = process.cwd()
const variant = JSON.parse(readFileSync(join(root, 'runtime', 'variants', 'simulator.json'), 'utf8'))
const mqtt = await freeTcpPort()
const ports: Readonly<Record<string, object>> = { 'mqtt-broker': { port: mqtt } }
const plugins: Record<string, [AnyPlugin, Record<string, unknown>]> = {}
for (const name of shippedTogether()[0])
  plugins[name] = [await shippedPlugin(name), { ...variant.plugins[name], ...ports[name] }]
plugins['epoch-meter'] = [await shippedPlugin('./examples/third-party-plugin'), {}]
const clock = new ManualClock()
/** Every shipped plugin in one station, and one of a third party. */
const station = await createTestStation({
  clock,
  plugins,
  variant: {
    ...variant,
    plugins: {},
    // A newcomer's own station may have the port of the variant.
    http: { ...variant.http, port: 0 },
    changes: {
      ...variant.changes,
      'mqtt-port': mqtt,
      'udp-port': await freeUdpPort(),
      'ntrip-caster-port': await freeTcpPort(),
    },
  },
})
t.teardown(() => station.stop())

type Json = Record<string, unknown>
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly { name: string; in: string; schema: object }[]
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema?: object }> }>>
}
interface OpenApi extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}
const fetched = async <T>(path: string) => (await station.request(path)).json() as T
const openapi = await fetched<OpenApi>('/openapi.json')
const asyncapi = await fetched<Json>('/asyncapi.json')
const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, what: `${method} ${path}` })),
)

/** The schema of what a route answers in JSON. */
const answerOf = (path: string, method: string) =>
  openapi.paths[path]?.[method]?.responses['200']?.content?.['application/json']?.schema

async function mistakes(document: object, rules = {}): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`,
  )
}

/** A check against a schema of the description. */
function checker(schema: object) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  const check = ajv.compile({ ...schema, components: openapi.components })
  return (value: unknown) => (check(value) ? [] : ajv.errorsText(check.errors).split(', '))
}

t.test('OpenAPI', async (t) => {
  t.test('a linter finds nothing', async (t) => t.strictSame(await mistakes(openapi), []))

  t.test('every route of every plugin says what it does and what it answers', (t) => {
    for (const { what, summary, responses } of operations) {
      t.notMatch(summary, /^(GET|POST|DELETE|PUT) \//, `${what} has a summary`)
      for (const [status, { content = {} }] of Object.entries(responses).filter(([status]) => /^\d+$/.test(status)))
        t.ok(
          Object.values(content).some(({ schema }) => schema !== undefined),
          `${what} has a schema of its answer ${status}`,
        )
    }
    t.ok(operations.length > 30)
    t.end()
  })

  t.test('operations have names of their own that a program can use', (t) => {
    const names = operations.map(({ operationId }) => operationId)
    for (const name of names) t.match(name, /^[a-z][A-Za-z0-9]*$/)
    t.equal(new Set(names).size, names.length)
    t.ok(['getInfo', 'postChange', 'postSystem', 'postPositionsId'].every((name) => names.includes(name)))
    t.end()
  })

  t.test('schemas have names, none is repeated in full', (t) => {
    const { schemas } = openapi.components
    for (const name of ['InfoDocument', 'GnssInfo', 'Change', 'ChangeAnswer', 'ErrorAnswer', 'ParameterEntry'])
      t.ok(schemas[name], name)
    t.strictSame(answerOf('/change', 'post'), { $ref: '#/components/schemas/ChangeAnswer' })
    t.match(schemas.Change, { properties: { 'udp-port': { type: 'integer', title: String } } })
    t.match(schemas.InfoDocument, { properties: { mqtt: { $ref: '#/components/schemas/MqttInfo' } } })
    t.end()
  })

  t.test('a mask and a command can be said in its terms', async (t) => {
    const parameters = (path: string, method: string) => openapi.paths[path]?.[method]?.parameters ?? []
    const [mask] = parameters('/get-info', 'get')
    t.match(mask, { in: 'query', style: 'form', explode: true })
    const isMask = checker((mask as { schema: object }).schema)
    t.strictSame(isMask({ '0x102': '' }), [])
    t.not(isMask({ runtime: '' }).length, 0)
    // How `style: form, explode: true` writes an object.
    const query = new URLSearchParams({ '0x02': '' })
    // Other programs write to this disk between the two.
    const masked = async (path: string) => {
      const { base, ...rest } = (await fetched(path)) as { base: { machine?: unknown } }
      return { ...rest, base: { ...base, machine: typeof base.machine } }
    }
    // What the station finds out between the two, such as its router, is in the second alone.
    const isSame = async () => isDeepStrictEqual(await masked(`/get-info?${query}`), await masked('/get-info?0x02'))
    await until(isSame, 'the same document for both')

    const [cmd] = parameters('/system', 'post')
    const isCommand = checker((cmd as { schema: object }).schema)
    t.strictSame([isCommand('log=d'), isCommand('reboot-zed')], [[], []])
    t.not(isCommand('fly').length, 0)
    const sent = await station.request(`/system?${new URLSearchParams({ cmd: 'log=n' })}`, { method: 'POST' })
    t.match(sent, { status: 200 })
  })
})

t.test('the document is as its schema says, whole and in parts', async (t) => {
  const schema = answerOf('/get-info', 'get') ?? {}
  const [isAnswer, isWhole] = [checker(schema), checker({ $ref: '#/components/schemas/InfoDocument' })]
  t.strictSame(isWhole(await fetched('/get-info')), [])
  for (const mask of ['', '0x01', '0x02', '0x04', '0x100', '0x101', '0x102', '0x104'])
    t.strictSame(isAnswer(await fetched(`/get-info?${mask}`)), [], mask)
  const wrong = await fetched<{ udp: Json }>('/get-info?0x04')
  t.not(isAnswer({ udp: { ...wrong.udp, port: 'no' } }).length, 0, 'a wrong type is noticed')
  const known = Object.keys((openapi.components.schemas.InfoDocument as { properties: object }).properties)
  t.strictSame(
    Object.keys(await fetched<object>('/get-info')).filter((name) => !known.includes(name)),
    ['epoch-meter'],
    'every block of a shipped plugin is described',
  )
})

t.test('what GET answers is as its schema says', { skip: gateOnly }, async (t) => {
  const skipped = ['/events', '/report', '/openapi.json', '/asyncapi.json']
  for (const path of Object.keys(openapi.paths)) {
    const schema = answerOf(path, 'get')
    if (!schema || path.includes('{') || skipped.includes(path)) continue
    const answer = await station.request(path)
    t.equal(answer.status, 200, path)
    t.strictSame(checker(schema)(answer.json()), [], path)
  }
  const refused = await station.request('/get-info?x')
  t.strictSame(checker({ $ref: '#/components/schemas/ErrorAnswer' })(refused.json()), [])
})

t.test('AsyncAPI', async (t) => {
  t.test('a linter finds nothing', async (t) => {
    // Who may connect is said of the server, once.
    t.strictSame(await mistakes(asyncapi, { 'security-defined': 'off' }), [])
  })

  t.test('it has the broker, this station, and the topics of every plugin', (t) => {
    t.match(asyncapi, {
      asyncapi: '3.0.0',
      servers: { broker: { host: `127.0.0.1:${mqtt}`, protocol: 'mqtt' } },
      channels: {
        info: { address: 'base/{SN}/info', parameters: { SN: { default: station.station.serial } } },
        cmd: { address: 'base/{SN}/cmd' },
        'drtk-sig': { address: 'base/{SN}/drtk/sig' },
        'epoch-meter': { address: 'base/{SN}/epoch-meter' },
        'epoch-meter-get': { summary: /plugin epoch-meter/ },
        'home-assistant': { address: 'base/{SN}/home-assistant' },
      },
      components: { schemas: { Change: { properties: { 'udp-port': { type: 'integer' } } } } },
    })
    t.end()
  })

  t.test('a topic that a plugin takes without a word is listed, and goes with the plugin', async (t) => {
    const quiet: AnyPlugin = {
      name: 'quiet',
      version: '1.0.0',
      api: '^1.0.0',
      setup: (ctx) => ctx.mqtt.on('base/{SN}/quiet/+', () => {}),
    } as AnyPlugin
    const own = await createTestStation({ plugins: { 'http-api': await shippedPlugin('http-api'), quiet } })
    t.teardown(() => own.stop())
    const channels = async () =>
      ((await own.request('/asyncapi.json')).json() as { channels?: Record<string, Json> }).channels ?? {}
    t.match((await channels()).quiet, { address: 'base/{SN}/quiet/{level1}', summary: /plugin quiet/ })
    await own.unload('quiet')
    t.notOk((await channels()).quiet)
  })
})
