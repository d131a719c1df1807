import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import pino from 'pino'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import system from '../../plugins/device/system/index.js'
import httpApi from '../../plugins/page/http-api/index.js'
import { ChangeTrial } from '../../runtime/kernel/registries/change-trial.js'
import type { Clock } from '../../runtime/platform/ports/clock.js'
import { type AnyPlugin, type Caller, definePlugin, type PluginContext, unavailable } from '../../runtime/plugin.js'
import { parseMask, selectionOf } from '../../schemas/document.js'
import type { MqttBus } from '../../schemas/services.js'
import { drive } from '../harness/drive.js'
import { createTestStation, ManualClock, sample, type TestStationOptions, until } from '../harness/index.js'
import { MemoryStore } from '../harness/memory-store.js'

type Definition = AnyPlugin

function plugin(name: string, setup: (ctx: PluginContext) => void): Definition {
  return definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup })
}

async function stationWith(t: Test, plugins: Record<string, Definition>, options: TestStationOptions = {}) {
  const station = await createTestStation({
    ...options,
    plugins: { 'http-api': httpApi, ...plugins },
  })
  t.teardown(() => station.stop())
  return station
}

/** One station with a few parameters of different owners; `applied` is what the owners were told. */
async function settings(t: Test, options: TestStationOptions = {}) {
  const applied: [string, unknown, unknown][] = []
  const refuse = { owner: '' }
  const told = (name: string) => async (now: unknown, before: unknown) => {
    if (refuse.owner === name) throw new Error('the machine says no')
    applied.push([name, now, before])
  }
  const udp = plugin('udp', (ctx) => {
    const port = ctx.config.define('udp-port', Type.Integer({ minimum: 1, maximum: 65_535 }), { default: 2102 })
    port.onChange(told('udp'))
    ctx.config.define('udp-en', Type.Integer({ minimum: 0, maximum: 1 }), { default: 1 })
    ctx.info.block('udp', { config: () => ({ port: port.get() }) })
  })
  const wifi = plugin('wifi', (ctx) => {
    const min = ctx.config.define('min', Type.Number(), { default: 1 })
    const max = ctx.config.define('max', Type.Number(), { default: 10 })
    const flag = ctx.config.define('flag', Type.Boolean(), { default: false })
    ctx.config.define('wifi-pswd', Type.String({ maxLength: 16 }), { default: '', secret: true }).onChange(told('wifi'))
    min.onChange(told('min'))
    ctx.config.rule(['min', 'max'], (get) =>
      (get('min') as number) > (get('max') as number) ? 'is above max' : undefined,
    )
    ctx.action({
      name: 'dig',
      summary: 'digs',
      parameter: 'trigger',
      run({ source }) {
        applied.push(['trigger', source, undefined])
        return 'dug'
      },
    })
    ctx.info.block('wifi', { config: () => ({ min: min.get(), max: max.get(), flag: flag.get() }) })
  })
  const station = await stationWith(t, { udp, wifi }, options)
  const change = async (body: unknown) => {
    const { status, json } = await station.request('/change', { method: 'POST', body: JSON.stringify(body) })
    return { status, ...(json() as { result: string; leftover: object; errors?: { name: string; message: string }[] }) }
  }
  return { station, change, applied, refuse }
}

t.test('a change', async (t) => {
  t.test('is stored, applied by its owner, and what nobody owns comes back', async (t) => {
    const { station, change, applied } = await settings(t)
    t.match(await change({ 'udp-port': 2200, unknown: [1], min: 2 }), {
      status: 200,
      result: 'ok',
      leftover: { unknown: [1] },
    })
    t.strictSame(applied, [
      ['udp', 2200, 2102],
      ['min', 2, 1],
    ])
    t.equal(station.field('udp.port'), 2200)
    t.equal(await station.store.get('config', 'udp-port'), 2200)
  })

  t.test('with one invalid field changes nothing and says which and why', async (t) => {
    const { station, change, applied } = await settings(t)
    const { writes } = station.store
    const answer = await change({ 'udp-port': 70_000, min: 2 })
    t.match(answer, { status: 200, result: 'failed', leftover: { 'udp-port': 70_000, min: 2 } })
    t.match(answer.errors, [{ name: 'udp-port', message: /65535.*70000/ }])
    t.strictSame(applied, [])
    t.equal(station.store.writes, writes)
    t.match(await change({ min: 11 }), { result: 'failed', errors: [{ name: 'min', message: 'is above max' }] })
  })

  t.test('takes switches as 0/1 or true/false, and no numbers in strings', async (t) => {
    const { station, change } = await settings(t)
    t.match(await change({ 'udp-en': false, flag: 1 }), { result: 'ok' })
    t.equal(await station.store.get('config', 'udp-en'), 0)
    t.equal(station.field('wifi.flag'), true)
    t.match(await change({ 'udp-port': '2200' }), { result: 'failed' })
    t.match(await change({ 'udp-en': 2 }), { result: 'failed' })
    t.match(await station.station.change({ min: Number.POSITIVE_INFINITY }, { source: 'mqtt' }), { result: 'failed' })
  })

  t.test('that an owner refuses is failed, and what others applied and stored is taken back', async (t) => {
    const { station, change, applied, refuse } = await settings(t)
    await change({ 'udp-port': 2200 })
    applied.length = 0
    refuse.owner = 'min'
    const answer = await change({ 'udp-port': 2300, min: 3 })
    t.match(answer, { result: 'failed', errors: [{ name: 'min', message: /refused by wifi: the machine says no/ }] })
    t.strictSame(applied, [
      ['udp', 2300, 2200],
      ['udp', 2200, 2300],
    ])
    t.equal(station.field('udp.port'), 2200)
    t.equal(await station.store.get('config', 'udp-port'), 2200)
    t.equal(await station.store.get('config', 'min'), undefined)
  })

  t.test('that its owner does not answer is refused after 10 s, and what others applied is taken back', async (t) => {
    const applied: unknown[] = []
    const quick = plugin('quick', (ctx) =>
      ctx.config.define('quick', Type.Integer(), { default: 0 }).onChange((now) => void applied.push(now)),
    )
    const stuck = plugin('stuck', (ctx) =>
      ctx.config.define('stuck', Type.Integer(), { default: 0 }).onChange(() => new Promise(() => {})),
    )
    const { station, clock } = await stationWith(t, { quick, stuck })
    let answer: unknown
    void station.change({ quick: 1, stuck: 1 }, { source: 'http' }).then((result) => {
      answer = result
    })
    await until(() => applied.length === 1, 'the first owner')
    await clock.advance(9_999)
    await new Promise(setImmediate)
    t.equal(answer, undefined)
    // It hangs on the way back too, which is before that of the other one.
    await drive(clock, () => answer, 'the answer', 10_000)
    t.match(answer, {
      result: 'failed',
      errors: [{ name: 'stuck', message: /stuck: change of stuck took longer than 10 s/ }],
    })
    t.strictSame(applied, [1, 0])
  })

  t.test('that is refused repeats what was wrong, unless it may be a secret', async (t) => {
    const { change } = await settings(t)
    const told = async (values: object) => (await change(values)).errors
    t.strictSame(await told({ 'udp-port': 0, 'wifi-pswd': 'x'.repeat(17) }), [
      { name: 'udp-port', message: 'must be >= 1, not 0' },
      { name: 'wifi-pswd', message: 'must not have more than 16 characters' },
    ])
  })

  t.test('may bring a value that a rule puts in its place, beside others', async (t) => {
    const pair = plugin('pair', (ctx) => {
      const [low, high] = ['low', 'high'].map((name) => ctx.config.define(name, Type.Integer(), { default: 0 }))
      ctx.config.rule(['low', 'high'], (get, changed) =>
        changed.has('low') && !changed.has('high') ? { set: { high: (get('low') as number) + 1 } } : undefined,
      )
      ctx.info.block('pair', () => ({ low: low?.get(), high: high?.get() }))
    })
    const station = await stationWith(t, { pair })
    await station.station.change({ low: 5 }, { source: 'http' })
    t.strictSame(station.field('pair'), { low: 5, high: 6 })
    t.equal(await station.store.get('config', 'high'), 6)
    await station.station.change({ high: 3 }, { source: 'http' })
    t.strictSame(station.field('pair'), { low: 5, high: 3 })
  })

  t.test('that fails is taken back in reverse: what was built on another goes before it', async (t) => {
    const { change, applied, refuse } = await settings(t)
    refuse.owner = 'min'
    t.match(await change({ 'udp-port': 2300, 'wifi-pswd': 'new', min: 3 }), { result: 'failed' })
    t.strictSame(applied, [
      ['udp', 2300, 2102],
      ['wifi', 'new', ''],
      ['wifi', '', 'new'],
      ['udp', 2102, 2300],
    ])
  })

  t.test('that is nested so deep that no answer could repeat it is refused, whoever sends it', async (t) => {
    const { station } = await settings(t)
    const deep = JSON.parse(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)
    await t.rejects(station.station.change({ 'udp-port': 2300, deep }, { source: 'mqtt' }), {
      code: 'RTK_ERR_CHANGE_BODY',
      message: /deeper than 64/,
    })
    t.equal(station.field('udp.port'), 2102)
  })

  t.test('that a rule fails on is failed, not answered with an error', async (t) => {
    const rude = plugin('rude', (ctx) => {
      ctx.config.define('key', Type.Integer(), { default: 0 })
      ctx.config.rule(['key'], () => {
        throw new Error('what now?')
      })
    })
    const { station } = await stationWith(t, { rude })
    t.match(await station.change({ key: 1 }, { source: 'mqtt' }), {
      result: 'failed',
      errors: [{ name: 'key', message: 'refused by rude: its rule failed: what now?' }],
    })
  })

  t.test('stores what a rule adds in one write, and takes it back if an owner refuses', async (t) => {
    const keeper = plugin('keeper', (ctx) => {
      const key = ctx.config.define('key', Type.Integer(), { default: 0 })
      key.onChange((now) => {
        if (now === 9) throw new Error('no')
      })
      ctx.config.rule(['key'], (get, _changed, source) => ({ store: { was: key.get(), is: get('key'), source } }))
    })
    const { station, store } = await stationWith(t, { keeper })
    const { writes } = store
    t.match(await station.change({ key: 1 }, { source: 'mqtt' }), { result: 'ok' })
    t.equal(store.writes, writes + 1)
    const kept = { was: 0, is: 1, source: 'mqtt' }
    t.strictSame(await store.entries('plugin.keeper'), kept)
    t.match(await station.change({ key: 9 }, { source: 'http' }), { result: 'failed' })
    t.strictSame(await store.entries('plugin.keeper'), kept)
  })

  t.test('C9: an unknown name is explained, and one that a person typed is refused', async (t) => {
    const { station, applied } = await settings(t)
    const answer = { result: 'ok', leftover: { 'udp-prot': 1, zzz: 2 } }
    t.strictSame(await station.station.change({ 'udp-prot': 1, 'udp-port': 2_200, zzz: 2 }, { source: 'http' }), {
      ...answer,
      errors: [
        { name: 'udp-prot', message: 'is an unknown parameter (did you mean "udp-port"?)' },
        { name: 'zzz', message: 'is an unknown parameter' },
      ],
    })
    applied.length = 0
    t.match(await station.station.change({ 'udp-prot': 1, 'udp-port': 2_300 }, { source: 'console' }), {
      result: 'failed',
      errors: [{ name: 'udp-prot', message: /did you mean "udp-port"/ }],
    })
    t.strictSame(applied, [])
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`foreign-${n}`, n]))
    t.equal((await station.station.change(many, { source: 'mqtt' })).errors?.length, 16)
  })

  t.test('S5: a secret does not follow a change to another host or port', async (t) => {
    const mail = plugin('mail', (ctx) => {
      ctx.config.define('host', Type.String(), { default: '' })
      ctx.config.define('url', Type.String(), { default: '' })
      ctx.config.define('word', Type.String(), { default: '', secret: true, boundTo: ['host', 'url', 'peer'] })
      ctx.config.define('peer', Type.String(), { default: '' })
    })
    const { station, store } = await stationWith(t, { mail })
    const change = (values: object) => station.change(values, { source: 'http' })
    const word = async () => (await store.entries('config')).word
    await change({ word: 'secret' })
    t.same(await change({ host: 'mail.example' }), { result: 'ok', leftover: {} }, 'it was entered for no other host')
    await change({ url: 'https://files.example/a' })
    await change({ url: 'https://files.example/b' })
    t.equal(await word(), 'secret', 'the same host')
    const gone = { result: 'ok', errors: [{ name: 'word', message: /was removed: it was entered for another/ }] }
    await change({ peer: 'files:21', word: 'secret' })
    const others = [{ host: 'evil.example' }, { host: '' }, { url: 'https://files.example:444/b' }, { peer: 'evil:21' }]
    for (const away of others) {
      t.match(await change(away), gone, JSON.stringify(away))
      t.equal(await word(), '')
      await change({ host: 'mail.example', url: 'https://files.example/b', peer: 'files:21', word: 'secret' })
      t.equal(await word(), 'secret', 'brought along')
    }
  })

  t.test('C3: a rule sets only valid values of its own plugin, and every rule sees what is stored', async (t) => {
    const rules = plugin('rules', (ctx) => {
      ctx.config.define('first', Type.Integer({ maximum: 9 }), { default: 0 })
      ctx.config.define('second', Type.Integer({ maximum: 9 }), { default: 0 })
      // It comes before the rule that sets what it looks at.
      ctx.config.rule(['second'], (get) => (get('second') === 7 ? 'second is never 7' : undefined))
      ctx.config.rule(['first'], (get) => ({ set: { second: (get('first') as number) + 1 } }))
    })
    const alien = plugin('alien', (ctx) => {
      ctx.config.define('third', Type.Integer(), { default: 0 })
      ctx.config.rule(['third'], () => ({ set: { first: 1 } }))
    })
    const restless = plugin('restless', (ctx) => {
      ctx.config.define('fourth', Type.Integer(), { default: 0 })
      ctx.config.rule(['fourth'], (get) => ({ set: { fourth: (get('fourth') as number) + 1 } }))
    })
    const { station, store } = await stationWith(t, { rules, alien, restless })
    for (const [change, name, message] of [
      [{ first: 6 }, 'first', 'second is never 7'],
      [{ first: 9 }, 'first', /^refused by rules: its rule sets second, which .*9/],
      [{ third: 1 }, 'third', 'refused by alien: its rule sets first, which is not its parameter'],
      [{ fourth: 1 }, 'fourth', 'the rules of the plugins contradict each other'],
    ] as const) {
      const answer = await station.change(change, { source: 'http' })
      t.match(answer, { result: 'failed', errors: [{ message }] }, JSON.stringify(change))
      t.ok(answer.errors?.length === 1 && name)
    }
    t.match(await station.change({ first: 3 }, { source: 'http' }), { result: 'ok' })
    t.match(await store.entries('config'), { first: 3, second: 4 })
  })

  t.test('begins when the one before is through', async (t) => {
    const order: string[] = []
    const slow = plugin('slow', (ctx) =>
      ctx.config.define('key', Type.Integer(), { default: 0 }).onChange(async (now, before) => {
        order.push(`${before} → ${now} …`)
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`${before} → ${now}`)
      }),
    )
    const { station } = await stationWith(t, { slow })
    await Promise.all([1, 2, 3].map((key) => station.change({ key }, { source: 'plugin' })))
    t.strictSame(
      order,
      ['0 → 1', '1 → 2', '2 → 3'].flatMap((what) => [`${what} …`, what]),
    )
  })

  t.test('of several parameters reaches a common listener once, with their names', async (t) => {
    const calls: [string[], string][] = []
    const others: string[][] = []
    const pair = plugin('pair', (ctx) => {
      for (const name of ['one', 'two', 'three']) ctx.config.define(name, Type.Number(), { default: 0 })
      ctx.config.onChange(['one', 'two'], (changed, source) => {
        if (changed.has('two') && calls.length === 2) throw new Error('not two')
        calls.push([[...changed], source])
      })
      ctx.config.onChange(['two', 'three'], (changed) => void others.push([...changed]))
    })
    const station = await stationWith(t, { pair })
    const change = (values: object) => station.station.change(values, { source: 'http' })
    await change({ one: 1, two: 2, three: 3 })
    await change({ three: 4 })
    await change({ two: 3 })
    t.strictSame(calls, [
      [['one', 'two'], 'http'],
      [['two'], 'http'],
    ])
    t.strictSame(others, [['two', 'three'], ['three'], ['two']], 'the next listener is reached too')
    t.match(await change({ two: 5 }), { result: 'failed', errors: [{ name: 'two', message: /not two/ }] })
  })

  t.test('during a reload reaches the new version, and a refusal of that is reported', async (t) => {
    const applied: string[] = []
    let release = () => {}
    let refuse = false
    const slow = (version: string): Definition =>
      definePlugin({
        name: 'slow',
        version,
        api: '^1.0.0',
        setup(ctx) {
          const port = ctx.config.define('port', Type.Integer(), { default: 1 })
          port.onChange((now) => {
            if (refuse) throw new Error('taken')
            applied.push(`${version} ${now}`)
          })
          return port
        },
        // It opens what it found in setup, as plugins do.
        start: () =>
          new Promise<void>((resolve) => {
            release = resolve
            if (version === '1.0.0') resolve()
          }),
      }) as unknown as Definition
    const station = await stationWith(t, { slow: slow('1.0.0') })
    const during = async (values: object, version: string) => {
      station.define('slow', slow(version))
      const reloaded = station.reload('slow')
      await until(() => station.station.plugins().some(({ state }) => state === 'starting'), 'the start')
      t.match(await station.station.change(values, { source: 'http' }), { result: 'ok' })
      release()
      await reloaded
    }
    await during({ port: 2 }, '2.0.0')
    await until(() => applied.includes('2.0.0 2'), 'the new version got the change')
    refuse = true
    await during({ port: 3 }, '3.0.0')
    await until(() => station.device.errors().length > 0, 'the refusal')
    t.match(station.device.errors(), [{ code: 'change-not-applied', text: /port refused by slow: taken/ }])
    refuse = false
    t.match(await station.station.change({ port: 4 }, { source: 'http' }), { result: 'ok' })
    t.same(station.device.errors(), [], 'until a change went well')
  })

  t.test('inside the applying of another one is an error at once, and afterwards it works', async (t) => {
    const { station: token } = await import('../../schemas/services.js')
    const seen: unknown[] = []
    const nested = plugin('nested', (ctx) => {
      ctx.config.define('first', Type.Number(), { default: 0 }).onChange(async () => {
        const change = ctx.services.find(token)?.change({ second: 2 }, { source: 'plugin' })
        await change?.catch((error) => seen.push(error.code))
        ctx.timers.after(0, async () => {
          seen.push((await ctx.services.find(token)?.change({ second: 3 }, { source: 'plugin' }))?.result)
        })
      })
      ctx.config.define('second', Type.Number(), { default: 0 })
    })
    const station = await stationWith(t, { nested })
    t.match(await station.station.change({ first: 1 }, { source: 'http' }), { result: 'ok' })
    t.strictSame(seen, ['RTK_ERR_CHANGE_NESTED'])
    await station.clock.advance(1)
    await until(() => seen.length === 2, 'the later change')
    t.equal(seen[1], 'ok')
  })

  t.test('moves a topic that follows a parameter', async (t) => {
    const { mqttBus } = await import('../../schemas/services.js')
    const subscribed: string[][] = []
    const follower = plugin('follower', (ctx) => {
      const other = ctx.config.define('other', Type.String(), { default: 'A' })
      ctx.mqtt.on(
        () => (other.get() === '' ? '' : `base/${other.get()}/drtk`),
        () => {},
      )
    })
    const driver = definePlugin({
      name: 'driver',
      version: '1.0.0',
      api: '^1.0.0',
      needs: [mqttBus],
      setup: () => {},
      start: (ctx) =>
        void ctx.services
          .use(mqttBus)
          .attach({ publish: () => 'sent', subscribe: (filters) => void subscribed.push([...filters]) }),
    })
    const station = await stationWith(t, { follower, driver })
    await station.station.change({ other: 'B' }, { source: 'http' })
    await station.station.change({ other: '' }, { source: 'http' })
    t.strictSame(subscribed, [['base/A/drtk'], ['base/B/drtk'], []])
  })

  t.test('S3: a topic function that throws takes only its own topic away', async (t) => {
    const { mqttBus } = await import('../../schemas/services.js')
    const found: { bus?: MqttBus } = {}
    const subscribed: string[][] = []
    const heard: string[] = []
    const driver = definePlugin({
      ...{ name: 'driver', version: '1.0.0', api: '^1.0.0', needs: [mqttBus], setup: () => {} },
      start(ctx) {
        found.bus = ctx.services.use(mqttBus)
        found.bus.attach({ publish: () => 'sent', subscribe: (filters) => void subscribed.push([...filters]) })
      },
    })
    const state: { topic?: string } = {}
    const bad = plugin('bad', (ctx) => {
      ctx.mqtt.on(
        () => (state.topic as string).toString(),
        () => void heard.push('bad'),
      )
      ctx.mqtt.on('own', () => void heard.push('own'))
    })
    const good = plugin('good', (ctx) => ctx.mqtt.on('good', () => void heard.push('good')))
    const station = await stationWith(t, { bad, good, driver })
    t.equal((await station.request('/get-info')).status, 200)
    t.strictSame(subscribed, [['own', 'good']])
    found.bus?.deliver({ topic: 'good', payload: Buffer.from(''), retain: false })
    t.strictSame(heard, ['good'])
    t.match(
      station.station.plugins().find(({ name }) => name === 'bad'),
      { state: 'running', reason: /^topic: / },
    )
  })

  t.test('S3: a link whose driver throws stops no other plugin, and is the one that is blamed', async (t) => {
    const { mqttBus } = await import('../../schemas/services.js')
    const driver = definePlugin({
      ...{ name: 'driver', version: '1.0.0', api: '^1.0.0', needs: [mqttBus], setup: () => {} },
      start(ctx) {
        const fail = () => {
          throw new Error('the socket is gone')
        }
        ctx.services.use(mqttBus).attach({ publish: fail, subscribe: fail })
      },
    })
    const told: string[] = []
    const good = definePlugin({
      ...{ name: 'good', version: '1.0.0', api: '^1.0.0', setup: (ctx) => ctx.mqtt.on('good', () => {}) },
      start: (ctx) => void ctx.timers.after(1_000, () => told.push(ctx.mqtt.publish('good', 'x'))),
    })
    const station = await stationWith(t, { driver, good })
    await station.clock.advance(1_000)
    t.strictSame(told, ['offline'])
    t.equal((await station.request('/get-info')).status, 200)
    t.match(station.station.plugins().slice(-2), [
      { name: 'driver', state: 'running', reason: /of the MQTT link: the socket is gone/ },
      { name: 'good', state: 'running', reason: '' },
    ])
  })

  t.test('that cannot be stored is failed and applied by nobody', async (t) => {
    const { station, change, applied } = await settings(t)
    station.store.failure = 'disk full'
    t.match(await change({ 'udp-port': 2200 }), {
      result: 'failed',
      errors: [{ name: 'udp-port', message: /disk full/ }],
    })
    t.strictSame(applied, [])
    t.equal(station.field('udp.port'), 2102)
    station.store.failure = undefined
    t.match(await change({ 'udp-port': 2200 }), { result: 'ok' })
  })

  t.test('of an action runs it and stores nothing', async (t) => {
    const { station, change, applied } = await settings(t)
    const { writes } = station.store
    t.match(await change({ trigger: true }), { result: 'ok', leftover: {} })
    t.strictSame(applied, [['trigger', 'http', undefined]])
    t.match(await change({ trigger: 0 }), { result: 'ok', leftover: {} })
    t.match(await change({ trigger: 'yes' }), { result: 'failed', errors: [{ name: 'trigger' }] })
    t.equal(applied.length, 1, 'only true starts it')
    t.equal(station.store.writes, writes)
    t.notOk(station.lines.some(({ msg }) => msg === 'change stored'))
  })

  t.test('that ends the caller’s link is applied after the answer was written', async (t) => {
    const order: string[] = []
    const link = plugin('link', (ctx) => {
      ctx.config
        .define('host', Type.String(), { default: 'a', endsLink: true })
        .onChange(() => void order.push('applied'))
    })
    const station = await stationWith(t, { link })
    let answered: () => void = () => {}
    const result = await station.station.change(
      { host: 'b' },
      {
        source: 'mqtt',
        answered: new Promise((resolve) => {
          answered = resolve
        }),
      },
    )
    order.push(`answered ${result.result}`)
    answered()
    await until(() => order.length === 2, 'the late part')
    t.strictSame(order, ['answered ok', 'applied'])
  })

  t.test('that may cut its caller off', async (t) => {
    const store = new MemoryStore()
    const wanted = { value: 1, arrives: true, slowly: Promise.resolve() }
    const applied: unknown[] = []
    const radio = (address: string) =>
      plugin('radio', (ctx) => {
        const trial = { reaches: (caller: Caller) => wanted.arrives && caller.address === address }
        const define = (name: string) => ctx.config.define(name, Type.Integer({ maximum: 13 }), { default: 1, trial })
        define('chan').onChange(async (now) => {
          if (now === 13) throw new Error('the radio says no')
          await wanted.slowly
          applied.push(now)
        })
        define('power')
        const secret = { default: '', trial, secret: true, title: 'Password' } as const
        ctx.config.define('key', Type.String(), secret)
        ctx.config.define('mast', Type.Integer(), { default: 0 })
      })
    const start = async (t: Test, { address = '127.0.0.1', window_s = 90 } = {}) => {
      wanted.arrives = true
      applied.length = 0
      const variant = { trial: { window_s } }
      const station = await stationWith(t, { system, radio: radio(address) }, { store, variant })
      const post = async (body: object) =>
        (await station.request('/change', { method: 'POST', body: JSON.stringify(body) })).json()
      const errors = () => (station.field('base.state.errors') as { code: string }[]).map(({ code }) => code)
      return { station, post, errors, trial: () => station.field('base.state.trial') }
    }
    const reset = () =>
      store.batch([
        ...['chan', 'power', 'key'].map((key) => ({ namespace: 'config', key, value: undefined })),
        { namespace: 'runtime', key: 'trial', value: undefined },
      ])

    t.test('is set back when nobody comes that way again, with what belongs to it', async (t) => {
      await reset()
      const { station, post, errors, trial } = await start(t)
      t.match(await post({ chan: 6, power: 3 }), { result: 'ok' })
      await until(() => applied.length === 1, 'it is applied')
      t.match(trial(), { parameters: ['chan', 'power'], left_s: 90 })
      t.match(await store.get('runtime', 'trial'), [{ name: 'chan' }, { name: 'power' }], 'also over a power cut')
      wanted.arrives = false
      await station.clock.advance(60_000)
      await station.request('/get-info')
      await station.clock.advance(30_000)
      await until(() => errors().includes('change-rolled-back'), 'change-rolled-back')
      const error = (station.field('base.state.errors') as { code: string; text: string }[]).find(
        ({ code }) => code === 'change-rolled-back',
      )
      t.match(error?.text, /^chan, power did not work: nobody reached the station through it within 90 s/)
      t.strictSame(applied, [6, 1])
      t.equal(trial(), undefined)
      t.equal(await store.get('config', 'chan'), undefined, 'the default again, not a stored one')
      t.equal(await store.get('runtime', 'trial'), undefined)
      wanted.arrives = true
      await post({ power: 1 })
      await until(() => !errors().includes('change-rolled-back'), 'until a change went well')
    })

    t.test('is kept when its caller comes again, but not by a request that was under way', async (t) => {
      await reset()
      const { station, post, errors, trial } = await start(t)
      await post({ chan: 7 })
      await until(() => applied.length === 1, 'it is applied')
      await station.request('/get-info')
      t.ok(trial(), 'too early')
      await station.clock.advance(2_000)
      await station.request('/get-info')
      t.equal(trial(), undefined)
      await station.clock.advance(120_000)
      t.strictSame(applied, [7])
      t.notOk(errors().includes('change-rolled-back'))
      t.equal(await store.get('runtime', 'trial'), undefined)
    })

    t.test('is told by its title alone where it is a password', async (t) => {
      for (const [body, text] of [
        [{ key: 'hunter2' }, /^Password did not work: /],
        [{ key: 'hunter3', chan: 5 }, /^chan did not work: /],
      ] as const) {
        await reset()
        const { station, post, errors } = await start(t)
        t.match(await post(body), { result: 'ok' })
        wanted.arrives = false
        await station.clock.advance(90_000)
        await until(() => errors().includes('change-rolled-back'), 'change-rolled-back')
        const found = station.field('base.state.errors') as { code: string; text: string }[]
        const error = found.find(({ code }) => code === 'change-rolled-back')
        t.match(error?.text, text)
        t.notMatch(JSON.stringify(error), /hunter/)
        await station.stop()
      }
    })

    t.test('is on trial also where nobody waits for an answer', async (t) => {
      await reset()
      const { station, errors, trial } = await start(t)
      await station.station.change({ chan: 5 }, { source: 'http', address: '127.0.0.1' })
      t.match(trial(), { parameters: ['chan'], left_s: 90 })
      await station.clock.advance(90_000)
      await until(() => errors().includes('change-rolled-back'), 'change-rolled-back')
      t.strictSame(applied, [5, 1])
    })

    t.test('is on trial for nobody else, nor where the window is 0, nor when nothing changes', async (t) => {
      await reset()
      const other = await start(t, { address: '192.168.4.1' })
      await other.post({ chan: 8 })
      t.equal(other.trial(), undefined)
      await other.station.stop()
      const off = await start(t, { window_s: 0 })
      await off.post({ chan: 9 })
      t.equal(off.trial(), undefined)
      await off.station.stop()
      const same = await start(t)
      await same.post({ chan: 9 })
      t.equal(same.trial(), undefined)
    })

    t.test('is confirmed or set back by command', async (t) => {
      await reset()
      const { station, post, trial } = await start(t)
      const send = async (command: string) => (await station.request(`/system?${command}`, { method: 'POST' })).status
      t.equal(await send('confirm-change'), 503)
      await post({ chan: 2 })
      await until(() => applied.length === 1, 'it is applied')
      t.equal(await send('confirm-change'), 200)
      t.equal(trial(), undefined)
      await post({ chan: 3 })
      await until(() => applied.length === 2, 'both are applied')
      t.equal(await send('undo-change'), 200)
      t.strictSame(applied, [2, 3, 2])
      t.equal(await send('undo-change'), 503, 'nothing is on trial')
      t.strictSame(applied, [2, 3, 2])
    })

    t.test('joins the one before; a refused one leaves that on trial', async (t) => {
      await reset()
      const { station, post, errors, trial } = await start(t)
      await post({ chan: 4 })
      await until(() => applied.length === 1, 'it is applied')
      await post({ chan: 5 })
      await until(() => applied.length === 2, 'both are applied')
      await post({ chan: 13 })
      await until(() => errors().includes('change-undone'), 'change-undone')
      t.match(trial(), { parameters: ['chan'] })
      wanted.arrives = false
      await station.clock.advance(90_000)
      await until(() => trial() === undefined, 'it is over')
      t.equal(applied.at(-1), 1, 'the value before the first of them')
    })

    t.test('stays on trial over a restart where the one before is confirmed while it is stored', async (t) => {
      await reset()
      const { station, post, trial } = await start(t)
      await post({ chan: 6 })
      await until(() => applied.length === 1, 'it is applied')
      const write = store.batch.bind(store)
      let release = () => {}
      const isReleased = new Promise<void>((resolve) => {
        release = resolve
      })
      let isHeld = false
      store.batch = async (...batch) => {
        if (!isHeld) {
          isHeld = true
          await isReleased
        }
        await write(...batch)
      }
      const second = post({ chan: 7 })
      await until(() => isHeld, 'the second change is being stored')
      const confirmed = station.request('/system?confirm-change', { method: 'POST' })
      await until(() => trial() === undefined, 'the first change is confirmed')
      release()
      await Promise.all([second, confirmed])
      store.batch = write
      t.match(trial(), { parameters: ['chan'] })
      t.ok(await store.get('runtime', 'trial'))
      t.equal((await station.request('/system?undo-change', { method: 'POST' })).status, 200)
    })

    t.test('is set back later where it was refused and the values before could not be stored', async (t) => {
      await reset()
      const { station, post, errors, trial } = await start(t)
      const write = store.batch.bind(store)
      let writes = 0
      store.batch = (ops) => (writes++ === 0 ? write(ops) : Promise.reject(new Error('disk full')))
      await post({ chan: 13 })
      await until(() => errors().includes('change-not-undone'), 'change-not-undone')
      store.batch = write
      wanted.arrives = false
      await station.clock.advance(90_000)
      await until(() => trial() === undefined, 'it is over').catch(() => {})
      t.equal(trial(), undefined)
      t.equal(await store.get('config', 'chan'), undefined)
    })

    t.test('gets no more time by changes of something else', async (t) => {
      await reset()
      const { post, station } = await start(t)
      await post({ chan: 11 })
      await until(() => applied.length === 1, 'it is applied')
      wanted.arrives = false
      for (let i = 0; i < 3; i++) {
        await station.clock.advance(30_000)
        await post({ mast: i })
      }
      await until(() => applied.at(-1) === 1, 'it is set back')
      t.strictSame(applied, [11, 1])
    })

    t.test('has all of its time from when it is in force, however long that takes', async (t) => {
      await reset()
      const { post, station, trial } = await start(t)
      const { clock } = station
      let inForce = () => {}
      wanted.slowly = new Promise((resolve) => {
        inForce = resolve
      })
      t.match(await post({ chan: 12 }), { result: 'ok' })
      await clock.advance(8_000)
      await station.request('/get-info')
      t.ok(trial(), 'who comes by the way that still holds confirms nothing')
      wanted.arrives = false
      inForce()
      await until(() => applied.length === 1, 'it is applied')
      wanted.slowly = Promise.resolve()
      await clock.advance(89_000)
      t.match(trial(), { parameters: ['chan'], left_s: 1 })
      t.strictSame(applied, [12])
      await clock.advance(1_000)
      await until(() => applied.length === 2, 'it is set back').catch(() => {})
      t.strictSame(applied, [12, 1])
    })

    t.test('is set back where the timer is a moment early, as those of Node are', async (t) => {
      await reset()
      const clock = new ManualClock()
      const early: Clock = {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        timer: (delay_ms, fn) => clock.timer(Math.max(0, delay_ms - 2), fn),
      }
      let over = 0
      const trial = new ChangeTrial({
        store,
        clock: early,
        log: pino({ level: 'silent' }),
        window_s: 90,
        parameter: () => undefined,
        over: () => {
          over += 1
        },
        betweenChanges: (work) => work(),
        changed: () => {},
      })
      trial.begin(new Map([['chan', 1]]))
      t.notOk(trial.expired)
      trial.applied()
      await clock.advance(89_999)
      t.equal(over, 1)
      t.ok(trial.expired, 'whatever the clock says')
      trial.begin(new Map([['chan', 1]]))
      t.notOk(trial.expired, 'another change joined it')
    })

    t.test('survives a restart that nobody planned', async (t) => {
      await reset()
      const first = await start(t)
      await first.post({ chan: 10 })
      await until(() => applied.length === 1, 'it is applied')
      await first.station.stop()
      const { station, trial, errors } = await start(t)
      t.match(trial(), { parameters: ['chan'], left_s: 90 })
      wanted.arrives = false
      await station.clock.advance(90_000)
      await until(() => errors().includes('change-rolled-back'), 'change-rolled-back')
      t.strictSame(applied, [1])
    })
  })

  t.test('bodies that are no JSON object are 400, too large ones 413, whatever the content type', async (t) => {
    const { station } = await settings(t)
    const post = (body: string, type = 'application/json') =>
      station.request('/change', { method: 'POST', body, headers: { 'content-type': type } })
    for (const body of ['', '[]', '1', 'null', '"x"', '{"a":', 'a=b']) t.equal((await post(body)).status, 400, body)
    t.match((await post('{', 'text/plain')).json(), { error: /^RTK_ERR_/, message: String, help: String })
    t.equal((await post(`{"a":"${'x'.repeat(70_000)}"}`)).status, 413)
    t.match((await post('{"min":2}', 'application/x-www-form-urlencoded')).json(), { result: 'ok' })
    t.match((await post('{"__proto__":{"x":1}}')).text, '"leftover":{"__proto__":{"x":1}}')
  })

  t.test('never throws and never half-applies, whatever JSON comes', async (t) => {
    const { station } = await settings(t)
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('udp-port', 'udp-en', 'min', 'max', 'flag', 'x'), fc.jsonValue()),
        async (values) => {
          const before = JSON.stringify(await station.store.entries('config'))
          const { result } = await station.station.change(values, { source: 'plugin' })
          if (result === 'failed') t.equal(JSON.stringify(await station.store.entries('config')), before)
        },
      ),
      { numRuns: sample(100, 300) },
    )
  })

  t.test('a stored value that the schema no longer takes falls back with one warning and stays stored', async (t) => {
    const store = new (await import('../harness/memory-store.js')).MemoryStore({
      config: { 'udp-port': 'no', absent: 5 },
    })
    const { station, change } = await settings(t, { store })
    t.equal(station.field('udp.port'), 2102)
    t.ok(station.lines.filter(({ msg }) => msg.includes('udp-port is no longer allowed')).length === 1)
    t.match(await change({ absent: 6 }), { leftover: { absent: 6 } })
    t.equal(await store.get('config', 'absent'), 5, 'the value of a plugin that is not here is kept')
  })

  t.test('of the command line is stored before anything starts, or every mistake in it is told at once', async (t) => {
    const { station } = await settings(t, { changes: { 'udp-port': '2200', flag: 'true' } })
    t.equal(station.field('udp.port'), 2200)
    t.equal(await station.store.get('config', 'flag'), true)
    const wrong = settings(t, { changes: { 'udp-port': '0', min: 'x', max: '0', 'udp-prot': '1' } })
    await t.rejects(wrong, {
      message: /--change min: must be number, not "x"\n--change udp-prot: no plugin .* \(did you mean "udp-port"\?\)/,
    })
    await t.rejects(settings(t, { changes: { 'udp-port': '0' } }), {
      message: /--change udp-port: must be >= 1, not 0/,
    })
    await t.rejects(settings(t, { changes: { max: '0' } }), { message: /--change max: is above max|--change min/ })
    const full = new MemoryStore()
    full.failure = 'disk full'
    const kept = await settings(t, { store: full, changes: { 'udp-port': '2200' } })
    t.equal(kept.station.field('udp.port'), 2102, 'the station does not stay down for it')
    t.match(kept.station.device.errors(), [{ code: 'change-not-stored', text: /--change of udp-port: .*disk full/ }])
  })

  t.test('initial values of the variant stand between default and stored', async (t) => {
    const { station, change } = await settings(t, { variant: { changes: { 'udp-port': 3000 } } })
    t.equal(station.field('udp.port'), 3000)
    await change({ 'udp-port': 3001 })
    t.equal(station.field('udp.port'), 3001)
    await t.rejects(createTestStation({ variant: { changes: { 'udp-port': 0 } } }), { code: 'RTK_ERR_VARIANT' })
  })
})

t.test('GET /parameters and GET /actions say what a form needs', async (t) => {
  const { station, change } = await settings(t)
  t.match(await change({ 'wifi-pswd': 'open sesame', 'udp-port': 2200 }), { result: 'ok' })
  const { text, json } = await station.request('/parameters')
  t.notMatch(text, /sesame/)
  const parameters = json() as { name: string }[]
  const of = (name: string) => parameters.find((one) => one.name === name)
  const port = { plugin: 'udp', default: 2102, value: 2200, secret: false, endsLink: false, onTrial: false }
  t.match(of('udp-port'), { ...port, schema: { type: 'integer', minimum: 1, maximum: 65_535 } })
  t.strictSame(of('wifi-pswd'), {
    name: 'wifi-pswd',
    plugin: 'wifi',
    title: 'wifi-pswd',
    schema: { type: 'string', maxLength: 16 },
    set: true,
    secret: true,
    endsLink: false,
    onTrial: false,
  })
  t.notOk(of('trigger'), 'an action has no value')
  const ask = plugin('ask', (ctx) => ctx.action({ name: 'ask', summary: 'asks', caution: 'Sure?', run: () => 'yes' }))
  const other = await stationWith(t, { ask })
  t.strictSame((await other.request('/actions')).json(), [
    {
      ...{ name: 'ask', plugin: 'ask', summary: 'asks', caution: 'Sure?', reads: false },
      input: { type: 'object', properties: {}, additionalProperties: false },
    },
  ])
})

t.test('GET /openapi.json describes what answers, with parameters and commands', async (t) => {
  const own = plugin('own', (ctx) => {
    const params = Type.Object({ id: Type.Integer() })
    ctx.http.route({ method: 'GET', url: '/own/:id', schema: { summary: 'Mine', params }, handler: async () => ({}) })
    ctx.http.route({ method: 'POST', url: '/own/*', config: { public: true }, handler: async () => ({}) })
    ctx.config.define('own-en', Type.Integer({ minimum: 0, maximum: 1 }), { default: 1, title: 'Own' })
    ctx.config.define('own-pswd', Type.String(), { default: 'hidden', secret: true })
    ctx.action({ name: 'own-go', summary: 'goes', input: { far: Type.Number() }, run: () => 'gone' })
  })
  const station = await stationWith(t, { own })
  const { text, json } = await station.request('/openapi.json')
  t.notMatch(text, /hidden/)
  const { openapi, paths, components } = json() as {
    openapi: string
    paths: Record<string, Record<string, Json>>
    components: { schemas: Record<string, Json> }
  }
  t.equal(openapi, '3.1.0')
  t.match(paths['/own/{id}']?.get, {
    tags: ['own'],
    summary: 'Mine',
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    security: [{ token: ['viewer'] }, { session: ['viewer'] }],
  })
  t.match(paths['/own/{rest}']?.post, { security: [] })
  const { Change, Command } = components.schemas
  t.match(Change, { properties: { 'own-en': { title: 'Own', default: 1 }, 'own-pswd': { writeOnly: true } } })
  t.match(Command?.description, /`own-go\[=value\]`: goes/)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters, requestBody, responses }] of Object.entries(methods)) {
      const found = JSON.stringify([parameters, requestBody, responses])
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) t.match(found, `"name":"${name}"`, `${method} ${path}`)
      for (const one of schemasIn([parameters, requestBody, responses]))
        t.ok(ajv.validateSchema(one as object), `${method} ${path}`)
    }
  await station.unload('own')
  t.notMatch((await station.request('/openapi.json')).text, /own-|\/own/)
})

type Json = Record<string, unknown>

/** Every JSON Schema in a part of an OpenAPI document. */
function schemasIn(part: unknown): unknown[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, value]) => (name === 'schema' ? [value] : schemasIn(value)))
}

t.test('the document', async (t) => {
  const parts = plugin('parts', (ctx) => {
    ctx.info.block('a', {
      static: () => ({ s: 1 }),
      runtime: () => ({ r: 2 }),
      config: () => ({ c: 3 }),
      detail: { static: () => ({ ds: 4 }), runtime: () => ({ dr: 5 }), config: () => ({ dc: 6 }) },
    })
    ctx.info.block('a.b.c', () => 7)
  })

  t.test('S7: who and where rovers are, and the names of networks, are not for viewers', async (t) => {
    const rover = { id: 3, mount: 'ROOF', ip: '198.51.100.7', user: 'ann', agent: 'NTRIP x', lat: 48.1, lon: 11.5 }
    const people = plugin('people', (ctx) => {
      ctx.info.block('ntrip', () => ({ caster: { rovers: [{ ...rover, quality: 4 }] } }))
      ctx.info.block('gnss.rtcm', () => ({ subscribers: [{ via: 'udp', name: 'tractor', seen: 1, ip: '10.0.0.9' }] }))
      ctx.info.block('gnss.pos', () => ({ lat: 48, lon: 11 }))
      ctx.info.block('wap', () => ({ ssid: 'farm', pwd: 'secret', sta: [{ mac: 'aa', ip: '10.0.0.9', rssi: -60 }] }))
      ctx.info.block('router', () => ({ 'wap-ssid': 'farm', imei: '8600', wap: { ssid: 'farm', bssid: 'aa' } }))
    })
    const { station } = await stationWith(t, { people })
    const of = (reader: 'viewer' | 'operator') => JSON.parse(station.documentText(undefined, reader))
    t.match(of('operator'), { ntrip: { caster: { rovers: [rover] } }, wap: { ssid: 'farm' } })
    t.strictSame(of('viewer'), {
      ntrip: {
        caster: { rovers: [{ id: 3, mount: 'ROOF', ip: '', user: '', agent: '', lat: 0, lon: 0, quality: 4 }] },
      },
      gnss: { rtcm: { subscribers: [{ via: 'udp', name: '', seen: 1, ip: '' }] }, pos: { lat: 48, lon: 11 } },
      wap: { ssid: '', pwd: '', sta: [{ mac: '', ip: '', rssi: -60 }] },
      router: { 'wap-ssid': '', imei: '', wap: { ssid: '', bssid: '' } },
    })
  })

  t.test('is restricted by the mask, read by assignment 1', async (t) => {
    const station = await stationWith(t, { parts })
    const get = async (query: string) => (await station.request(`/get-info${query}`)).json()
    t.strictSame(await get(''), { a: { s: 1, r: 2, c: 3, ds: 4, dr: 5, dc: 6, b: { c: 7 } } })
    t.strictSame(await get('?0x02'), { a: { r: 2, b: { c: 7 } } })
    t.strictSame(await get('?0x102='), { a: { r: 2, dr: 5, b: { c: 7 } } })
    t.strictSame(await get('?0X104'), { a: { c: 3, dc: 6 } })
    t.strictSame(await get('?1'), { a: { s: 1 } })
    t.strictSame(await get('?0x100'), {})
    t.strictSame(await get('?4294967295'), await get(''))
    for (const path of ['/heart-beat', '/get-base-info'])
      t.strictSame((await station.request(path)).json(), await get(''))
    for (const bad of ['?-1', '?0x1ffffffff', '?x', '?mask=2', '?1.5', '?0x', '?%00', `?${'9'.repeat(400)}`]) {
      const answer = await station.request(`/get-info${bad}`)
      t.equal(answer.status, 400, bad)
      t.match(answer.json(), { error: 'RTK_ERR_MASK', message: /0xFFFFFFFF/ })
    }
  })

  t.test('reads a mask by assignment 2 where the variant says so', async (t) => {
    const station = await stationWith(t, { parts }, { variant: { info: { mask: 2 } } })
    t.strictSame(station.station.document(0x101), { a: { r: 2, b: { c: 7 } } })
    t.strictSame(station.station.document(0x201), { a: { r: 2, dr: 5, b: { c: 7 } } }, 'all has the basic part too')
    t.strictSame(station.station.document(0x202), { a: { s: 1, ds: 4 } })
    t.strictSame(station.station.document(0x001), {})
    t.match(selectionOf(0x304, 2), { config: true, basic: true, all: true, runtime: false })
    t.equal(parseMask('0xffffffff'), 0xffffffff)
  })

  t.test('a block that throws is missing, the rest is there, one log line', async (t) => {
    const faulty = plugin('faulty', (ctx) => {
      ctx.info.block('bad', () => {
        throw new Error('broken sensor')
      })
      ctx.info.block('good', () => ({ x: 1 }))
      ctx.hooks.onInfoBuild.tap(() => {
        throw new Error('broken hook')
      })
      ctx.hooks.onInfoBuild.tap(
        (document) => {
          document.edited = true
        },
        { stage: 1 },
      )
    })
    const station = await stationWith(t, { faulty, parts })
    t.match(station.station.document(), { good: { x: 1 }, a: { r: 2 }, edited: true })
    station.station.document()
    t.equal(station.station.document().bad, undefined)
    t.equal(station.lines.filter(({ msg }) => msg.includes('broken sensor')).length, 1)
    t.match(
      station.station.plugins().find(({ name }) => name === 'faulty'),
      { state: 'running', reason: /broken/ },
    )
  })

  t.test('a number that JSON does not have is null, and reported once per path', async (t) => {
    let rows = 1
    const sky = plugin('sky', (ctx) => {
      ctx.info.block('sky.pos', () => ({
        acc: Number.NaN,
        left: undefined,
        none: null,
        word: 'null',
        deep: { list: Array.from({ length: rows }, () => ({ snr: Number.POSITIVE_INFINITY })) },
        holes: [1, undefined],
      }))
      ctx.info.block('sky.delta', () => 0 / 0)
      ctx.info.block('sky.once', { static: () => ({ x: Number.NaN }) })
    })
    const station = await stationWith(t, { sky })
    const wanted = {
      pos: { acc: null, none: null, word: 'null', deep: { list: [{ snr: null }] }, holes: [1, null] },
      delta: null,
      once: { x: null },
    }
    t.strictSame(station.station.document().sky, wanted)
    const reports = () => station.lines.filter(({ msg }) => msg.includes('JSON cannot express'))
    const expected = [
      ['sky.pos', 'acc', 'NaN'],
      ['sky.pos', 'deep.list[].snr', 'Infinity'],
      ['sky.pos', 'holes[]', 'undefined'],
      ['sky.delta', '', 'NaN'],
      ['sky.once', 'x', 'NaN'],
    ]
    t.equal(reports().length, expected.length)
    for (const [block, path, found] of expected) {
      const text = `block ${block} of plugin sky: ${path ? `field ${path}` : 'the value'} is ${found}, which`
      t.ok(
        reports().some(({ msg, plugin }) => msg.startsWith(text) && plugin === 'sky'),
        text,
      )
    }
    rows = 3
    station.station.document()
    t.equal(reports().length, expected.length, 'once')
  })

  t.test('what is no JSON costs its block, or the taps, and never the rest of the document', async (t) => {
    const circle: Record<string, unknown> = {}
    circle.circle = { circle }
    let tapped = false
    const strange = plugin('strange', (ctx) => {
      ctx.info.block('bigint', () => ({ x: 1n }))
      ctx.info.block('circle', () => circle)
      ctx.info.block('later', (async () => Promise.reject(new Error('late'))) as never)
      ctx.info.block('inherited', () => JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"x": 1}}'))
      ctx.info.block('constructor.prototype', () => ({ polluted: 2 }))
      ctx.info.block('a.r.beneath', () => 3)
      ctx.hooks.onInfoBuild.tap((document) => {
        if (tapped) document.tap = 1n
      })
    })
    const station = await stationWith(t, { parts, strange })
    const get = async () => (await station.request('/get-info?2')).text
    const whole = {
      a: { r: 2, b: { c: 7 } },
      inherited: { constructor: { x: 1 } },
      constructor: { prototype: { polluted: 2 } },
    }
    t.equal(await get(), JSON.stringify(whole))
    t.equal(({} as { polluted?: number }).polluted, undefined)
    for (const path of ['bigint', 'circle', 'later', 'a.r.beneath']) {
      t.equal(station.lines.filter(({ msg }) => msg.startsWith(`block ${path}: `)).length, 1, path)
    }
    tapped = true
    for (let n = 0; n < 5; n++) {
      await station.clock.advance(100)
      t.equal(await get(), JSON.stringify(whole))
    }
    const told = () => station.lines.filter(({ msg }) => msg.startsWith('a tap on onInfoBuild left')).length
    t.equal(told(), 1, 'not with every document')
    await station.clock.advance(60_000)
    await get()
    t.equal(told(), 2)
  })

  t.test(
    'static parts are built once until changed(); the text is reused for 100 ms and dropped by any change',
    async (t) => {
      let built = 0
      let version = 1
      let block: { changed(): void } | undefined
      const cached = plugin('cached', (ctx) => {
        block = ctx.info.block('cached', {
          static: () => {
            built += 1
            return { version, list: [{ version }] }
          },
          runtime: () => ({ now: ctx.clock.monotonic() }),
        })
      })
      const station = await stationWith(t, { cached })
      const text = station.station.documentText()
      await station.clock.advance(99)
      t.equal(station.station.documentText(), text)
      await station.clock.advance(1)
      t.not(station.station.documentText(), text)
      t.equal(built, 1)
      // Who edits a document edits that one.
      ;(station.station.document().cached as { list: unknown[] }).list.push('more')
      t.same(station.station.document().cached, { version: 1, list: [{ version: 1 }], now: station.clock.monotonic() })
      version = 2
      block?.changed()
      t.match(station.station.document(), { cached: { version: 2 } })
      t.equal(built, 2)
    },
  )

  t.test('a fallback stands in for fields that nobody else builds, whatever the order of the plugins', async (t) => {
    const standIn = plugin('stand-in', (ctx) => {
      ctx.info.block('x', { fallback: { runtime: () => ({ y: 0, z: { k: 0, l: 0 } }), config: () => ({ set: 1 }) } })
    })
    const owner = plugin('owner', (ctx) => void ctx.info.block('x.z', () => ({ k: 5 })))
    for (const plugins of [
      { standIn, owner },
      { owner, standIn },
    ]) {
      const station = await stationWith(t, plugins)
      t.same(station.station.document().x, { z: { k: 5, l: 0 }, y: 0, set: 1 })
      t.same(station.station.document(0x002).x, { z: { k: 5, l: 0 }, y: 0 }, 'runtime parts only')
      t.notOk(station.lines.some(({ msg }) => msg.includes('another owner')))
    }
  })

  t.test('a field has one owner: the second is named, the first stays', async (t) => {
    const one = plugin('one', (ctx) => void ctx.info.block('x', () => ({ y: 1, z: { k: 1 } })))
    const two = plugin('two', (ctx) => void ctx.info.block('x.y', () => 2))
    const station = await stationWith(t, { one, two })
    t.match(station.station.document(), { x: { y: 1, z: { k: 1 } } })
    t.ok(station.lines.some(({ msg, plugin }) => plugin === 'two' && msg.includes('field y has another owner')))
  })
})

t.test('commands', async (t) => {
  const calls: unknown[] = []
  const ends: (() => void)[] = []
  const commander = plugin('commander', (ctx) => {
    ctx.action({
      name: 'log',
      summary: 'sets the log level',
      input: { level: Type.Union([...'newid'].map((level) => Type.Literal(level))) },
      usage: 'log=n, e, w, i, d',
      run({ input }) {
        calls.push(input.level)
        return `level ${input.level}`
      },
    })
    ctx.action({
      name: 'busy',
      summary: 'is busy',
      run() {
        throw unavailable('a scan is running')
      },
    })
    ctx.action({
      name: 'broken',
      summary: 'fails',
      run() {
        throw new Error('secret detail')
      },
    })
    for (const name of ['firmware', 'ota-upgrade'])
      ctx.action({
        name,
        summary: 'updates',
        input: { url: Type.String() },
        run: ({ input }) => `${name} ${input.url}`,
      })
    ctx.action({ name: 'wordless', summary: 'forgets its answer', run: (() => {}) as never })
    ctx.action({ name: 'reboot', summary: 'restarts', run: () => 'never reached' })
    ctx.action({ name: 'plain', summary: 'takes no value', run: () => 'done' })
    ctx.action({
      name: 'mode',
      summary: 'takes one of three',
      input: { mode: Type.Union([Type.Literal('0'), Type.Literal('1'), Type.Literal('auto')]) },
      run: ({ input }) => input.mode,
    })
    ctx.action({
      name: 'login',
      summary: 'has a secret',
      input: { login: Type.String({ writeOnly: true }) },
      run: ({ input }) => `${input.login.length} characters`,
    })
    ctx.action({
      name: 'survey',
      summary: 'has several fields',
      input: {
        mintime_s: Type.Integer({ minimum: 1 }),
        accuracy_m: Type.Optional(Type.Number()),
        token: Type.Optional(Type.String({ writeOnly: true, maxLength: 8 })),
      },
      run: ({ input }) => ({ text: `for ${input.mintime_s} s`, value: { until: input.mintime_s } }),
    })
    ctx.action({ name: 'reader', summary: 'only reads', reads: true, run: () => 'read' })
    ctx.action({
      name: 'slow',
      summary: 'takes its time',
      run: () =>
        new Promise<string>((resolve) => {
          ends.push(() => resolve('done'))
        }),
    })
    ctx.hooks.onSystemCommand.tap(({ name }) => (name === 'reboot' ? 'refused during an update' : undefined))
  })
  const station = await stationWith(t, { commander })
  const post = (query: string) => station.request(`/system?${query}`, { method: 'POST' })

  t.test('every spelling is the same command', async (t) => {
    for (const query of ['log=d', 'cmd=log=d', 'cmd=log%3Dd', 'log%3Dd']) {
      const { status, text, headers } = await post(query)
      t.match({ status, text }, { status: 200, text: 'level d\n' }, query)
      t.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
    }
    for (const source of ['mqtt', 'console'] as const) {
      for (const text of ['log=d', 'cmd=log=d'])
        t.match(await station.station.command(text, { source }), { status: 200, text: 'level d' }, source)
      for (const text of ['cmd', 'cmd=', 'cmd=cmd=log=d', 'cmd=nothing'])
        t.match(await station.station.command(text, { source }), { status: /400|404/ }, `${source} ${text}`)
    }
    t.equal((await post('busy=')).status, 503, 'a form-like trailing equals sign is no value')
  })

  t.test('a command that takes no value rejects one, on every surface', async (t) => {
    for (const query of ['plain=1', 'cmd=plain=1', 'cmd=plain%3D0']) {
      t.match(await post(query), { status: 400, text: 'plain takes no value\n' }, query)
    }
    const { command } = station.station
    for (const source of ['mqtt', 'console'] as const) {
      const answer = await command('plain=1', { source })
      t.strictSame(answer, { status: 400, text: 'plain takes no value\n', shown: 'plain' }, source)
      t.match(await command('plain=', { source }), { status: 200 }, source)
    }
    for (const query of ['plain', 'plain=', 'cmd=plain']) t.match(await post(query), { status: 200 }, query)
  })

  t.test('the URL of an update arrives as it was written', async (t) => {
    const url = 'https://updates.example/i.bin?X-Sig=a%2Fb%2Bc+d%zz&e=f=='
    for (const name of ['firmware', 'ota-upgrade']) {
      for (const query of [`${name}=${url}`, `cmd=${name}=${url}`]) {
        t.match(await post(query), { status: 200, text: `${name} ${url}\n` }, query)
      }
      const encoded = await post(`cmd=${encodeURIComponent(`${name}=${url}`)}`)
      t.match(encoded, { status: 200, text: `${name} ${url}\n` }, 'encoded as a whole it is decoded once')
      t.equal((await post(`${name}=`)).status, 400)
    }
    t.match(await post('log=d%20'), { status: 400, text: /log=n/ }, 'other values are form-decoded')
  })

  t.test('every answer is text, and a body is read and thrown away', async (t) => {
    const bodies = ['', 'no json', '{"a":', '[1]', '\0\u00ff', `${'['.repeat(60_000)}`]
    for (const body of bodies) {
      for (const type of ['application/json', 'application/x-www-form-urlencoded', 'image/png', 'garbage']) {
        const answer = await station.request('/system?log=d', {
          method: 'POST',
          body,
          headers: { 'content-type': type },
        })
        t.match(answer, { status: 200, text: 'level d\n' }, `${type} ${body.slice(0, 10)}`)
      }
    }
    const large = await station.request('/system?log=d', { method: 'POST', body: 'x'.repeat(70_000) })
    t.match(large, { status: 413, text: /^the body is larger than 65536 bytes\n$/ })
    for (const answer of [
      large,
      await post(''),
      await post('='),
      await post('cmd='),
      await post('%E0%A4'),
      await post('rebot'),
      await post('broken'),
      await post('busy'),
    ]) {
      t.ok(answer.status >= 400)
      t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8', answer.text)
      t.match(answer.text, /^[^{].*\n$/)
    }
    t.match(await post(''), { status: 400, text: 'send a command: POST /system?<command>\n' })
  })

  t.test('a command of a plugin that is here is not said to be elsewhere', async (t) => {
    const modem = plugin('modem', () => {})
    const home = await stationWith(t, {
      modem,
      log: { ...plugin('log', () => {}), start: () => Promise.reject(new Error('no')) },
    })
    const ask = async (name: string) => home.request(`/system?${name}`, { method: 'POST' })
    t.match(await ask('mobile-scan'), {
      status: 404,
      text: 'mobile-scan belongs to plugin modem, which runs here, but its version does not have this command\n',
    })
    t.match(await ask('logsavenvs'), { status: 503, text: 'logsavenvs belongs to plugin log, which is failed\n' })
    t.match(await ask('restart-wap'), {
      status: 404,
      text: 'restart-wap belongs to plugin wap, which this station does not run\n',
    })
  })

  t.test('unknown, misspelt, elsewhere, bad value, not now, failed: each has its own answer', async (t) => {
    t.match(await post('rebot'), {
      status: 404,
      text: /^unknown command "rebot" \(did you mean "reboot"\?\); every command/,
    })
    t.match(await post('xyzzy'), {
      status: 404,
      text: 'unknown command "xyzzy"; every command: GET /actions, or help in the console\n',
    })
    t.match(await post('mobile-scan'), { status: 404, text: /belongs to plugin modem/ })
    t.match(await post('log=q'), { status: 400, text: /log=n/ })
    t.match(await post('busy'), { status: 503, text: /a scan is running/ })
    t.match(await post('broken'), { status: 500 })
    t.match(await post(''), { status: 400 })
    t.match(await post('%E0%A4'), { status: 400 })
    for (const name of ['__proto__', 'constructor']) {
      t.match(await post(name), { status: 404, text: /^unknown command/ }, name)
    }
    t.match(await post('wordless'), { status: 500, text: 'commander: command wordless returned no text\n' })
    const long = (length: number) => station.station.command(`log=${'d'.repeat(length - 4)}`, { source: 'console' })
    t.match(await long(4_097), { status: 400, text: 'a command has at most 4096 characters\n' })
    t.match(await long(4_096), { status: 400, text: 'log=n, e, w, i, d\n' })
  })

  t.test('a command that runs into its limit is aborted', async (t) => {
    let aborted = false
    const station = await stationWith(t, {
      slow: plugin('slow', (ctx) => {
        ctx.action({
          name: 'dig',
          summary: 'digs',
          run: ({ signal }) => {
            signal.addEventListener('abort', () => {
              aborted = true
            })
            return new Promise<string>(() => {})
          },
        })
      }),
    })
    const answer = station.station.command('dig', { source: 'http' })
    await station.clock.advance(30_000)
    t.match(await answer, { status: 504, text: /slow: command dig took longer than 30 s/ })
    t.ok(aborted)
  })

  t.test('names and defaults that could never be used are refused', async (t) => {
    const bad: Record<string, (ctx: PluginContext) => void> = {
      'a default that its own schema refuses': (ctx) =>
        void ctx.config.define('port', Type.Integer({ maximum: 9 }), { default: 10 }),
      'an underscore in a parameter': (ctx) => void ctx.config.define('udp_port', Type.Integer(), { default: 1 }),
      'an underscore in a command': (ctx) => ctx.action({ name: 'look_up', summary: 'looks', run: () => '' }),
      'a listener for a foreign parameter': (ctx) => ctx.config.onChange(['mqtt-host'], () => {}),
    }
    for (const [what, setup] of Object.entries(bad)) {
      const station = await stationWith(t, { bad: plugin('bad', setup) })
      t.match(station.station.plugins()[1], { state: 'failed', reason: /setup threw: .*registry.test/ }, what)
    }
  })

  t.test('a tap may answer before the owner, from whatever surface', async (t) => {
    t.match(await post('reboot'), { status: 200, text: 'refused during an update\n' })
    t.strictSame((await act('reboot')).json(), { text: 'refused during an update' })
  })

  const act = (name: string, input?: unknown) =>
    station.request(`/actions/${name}`, { method: 'POST', ...(input !== undefined && { body: JSON.stringify(input) }) })

  t.test('POST /actions/NAME: an input by schema, nothing coerced, and a value for programs', async (t) => {
    t.strictSame((await act('survey', { mintime_s: 60, token: 'abc' })).json(), {
      text: 'for 60 s',
      value: { until: 60 },
    })
    for (const given of [undefined, {}]) t.strictSame((await act('plain', given)).json(), { text: 'done' })
    for (const [input, errors] of [
      [{}, [{ name: 'mintime_s', message: 'is missing' }]],
      [{ mintime_s: '60' }, [{ name: 'mintime_s', message: 'must be integer, not "60"' }]],
      [
        { mintime_s: 0, accuracy: 1 },
        [
          { name: 'accuracy', message: 'unknown field (did you mean "accuracy_m"?)' },
          { name: 'mintime_s', message: 'must be >= 1, not 0' },
        ],
      ],
      [[], [{ name: '', message: 'must be object' }]],
      [{ mintime_s: 1, token: 'far-too-long' }, [{ name: 'token', message: 'must not have more than 8 characters' }]],
    ] as const) {
      const { status, json } = await act('survey', input)
      t.equal(status, 400)
      t.strictSame(json(), { errors }, JSON.stringify(input))
    }
    t.match(await act('survy'), { status: 404, text: /did you mean \\"survey\\"/ })
    const busy = await act('busy')
    t.match(busy, { status: 503, text: /a scan is running/ })
    t.ok(Number(busy.headers.get('retry-after')) > 0, 'when to try again')
    t.match(await act('broken'), { status: 500 })
  })

  t.test('an action with several fields is no command of one line', async (t) => {
    t.match(await post('survey=60'), {
      status: 400,
      text: 'survey takes several fields: send them as JSON to POST /actions/survey\n',
    })
  })

  t.test('a value of a few words is refused with them', async (t) => {
    t.match(await post('mode=2'), { status: 400, text: "mode is 0, 1 or auto, not '2'\n" })
    t.match(await post('mode'), { status: 400, text: "mode is 0, 1 or auto, not ''\n" })
    t.match(await post('mode=auto'), { status: 200, text: 'auto\n' })
    t.match(await post('firmware'), { status: 400, text: 'firmware=<url>\n' })
  })

  t.test('S6: a secret value travels in the body, and is in no line of the log', async (t) => {
    const text = { 'content-type': 'text/plain' }
    const send = (body: string) => station.request('/system?login', { method: 'POST', body, headers: text })
    t.match(await send('bob:geheim\n'), { status: 200, text: '10 characters\n' })
    t.match(await send(''), { status: 400, text: 'login=<login>\n' })
    t.match(await send('x'.repeat(4_097)), { status: 400, text: /at most 4096 bytes/ })
    t.match(await post('login=bob:geheim'), {
      status: 400,
      text: 'the value of login is secret: send it as the text/plain body of POST /system?login\n',
    })
    for (const source of ['mqtt', 'console'] as const)
      t.strictSame(await station.station.command('login=bob:geheim', { source }), {
        ...{ status: 200, text: '10 characters', shown: 'login' },
      })
    t.match(await act('login', { login: 'geheim' }), { status: 200 })
    t.match(await station.station.command('firmware=https://bob:geheim@x/y?key=geheim', { source: 'mqtt' }), {
      shown: 'firmware=https://…@x/y?…',
    })
    t.notMatch(JSON.stringify(station.lines), /geheim/)
  })

  t.test('an action that runs is not started a second time, and keeps running without its client', async (t) => {
    const gone = new AbortController()
    const first = station.request('/actions/slow', { method: 'POST', signal: gone.signal })
    await until(() => ends.length === 1, 'the action')
    gone.abort()
    await first.catch(() => {})
    t.match(await act('slow'), { status: 409, text: /slow is running/ })
    t.match(await act('reader'), { status: 200 })
    ends[0]?.()
    const again = act('slow')
    await until(() => ends.length === 2, 'the next one')
    ends[1]?.()
    t.strictSame((await again).json(), { text: 'done' })
  })

  t.test('a viewer sees and runs what only reads', async (t) => {
    const tokens = { viewerToken: 'the-viewer-token', token: 'the-operator-token' }
    const login = await stationWith(t, { commander }, { variant: { http: { host: '127.0.0.1', port: 0, ...tokens } } })
    const as = (token: string, path: string, method: string) =>
      login.request(path, { method, headers: { authorization: `Bearer ${token}` } })
    const names = async (token: string) =>
      ((await as(token, '/actions', 'GET')).json() as { name: string }[]).map(({ name }) => name)
    t.strictSame(await names(tokens.viewerToken), ['reader'])
    t.ok((await names(tokens.token)).includes('survey'))
    t.match(await as(tokens.viewerToken, '/actions/reader', 'POST'), { status: 200 })
    for (const name of ['plain', 'nothing'])
      t.equal((await as(tokens.viewerToken, `/actions/${name}`, 'POST')).status, 403)
    t.match(await as(tokens.token, '/actions/plain', 'POST'), { status: 200 })
    t.equal((await login.request('/actions/reader', { method: 'POST' })).status, 401)
  })
})

t.test('/nvs', async (t) => {
  const { station, change } = await settings(t)
  const post = (query: string, body: unknown) =>
    station.request(`/nvs${query}`, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  const get = (query: string) => station.request(`/nvs${query}`)

  t.test('keeps what is written, per namespace, and lists the namespaces', async (t) => {
    t.match((await post('?namespace=site', { name: 'Roof 3', height: 12.5 })).json(), { result: 'ok', written: 2 })
    t.match((await post('', { a: 1 })).json(), { result: 'ok', written: 1 })
    t.strictSame((await get('?namespace=site')).json(), { name: 'Roof 3', height: 12.5 })
    t.strictSame((await get('?namespace=nothing')).json(), {})
    t.strictSame((await get('')).json(), { namespaces: ['site', 'user'] })
  })

  t.test('refuses what is not allowed and writes nothing of it', async (t) => {
    for (const body of [
      [1],
      'no json',
      { a: null },
      { a: { b: 1 } },
      { a: true },
      { '': 1 },
      { ['k'.repeat(65)]: 1 },
      { 'a\n': 1 },
      { ok: 1, a: 'x'.repeat(4_001) },
      { namespace: 'site', a: 1 },
    ]) {
      t.equal((await post('?namespace=strict', body)).status, 400, JSON.stringify(body).slice(0, 40))
    }
    t.strictSame((await get('?namespace=strict')).json(), {})
    t.equal((await post('?namespace=a%2Fb', {})).status, 400)
    t.equal((await get('?namespace=a&namespace=b')).status, 400)
  })

  t.test('the service’s own namespaces are read-only and without secrets, the protected one is closed', async (t) => {
    await change({ 'udp-port': 2200, 'wifi-pswd': 'top secret' })
    const config = (await get('?namespace=config')).json() as Record<string, unknown>
    t.equal(config['udp-port'], 2200)
    t.notOk('wifi-pswd' in config)
    await station.store.batch([
      { namespace: 'plugin.udp', key: 'peers', value: [{ ip: '10.0.0.1' }] },
      { namespace: 'plugin.udp', key: 'count', value: 3 },
      { namespace: 'config', key: 'flag', value: { nested: true } },
    ])
    t.strictSame((await get('?namespace=udp')).json(), { count: 3 }, 'scalars only')
    t.strictSame((await get('?namespace=config')).json(), config)
    t.match(await post('?namespace=config', { 'udp-port': 1 }), { status: 403, text: /POST \/change/ })
    t.equal((await post('?namespace=udp', { a: 1 })).status, 403)
    for (const name of ['protected', 'protected.kernel']) {
      t.equal((await get(`?namespace=${name}`)).status, 403)
      t.equal((await post(`?namespace=${name}`, { a: 1 })).status, 403)
    }
    t.notOk(
      station.lines.some((line) => JSON.stringify(line).includes('top secret')),
      'a secret is in no log line',
    )
  })

  t.test('is bounded in namespaces and bytes', async (t) => {
    const value = 'x'.repeat(4_000)
    const block = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`k${i}`, value]))
    let status = 200
    for (let i = 0; i < 6 && status === 200; i++) ({ status } = await post(`?namespace=big${i}`, block))
    t.equal(status, 413)
    for (let i = 0; i < 64 && status !== 414; i++) {
      const answer = await post(`?namespace=n${i}`, { a: 1 })
      if (answer.status === 413 && answer.text.includes('namespaces already')) status = 414
    }
    t.equal(status, 414)
  })
})

t.test('C11: an argument at the wrong place is told when the plugin is loaded', async (t) => {
  type Anything = { [name: string]: (...given: unknown[]) => unknown }
  const call = (fn: unknown, ...given: unknown[]) => (fn as (...given: unknown[]) => unknown)(...given)
  const actionWith = (options: object) => (ctx: Record<string, Anything>) =>
    call(ctx.action, { name: 'go', summary: 'goes', run: () => '', ...options })
  const parameterWith = (options: object) => (ctx: Record<string, Anything>) =>
    ctx.config?.define?.('key', Type.String(), { default: '', ...options })
  const gauge = { name: 'x', help: 'Some figure' }
  const door = { name: 'a', host: '127.0.0.1', port: 0 }
  const wrong: [what: RegExp, register: (ctx: Record<string, Anything>) => unknown][] = [
    [/action is an object, not string/, (ctx) => call(ctx.action, 'go')],
    [/command go: its summary is a string, not function/, actionWith({ summary: () => 'goes' })],
    [/command go: its function is a function, not object/, actionWith({ run: {} })],
    [/rule of key: its function is a function, not undefined/, ({ config }) => config?.rule?.(['key'])],
    [/rule: its parameters is a list of strings, not string/, ({ config }) => config?.rule?.('key', () => {})],
    [/command go: the schema of far is an object, not string/, actionWith({ input: { far: 'number' } })],
    [/parameter "a b": a name has letters/, actionWith({ parameter: 'a b' })],
    [/parameter key: its options is an object, not undefined/, ({ config }) => config?.define?.('key', Type.Integer())],
    [/topic: its function is a function, not undefined/, ({ mqtt }) => mqtt?.on?.('base/{SN}/x')],
    [/timer: its time is a number, not function/, ({ timers }) => timers?.after?.(() => {}, 5)],
    [/block b: what builds it is an object, not string/, ({ info }) => info?.block?.('b', 'c')],
    [/block b: its static is a function, not object/, ({ info }) => info?.block?.('b', { static: { a: 1 } })],
    [
      /block b: its detail: its config is a function, not string/,
      ({ info }) => info?.block?.('b', { detail: { config: 'c' } }),
    ],
    [/topic: its name is a string, not undefined/, ({ mqtt }) => mqtt?.on?.(undefined, () => {})],
    [/description of a topic is an object, not string/, ({ mqtt }) => mqtt?.describe?.('base/{SN}/x')],
    [/banner page: its text is a function, not string/, (ctx) => call(ctx.banner, 'page', '{http}/page')],
    [/defer: its function is a function, not undefined/, (ctx) => call(ctx.defer)],
    [/listener: its function is a function, not undefined/, (ctx) => call(ctx.on, () => () => {})],
    [/command go: its caution is a string, not boolean/, actionWith({ caution: true })],
    [/command go: its reads is true or false, not string/, actionWith({ reads: 'no' })],
    [/command go has no cautoin \(did you mean "caution"\?\)/, actionWith({ cautoin: 'Careful' })],
    [/parameter: its name is a string, not undefined/, ({ config }) => config?.define?.(undefined, Type.Integer(), {})],
    [/parameter key: its boundTo is a list of strings, not string/, parameterWith({ boundTo: 'host' })],
    [/parameter key has no secrt \(did you mean "secret"\?\)/, parameterWith({ secrt: true })],
    [/parameter key: its trial is an object, not boolean/, parameterWith({ trial: true })],
    [/parameter key: its trial.reaches is a function, not undefined/, parameterWith({ trial: {} })],
    [
      /tap on onChange: its stage is a number, not string/,
      ({ hooks }) => call(Object(hooks?.onChange).tap, () => {}, { stage: 'late' }),
    ],
    [
      /route \/a: its role is viewer or operator, not "admin"/,
      ({ http }) => http?.route?.({ method: 'GET', url: '/a', config: { role: 'admin' }, handler: async () => '' }),
    ],
    [/topic "a\/#\/b": \+ is a whole level/, ({ mqtt }) => mqtt?.on?.('a/#/b', () => {})],
    [/description of a topic: its address is a string, not undefined/, ({ mqtt }) => mqtt?.describe?.({})],
    [
      /description of a: it is from station or client, not "me"/,
      ({ mqtt }) => mqtt?.describe?.({ address: 'a', summary: 'b', from: 'me' }),
    ],
    [/block b has no runtme \(did you mean "runtime"\?\)/, ({ info }) => info?.block?.('b', { runtme: () => ({}) })],
    [/block b: its detail is an object, not function/, ({ info }) => info?.block?.('b', { detail: () => ({}) })],
    [/metric "x": its labels and its zeros are lists/, ({ metrics }) => metrics?.gauge?.({ ...gauge, labels: 'a' })],
    [/metric "x": its collect is a function/, ({ metrics }) => metrics?.gauge?.({ ...gauge, collect: 5 })],
    [/metric "x": its name and its help are strings/, ({ metrics }) => metrics?.gauge?.({ name: 'x' })],
    [/provided service is named by its token .*, not "radar"/, ({ services }) => services?.provide?.('radar', {})],
    [/timer: its time is a number, not NaN/, ({ timers }) => timers?.every?.(Number.NaN, () => {})],
  ]
  const atStart: [what: RegExp, register: (ctx: Record<string, Anything>) => unknown][] = [
    [/watch of radar: its function is a function, not undefined/, ({ services }) => services?.watch?.({ id: 'radar' })],
    [/watched service is named by its token .*, not "radar"/, ({ services }) => services?.watch?.('radar', () => {})],
    [/service is named by its token .*, not undefined/, ({ services }) => services?.find?.()],
    [/listener: its options is an object, not undefined/, ({ net }) => net?.listen?.()],
    [
      /listener: its name is a string, not undefined/,
      ({ net }) => net?.listen?.({ ...door, name: undefined }, () => {}),
    ],
    [/listener a: its function is a function, not undefined/, ({ net }) => net?.listen?.(door)],
    [/listener a: its host is a string, not undefined/, ({ net }) => net?.listen?.({ name: 'a', port: 0 }, () => {})],
    [/listener a: its port is a number, not string/, ({ net }) => net?.listen?.({ ...door, port: '0' }, () => {})],
    [/listener a: its port is 0 to 65535, not 99999/, ({ net }) => net?.listen?.({ ...door, port: 99_999 }, () => {})],
    [
      /listener a: its port is 0 to 65535, not undefined/,
      ({ net }) => net?.listen?.({ name: 'a', host: '::' }, () => {}),
    ],
    [/listener a: its tls is an object, not boolean/, ({ net }) => net?.listen?.({ ...door, tls: true }, () => {})],
  ]
  for (const [what, register] of [...wrong, ...atStart]) {
    const now = (ctx: PluginContext) => void register(ctx as never)
    const setup = wrong.some(([one]) => one === what) ? now : () => {}
    const definition = definePlugin({
      name: 'wrong',
      version: '1.0.0',
      api: '^1.0.0',
      setup,
      start: setup === now ? () => {} : now,
    })
    const station = await stationWith(t, { wrong: definition })
    t.match(
      station.station.plugins().find(({ name }) => name === 'wrong'),
      { state: 'failed', reason: what },
    )
  }
})

t.test('a plugin of third parties is behind the access rules without knowing them', async (t) => {
  const third = plugin('third', (ctx) => ctx.http.route({ method: 'POST', url: '/third', handler: async () => 'done' }))
  const station = await stationWith(t, { third })
  t.equal((await station.request('/third', { method: 'POST' })).status, 200)
  t.equal(
    (await station.request('/third', { method: 'POST', headers: { origin: 'https://evil.example' } })).status,
    403,
  )
  t.equal((await station.request('/third', { method: 'POST', headers: { origin: 'null' } })).status, 403)
})
