import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { pino } from 'pino'
import { createTestStation, probe } from 'rtk-base/testing'
import t from 'tap'
import { Type } from 'typebox'
import system from '../../plugins/device/system/index.js'
import { errorTable, RtkError, type RtkErrorCode } from '../../runtime/errors.js'
import { refusal } from '../../runtime/gateway/http/access.js'
import type { Runtime } from '../../runtime/index.js'
import { resolveOptions } from '../../runtime/kernel/options.js'
import { readCatalogue } from '../../runtime/loader/catalogue.js'
import { checkDefinition } from '../../runtime/loader/load.js'
import { packageRoot } from '../../runtime/platform/release.js'
import { type AnyPlugin, defineErrors, definePlugin, type PluginContext } from '../../runtime/plugin.js'
import { parseVariant, readVariant } from '../../runtime/tools/cli/variant-file.js'
import { ControlClient } from '../../runtime/tools/control/client.js'
import { longestAnswer, longestRequest, reachControl } from '../../runtime/tools/control/protocol.js'
import { serveControl } from '../../runtime/tools/control/server.js'
import type { ErrorTable } from '../../schemas/error-table.js'

const root = packageRoot()
const rule = /^RTK_ERR_[A-Z_]+$/

/** Every file below a folder of the project whose name ends so, relative to the project. */
function filesBelow(folder: string, suffix: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      const foreign = entry.name.startsWith('.') || ['node_modules', 'build', 'data'].includes(path)
      return foreign || entry.name === 'node_modules' ? [] : filesBelow(path, suffix)
    }
    return entry.name.endsWith(suffix) ? [path] : []
  })
}
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Code → files in which it stands as a string. */
function usesOfCodes(): Map<string, string[]> {
  const uses = new Map<string, string[]>()
  for (const file of ['runtime', 'plugins', 'schemas'].flatMap((folder) => filesBelow(folder, '.ts'))) {
    if (file === join('runtime', 'errors.ts')) continue
    for (const [, code] of read(file).matchAll(/(?:'|Errors\.|errorTable\.)(RTK_ERR_\w+)\b/g)) {
      uses.set(code, [...(uses.get(code) ?? []), file])
    }
  }
  return uses
}

const kinds: ErrorTable = {
  ...errorTable,
  ...Object.fromEntries(
    Object.values(readCatalogue()).flatMap(({ errors }) => errors.map((kind) => [kind.code, kind])),
  ),
}
const codes = Object.keys(kinds)
const uses = usesOfCodes()

t.test('the table of errors', async (t) => {
  t.test('every code is RTK_ERR_ and capitals, every help is one or more sentences', async (t) => {
    for (const code of codes) t.match(code, rule)
    for (const code of codes) t.match(kinds[code].help, /^[A-Z`].*[.]$/, code)
  })

  t.test('every status is one that a failed request can have', async (t) => {
    for (const code of codes) t.match(String(kinds[code].status), /^(4\d\d|50[0-4])$/, code)
  })

  t.test('every code is used by the runtime or a plugin', async (t) => {
    for (const code of codes) t.ok(uses.has(code), `${code} is used nowhere: take it out of its table`)
  })

  t.test('every code that the runtime or a plugin uses has a status and a help', async (t) => {
    for (const [code, files] of uses) {
      t.ok(code in kinds, `${code} in ${files[0]}`)
    }
  })
})

t.test('documentation', async (t) => {
  t.test('no page speaks of a code that does not exist', async (t) => {
    for (const page of filesBelow('.', '.md')) {
      for (const [code] of read(page).matchAll(/\bRTK_ERR_[A-Z_]*[A-Z]\b/g)) {
        t.ok(code in kinds || uses.has(code), `${code} in ${page}`)
      }
    }
  })
})

t.test('an error of the table says status and help, and keeps its cause', async (t) => {
  const cause = new Error('disk')
  const error = new RtkError('RTK_ERR_STORE_WRITE', 'not written', { cause })
  t.match(error, { name: 'RtkError', code: 'RTK_ERR_STORE_WRITE', statusCode: 503, message: 'not written', cause })
  t.equal(error.help, errorTable.RTK_ERR_STORE_WRITE.help)
})

t.test('messages quote what was wrong', async (t) => {
  const station = await createTestStation({
    sources: { 'http-api': {} },
    plugins: {
      counter: definePlugin({
        name: 'counter',
        version: '1.0.0',
        api: '^1.0.0',
        setup: (ctx) => {
          ctx.config.define('counter-step', Type.Integer({ minimum: 1 }), { default: 1 })
        },
      }) as never,
    },
  })
  t.teardown(() => station.stop())
  const plugin = (parts: object) =>
    definePlugin({ name: 'counter', version: '1.0.0', api: '^1.0.0', setup() {}, ...parts }) as unknown
  const peer = { method: 'GET', url: '/', rawHeaders: [], upgrade: false }
  const rules = { own: { has: () => false } as never, names: [], login: false }

  const thrown: [RtkErrorCode, RegExp, () => unknown][] = [
    [
      'RTK_ERR_VARIANT',
      /roof\.json:2: name: /,
      () => parseVariant('{\n"name": 7, "hardware": "x", "plugins": {}}', 'roof.json'),
    ],
    [
      'RTK_ERR_PLUGIN_OPTIONS',
      /counter has no option speed/,
      () => resolveOptions('counter', undefined, { speed: 1 }, [], ['plugins', 'counter']),
    ],
    ['RTK_ERR_PLUGIN_INVALID', /"Two Words"/, () => checkDefinition(plugin({ name: 'Two Words' }), './counter')],
    ['RTK_ERR_PLUGIN_INVALID', /"latest"/, () => checkDefinition(plugin({ api: 'latest' }), './counter')],
    ['RTK_ERR_PLUGIN_API_RANGE', /API \^9\.0\.0/, () => checkDefinition(plugin({ api: '^9.0.0' }), './counter')],
    ['RTK_ERR_PLUGIN_NOT_FOUND', /no plugin at .*nowhere/, () => station.load('./nowhere')],
    ['RTK_ERR_PLUGIN_NOT_FOUND', /"no-such-plugin"/, () => station.load('no-such-plugin')],
    ['RTK_ERR_ALREADY_LOADED', /http-api/, () => station.load('http-api')],
    // C10
    [
      'RTK_ERR_NOT_LOADED',
      /^no plugin http-apy is loaded \(did you mean "http-api"\?\)$/,
      () => station.reload('http-apy'),
    ],
    ['RTK_ERR_NOT_RUNNING', /no-such-folder/, () => ControlClient.open('no-such-folder')],
    ['RTK_ERR_CHANGE_BODY', /not \[1\]/, () => station.station.change([1], { source: 'plugin' })],
    ['RTK_ERR_NVS_VALUE', /not "a\/b"/, () => station.station.nvs.read('a/b')],
    ['RTK_ERR_NVS_OWNED', /config/, () => station.station.nvs.write('config', { a: 1 })],
    ['RTK_ERR_FORBIDDEN_PEER', /8\.8\.8\.8/, () => throwIt(refusal({ ...peer, peer: '8.8.8.8', headers: {} }, rules))],
    [
      'RTK_ERR_FORBIDDEN_HOST',
      /"roof\.example"/,
      () => throwIt(refusal({ ...peer, peer: '127.0.0.1', headers: { host: 'roof.example' } }, rules)),
    ],
  ]
  for (const [code, message, provoke] of thrown) {
    t.test(code, async (t) => {
      await t.rejects(async () => provoke(), { code, message })
    })
  }

  const requests: [RtkErrorCode, RegExp, string, RequestInit][] = [
    ['RTK_ERR_MASK', /"all"/, '/get-info?all', {}],
    ['RTK_ERR_NOT_FOUND', /GET \/nowhere/, '/nowhere', {}],
    ['RTK_ERR_NVS_VALUE', /depth.*not \[\]/, '/nvs', { method: 'POST', body: '{"depth":[]}' }],
    ['RTK_ERR_NVS_PROTECTED', /protected/, '/nvs?namespace=protected.kernel', {}],
  ]
  for (const [code, message, path, init] of requests) {
    t.test(`${init.method ?? 'GET'} ${path}`, async (t) => {
      const answer = await station.request(path, init)
      t.equal(answer.status, errorTable[code].status)
      t.match(answer.json(), { error: code, message, help: errorTable[code].help })
    })
  }

  t.test('a command that is not there is quoted, and the nearest ones are named', async (t) => {
    t.match(await station.request('/system?rebot', { method: 'POST' }), { status: 404, text: /"rebot"/ })
  })

  t.test('a parameter that is refused is quoted', async (t) => {
    t.match(await station.station.change({ 'counter-step': 0 }, { source: 'plugin' }), {
      result: 'failed',
      errors: [{ name: 'counter-step', message: /not 0/ }],
    })
  })
})

function throwIt(error: unknown): never {
  throw error
}

t.test('the 17th client of the control socket learns that the service is busy', async (t) => {
  const data = t.testdir()
  const runtime = { station: { plugins: () => [] } } as unknown as Runtime
  const close = await serveControl(data, runtime, pino({ level: 'silent' }))
  t.teardown(close)
  const clients: ControlClient[] = []
  for (let n = 0; n < 16; n++) clients.push(await ControlClient.open(data))
  t.same(await clients.at(-1)?.call('list'), [])
  const late = await ControlClient.open(data)
  await t.rejects(late.call('list'), { code: 'RTK_ERR_UNAVAILABLE', message: 'busy: 16 clients are connected' })
  for (const client of clients) client.close()
})

t.test('C7: a fault that nobody foresaw is not called a mistake of the user', async (t) => {
  const data = t.testdir()
  const plugins = () => {
    throw new TypeError('x is not a function')
  }
  const document = () => 'x'.repeat(longestAnswer)
  const actions = () => throwIt(new RtkError('MY_CODE' as RtkErrorCode, 'no lamp'))
  const close = await serveControl(
    data,
    { station: { plugins, document, actions } } as unknown as Runtime,
    pino({ level: 'silent' }),
  )
  t.teardown(close)
  const client = await ControlClient.open(data)
  await t.rejects(client.call('list'), { code: 'RTK_ERR_INTERNAL', message: 'x is not a function' })
  await t.rejects(client.call('document'), { code: 'RTK_ERR_INTERNAL', message: /^the answer has \d+ characters/ })
  await t.rejects(client.call('nothing' as never), { code: 'RTK_ERR_USAGE' })
  await t.rejects(client.call('actions'), { code: 'MY_CODE', message: 'no lamp', statusCode: 500 }, 'a code of nobody')
  client.close()
})

t.test(
  'C7: a file of the station that is no JSON is no mistake of the user, a request that is none is one',
  async (t) => {
    const data = t.testdir()
    const station = { plugins: () => JSON.parse('{"cut off'), actions: () => [] }
    const close = await serveControl(data, { station } as unknown as Runtime, pino({ level: 'silent' }))
    t.teardown(close)
    const client = await ControlClient.open(data)
    await t.rejects(client.call('list'), { code: 'RTK_ERR_INTERNAL' })
    client.close()
    const reach = reachControl(data)
    t.teardown(reach.release)
    for (const [body, message] of [
      ['{"cut off', /^a request is JSON/],
      ['null', /^a request is an object/],
      ['[5]', /^a request is an object/],
      ['x'.repeat(longestRequest + 1), /^a request has at most/],
    ] as const) {
      const asked = request({ socketPath: reach.path, path: '/actions', method: 'POST' }).end(body)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      t.match(await json(answer), { error: 'RTK_ERR_USAGE', message }, body.slice(0, 10))
    }
    const socket = connect(reach.path)
    socket.write('this is not HTTP\r\n\r\n')
    await once(socket.resume(), 'close')
  },
)

t.test('an error has its parts, and one text of both for the document', async (t) => {
  let stands: PluginContext['errors']['while'] = () => undefined
  const teller = {
    ...probe([], ({ errors }) => {
      stands = errors.while
    }),
    texts: {
      en: JSON.stringify({
        'error.lamp': '{what}',
        'error.lamp.advice.oil': 'fill it; then light it',
      }),
    },
  }
  const station = await createTestStation({ plugins: { teller, system: system as AnyPlugin } })
  t.teardown(() => station.stop())
  const told = () => station.device.errors().map(({ code: _code, t: _t, ...parts }) => parts)
  stands('lamp', { what: 'the lamp is lit; or not' })
  const lit = 'the lamp is lit; or not'
  t.same(told(), [{ text: lit, why: lit, advice: '', severity: 'degrades', values: { what: lit } }])
  const values = { what: 'no oil', oil: true }
  t.equal(
    stands('lamp', values)?.text,
    'no oil; fill it; then light it',
    'the entry, for those who say it elsewhere too',
  )
  const parts = { text: 'no oil; fill it; then light it', why: 'no oil', advice: 'fill it; then light it' }
  t.same(told(), [{ ...parts, severity: 'degrades', values }])
  stands('lamp', values, { severity: 'silences' })
  t.same(told(), [{ ...parts, severity: 'silences', values }], 'the same text, but worse')
  t.match(station.field('base.state.errors'), [{ code: 'lamp', text: parts.text, t: Number }])
  t.same(Object.keys((station.field('base.state.errors') as object[])[0] ?? {}), ['code', 'text', 'values', 't'])
  stands('lamp', { what: 'x'.repeat(600), oil: true })
  t.equal(told()[0]?.text.length, 480)
  for (const none of [false, undefined]) {
    stands('lamp', true)
    t.equal(stands('lamp', none), undefined)
    t.same(told(), [])
  }
})

t.test('N6: a byte order mark before a variant is skipped', (t) => {
  const file = join(
    t.testdir({ 'roof.json': '\ufeff{"name":"roof","hardware":"x","plugins":{"system":{}}}' }),
    'roof.json',
  )
  t.match(readVariant(file).variant, { name: 'roof', plugins: { system: {} } })
  t.end()
})

t.test('a plugin has error codes of its own', async (t) => {
  const lampErrors = defineErrors({ LAMP_BROKEN: { status: 409, help: 'Change the lamp.' } })
  const lamp = (name: string, errors: ErrorTable): AnyPlugin =>
    definePlugin({
      name,
      version: '1.0.0',
      api: '^1.0.0',
      errors,
      setup(ctx) {
        ctx.http.route({
          method: 'GET',
          url: `/${name}`,
          handler: async () => throwIt(new RtkError(errors.LAMP_BROKEN, 'no light at pin 7')),
        })
      },
    })
  const station = await createTestStation({
    plugins: { lamp: lamp('lamp', lampErrors), torch: lamp('torch', lampErrors) },
  })
  t.teardown(() => station.stop())
  for (const name of ['lamp', 'torch']) {
    const answer = await station.request(`/${name}`)
    t.equal(answer.status, 409)
    t.match(answer.json(), { error: 'LAMP_BROKEN', message: 'no light at pin 7', help: 'Change the lamp.' })
  }

  const others: Record<string, ErrorTable> = {
    "another meaning of one's code": defineErrors({ LAMP_BROKEN: { status: 500, help: 'Pray.' } }),
    'another meaning of a code of the runtime': defineErrors({ RTK_ERR_MASK: { status: 500, help: 'Pray.' } }),
  }
  for (const [what, errors] of Object.entries(others)) {
    const plugins = { lamp: lamp('lamp', lampErrors), other: lamp('other', { ...lampErrors, ...errors }) }
    const other = await createTestStation({ plugins })
    t.match(
      other.station.plugins().find(({ name }) => name === 'other'),
      { state: 'failed', reason: /^the error code \w+ of other is taken by (lamp|the runtime)$/ },
      what,
    )
    await other.stop()
  }
})
