import t from 'tap'
import { Type } from 'typebox'
import httpApi from '../../plugins/page/http-api/index.js'
import {
  type AnyPlugin,
  definePlugin,
  defineService,
  type PluginContext,
  type PluginDefinition,
} from '../../runtime/plugin.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'

type Definition = AnyPlugin
const number = defineService<{ value: number }>('number')
const sum = defineService<{ value: number }>('sum')

/** A plugin from the few parts that a test is about. */
function plugin(name: string, parts: Partial<PluginDefinition> = {}): Definition {
  return definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup: () => {}, ...parts })
}

t.test('states and order', async (t) => {
  t.test('a plugin that misses its needs waits, and starts when the provider comes', async (t) => {
    const consumer = plugin('consumer', {
      needs: [number],
      setup: (ctx) => ctx.info.block('consumer', () => ({ value: ctx.services.use(number).value })),
    })
    const station = await createTestStation({ plugins: { consumer } })
    t.teardown(() => station.stop())
    t.match(station.station.plugins(), [
      { name: 'consumer', state: 'waiting', reason: 'needs number (no known plugin provides it)' },
    ])
    t.equal(station.field('consumer'), undefined)
  })

  t.test(
    'providers start first, whatever the order in the variant; dependents restart with their provider',
    async (t) => {
      const order: string[] = []
      const consumer = plugin('consumer', {
        needs: [number],
        provides: [sum],
        setup: () => {},
        start: (ctx) => {
          order.push('consumer')
          ctx.services.provide(sum, { value: ctx.services.use(number).value + 1 })
        },
        stop: () => void order.push('consumer stops'),
      })
      const last = plugin('last', {
        needs: [sum],
        start: (ctx) => void order.push(`last ${ctx.services.use(sum).value}`),
        stop: () => void order.push('last stops'),
      })
      const provider = plugin('provider', {
        provides: [number],
        setup: (ctx) => ctx.services.provide(number, { value: 1 }),
        start: () => void order.push('provider'),
        stop: () => void order.push('provider stops'),
      })
      const station = await createTestStation({ plugins: { last, consumer, provider } })
      t.teardown(() => station.stop())
      t.strictSame(order, ['provider', 'consumer', 'last 2'])
      order.length = 0
      station.define(
        'provider',
        plugin('provider', {
          provides: [number],
          setup: (ctx) => ctx.services.provide(number, { value: 41 }),
          start: () => void order.push('provider'),
        }),
      )
      await station.reload('provider')
      t.strictSame(order, ['last stops', 'consumer stops', 'provider stops', 'provider', 'consumer', 'last 42'])
    },
  )

  t.test(
    'who provides something else than the token says is refused and named, and the one before it stays',
    async (t) => {
      interface Lamp {
        readonly lit: boolean
        readonly colour?: string
        toggle(): void
      }
      const lamp = defineService<Lamp>('lamp', { shape: { lit: 'value', toggle: 'function' } })
      let isLookedAt = false
      const whole = {
        get lit() {
          isLookedAt = true
          return true
        },
        toggle: () => {},
      }
      const provider = (value: unknown) =>
        plugin('provider', { provides: [lamp], setup: (ctx) => ctx.services.provide(lamp, value as Lamp) })
      const user = plugin('user', { needs: [lamp] })
      const misfits: [value: unknown, what: RegExp][] = [
        [{ lit: true }, /lacks toggle/],
        [{ toggle: () => {} }, /lacks lit/],
        [{ lit: true, toggle: 5 }, /has toggle, which is not a function/],
        [{}, /lacks lit, lacks toggle/],
        [null, /is null, not an object/],
        [5, /is number, not an object/],
      ]
      for (const [value, what] of misfits) {
        const station = await createTestStation({ plugins: { provider: provider(value), user } })
        t.teardown(() => station.stop())
        const [failed, waiting] = station.station.plugins()
        t.match(failed, { name: 'provider', state: 'failed', reason: what })
        t.match(failed?.reason, /provider provides lamp 1\.0\.0/)
        t.match(waiting, { name: 'user', state: 'waiting' })
      }
      const station = await createTestStation({ plugins: { provider: provider(whole), user } })
      t.teardown(() => station.stop())
      t.notOk(isLookedAt, 'a getter may have nothing to say before the start')
      station.define('provider', provider({ lit: true }))
      await t.rejects(station.reload('provider'), { code: 'RTK_ERR_SERVICE_SHAPE' })
      t.same(
        station.station.plugins().map(({ state }) => state),
        ['running', 'running'],
      )
    },
  )

  t.test('another major version of a service is another service', async (t) => {
    const first = defineService<{ value: number }>('number', { version: '1.4.0' })
    const second = defineService<{ value: number }>('number', { version: '2.0.0' })
    const provider = plugin('provider', {
      provides: [first],
      setup: (ctx) => ctx.services.provide(first, { value: 1 }),
    })
    const station = await createTestStation({
      plugins: { provider, user: plugin('user', { needs: [number] }), later: plugin('later', { needs: [second] }) },
    })
    t.teardown(() => station.stop())
    t.match(station.station.plugins(), [
      { name: 'provider', state: 'running' },
      { name: 'user', state: 'running' },
      { name: 'later', state: 'waiting', reason: /^needs number@2 / },
    ])
  })

  t.test('those that need a plugin stop before it, also when the station stops', async (t) => {
    const order: string[] = []
    const provider = plugin('provider', {
      provides: [number],
      setup: (ctx) => ctx.services.provide(number, { value: 1 }),
      stop: (reason) => void order.push(`provider: ${reason}`),
    })
    const consumer = plugin('consumer', {
      needs: [number],
      stop: (reason) => void order.push(`consumer: ${reason}`),
    })
    const stopping = await createTestStation({ plugins: { provider, consumer } })
    await stopping.stop()
    t.strictSame(order.splice(0), ['consumer: shutdown', 'provider: shutdown'])

    const station = await createTestStation({ plugins: { provider, consumer } })
    t.teardown(() => station.stop())
    await station.unload('provider')
    t.strictSame(order, ['consumer: reload', 'provider: remove'])
    t.match(station.station.plugins(), [{ name: 'consumer', state: 'waiting', reason: /^needs number / }])
  })

  t.test('A needs B needs A: both are refused with the circle, the others run', async (t) => {
    const a = plugin('a', { needs: [sum], provides: [number] })
    const b = plugin('b', { needs: [number], provides: [sum] })
    const station = await createTestStation({ plugins: { a, b, other: plugin('other') } })
    t.teardown(() => station.stop())
    const [first, second, other] = station.station.plugins()
    t.match(first, { state: 'failed', reason: /circle: a → b → a/ })
    t.match(second, { state: 'failed' })
    t.match(other, { state: 'running' })
  })

  t.test('the variant may set a parameter of a plugin that waits, and none that nobody has', async (t) => {
    const consumer = plugin('consumer', {
      needs: [number],
      setup: (ctx) => void ctx.config.define('later', { type: 'integer' } as never, { default: 0 as never }),
    })
    const start = (name: string) =>
      createTestStation({ plugins: { consumer }, variant: { changes: { [name]: 5 } as never } })
    const station = await start('later')
    t.teardown(() => station.stop())
    t.match(station.station.plugins(), [{ name: 'consumer', state: 'waiting' }])
    await t.rejects(start('latter'), { code: 'RTK_ERR_VARIANT', message: /changes\.latter .*later/ })
  })

  t.test('provider flips A → B → A end in the right state', async (t) => {
    let current = 'A'
    const provider = plugin('provider', {
      provides: [number],
      setup: (ctx) => ctx.services.provide(number, { value: current === 'A' ? 1 : 2 }),
    })
    const seen: number[] = []
    const consumer = plugin('consumer', {
      needs: [number],
      start: (ctx) => void seen.push(ctx.services.use(number).value),
    })
    const station = await createTestStation({ plugins: { provider, consumer } })
    t.teardown(() => station.stop())
    current = 'B'
    const toB = station.reload('provider')
    await Promise.resolve()
    const toA = toB.then(() => {
      current = 'A'
      return station.reload('provider')
    })
    await Promise.all([toB, toA])
    t.strictSame(seen, [1, 2, 1])
    t.ok(station.station.plugins().every(({ state }) => state === 'running'))
  })
})

t.test('one operation at a time: the next begins when the one before is through', async (t) => {
  const order: string[] = []
  const step = async (what: string) => {
    order.push(`${what} …`)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(what)
  }
  const slow = (name: string) =>
    plugin(name, { start: () => step(`${name} starts`), stop: () => step(`${name} stops`) })
  const station = await createTestStation({ plugins: { a: slow('a'), b: slow('b') } })
  t.teardown(() => station.stop())
  order.length = 0
  await Promise.all([station.reload('a'), station.reload('b'), station.unload('a')])
  const whole = ['a stops', 'a starts', 'b stops', 'b starts', 'a stops'].flatMap((what) => [`${what} …`, what])
  t.strictSame(order, whole)
})

t.test('staged replace', async (t) => {
  const good = {
    version: '1.0.0',
    setup: (ctx: PluginContext) => {
      ctx.info.block('mine', () => ({ version: 1 }))
      ctx.action({ name: 'mine', summary: 'answers', run: () => 'one' })
      ctx.http.route({ method: 'GET', url: '/mine', handler: async () => ({ version: 1 }) })
    },
    start: undefined,
    stop: undefined,
  }
  for (const [what, bad] of [
    [
      'a throwing setup',
      {
        setup: () => {
          throw new Error('no')
        },
      },
    ],
    ['a block path that is none', { setup: (ctx: PluginContext) => void ctx.info.block('__proto__.x', () => 1) }],
    [
      'a command that nobody can call',
      { setup: (ctx: PluginContext) => ctx.action({ name: 'a=b', summary: '', run: () => '' }) },
    ],
    ['an asynchronous setup', { setup: async () => Promise.reject(new Error('no')) }],
    [
      'a rejecting start',
      {
        start: async () => {
          throw new Error('no')
        },
      },
    ],
    [
      'a conflict with another plugin',
      { setup: (ctx: PluginContext) => ctx.action({ name: 'theirs', summary: '', run: () => '' }) },
    ],
    [
      'a route that another plugin has',
      { setup: (ctx: PluginContext) => ctx.http.route({ method: 'GET', url: '/theirs', handler: async () => 'x' }) },
    ],
    ['a promised service that does not come', { provides: [sum] }],
  ] as [string, Partial<PluginDefinition>][]) {
    t.test(`${what} leaves the old version serving`, async (t) => {
      const theirs = plugin('theirs', {
        setup: (ctx) => {
          ctx.action({ name: 'theirs', summary: '', run: () => 'theirs' })
          ctx.http.route({ method: 'GET', url: '/theirs', handler: async () => 'theirs' })
        },
      })
      const mine = plugin('mine', good)
      const station = await createTestStation({ plugins: { theirs, mine } })
      t.teardown(() => station.stop())
      station.define('mine', plugin('mine', { ...good, version: '2.0.0', ...bad }))
      await t.rejects(station.reload('mine'))
      t.equal((await station.request('/mine')).status, 200)
      t.strictSame(station.field('mine'), { version: 1 })
      t.match(await station.station.command('mine', { source: 'plugin' }), { status: 200, text: 'one' })
      t.equal((await station.request('/theirs')).text, 'theirs')
    })
  }

  t.test('what a refused version did in its setup is undone', async (t) => {
    const undone: string[] = []
    let fired = 0
    const theirs = plugin('theirs', { setup: (ctx) => ctx.action({ name: 'theirs', summary: '', run: () => '' }) })
    const station = await createTestStation({ plugins: { theirs, mine: plugin('mine') } })
    t.teardown(() => station.stop())
    const setup = (ctx: PluginContext) => {
      ctx.defer(() => void undone.push('undone'))
      ctx.timers.every(1_000, () => {
        fired += 1
      })
      ctx.action({ name: 'theirs', summary: '', run: () => '' })
    }
    station.define('mine', plugin('mine', { setup }))
    await t.rejects(station.reload('mine'), { code: 'RTK_ERR_COMMAND_TAKEN' })
    await station.clock.advance(5_000)
    t.strictSame([undone, fired], [['undone'], 0])
  })

  t.test('what was set up around a version that cannot start is undone', async (t) => {
    const alive = new Set<number>()
    let count = 0
    const consumer = plugin('consumer', {
      needs: [number],
      setup: (ctx) => {
        const life = ++count
        alive.add(life)
        ctx.defer(() => void alive.delete(life))
      },
    })
    const provider = plugin('provider', {
      provides: [number],
      setup: (ctx) => ctx.services.provide(number, { value: 1 }),
    })
    const station = await createTestStation({ plugins: { consumer, provider } })
    t.teardown(() => station.stop())
    const start = () => {
      throw new Error('no')
    }
    station.define('provider', plugin('provider', { ...provider, start }))
    await t.rejects(station.reload('provider'), { code: 'RTK_ERR_RELOAD_FAILED' })
    t.strictSame([...alive], [count], 'one life is left: the newest')
  })

  t.test('what stop hands over reaches the next start, and the old start again when the new one fails', async (t) => {
    const handed: unknown[] = []
    let fail = false
    const counter = plugin('counter', {
      start: (_ctx, handoff) => {
        handed.push(handoff.get('count', Type.Integer()))
        if (fail) {
          fail = false
          throw new Error('not now')
        }
      },
      stop: (reason) => (reason === 'reload' ? [['count', handed.length]] : undefined),
    })
    const station = await createTestStation({ plugins: { counter } })
    t.teardown(() => station.stop())
    await station.reload('counter')
    t.strictSame(handed, [undefined, 1])
    fail = true
    await t.rejects(station.reload('counter'), { code: 'RTK_ERR_RELOAD_FAILED' })
    t.strictSame(handed, [undefined, 1, 2, 2])
    t.match(station.station.plugins(), [{ state: 'running' }])
  })

  t.test('when neither version can run, those that need it wait, and run again once it does', async (t) => {
    let isBroken = false
    const old = plugin('provider', {
      provides: [number],
      setup: (ctx) => {
        if (isBroken) throw new Error('no way back')
        ctx.services.provide(number, { value: 1 })
      },
    })
    const consumer = plugin('consumer', { needs: [number] })
    const station = await createTestStation({ plugins: { provider: old, consumer } })
    t.teardown(() => station.stop())
    const states = () => station.station.plugins().map(({ name, state, reason }) => `${name} ${state} ${reason}`.trim())
    const fails = () => {
      isBroken = true
      throw new Error('no')
    }
    station.define('provider', plugin('provider', { ...old, start: fails, setup: () => {} }))
    await t.rejects(station.reload('provider'))
    t.match(states(), [
      /^provider failed provider: setup threw: no way back \(at .*manager.test/,
      'consumer waiting needs number (plugin provider, which is failed)',
    ])
    isBroken = false
    station.define('provider', old)
    await station.clock.advance(1_000)
    await until(() => states()[1] === 'consumer running', 'the next try')
    t.strictSame(states(), ['provider running', 'consumer running'])
  })

  t.test(
    'of one that does not start again with what it needs, nothing is left: no route, no command, no block',
    async (t) => {
      let isBroken = false
      const provider = plugin('provider', {
        provides: [number],
        setup: (ctx) => ctx.services.provide(number, { value: 1 }),
      })
      const consumer = plugin('consumer', {
        needs: [number],
        setup: (ctx) => {
          ctx.http.route({ method: 'GET', url: '/sum', handler: async () => 'sum' })
          ctx.action({ name: 'sum', summary: 'answers', run: () => 'sum' })
          ctx.info.block('sum', () => ({ value: 1 }))
        },
        start: () => {
          if (isBroken) throw new Error('no')
        },
      })
      const station = await createTestStation({ plugins: { provider, consumer, 'http-api': httpApi } })
      t.teardown(() => station.stop())
      const left = async () => [
        (await station.request('/sum')).status,
        (await station.station.command('sum', { source: 'console' })).status,
        station.field('sum.value'),
      ]
      t.strictSame(await left(), [200, 200, 1])
      isBroken = true
      await station.reload('provider')
      t.strictSame(await left(), [404, 404, undefined])
      isBroken = false
      await station.reload('provider')
      await station.clock.advance(60_000)
      await until(async () => (await station.request('/sum')).status === 200, 'the next try')
      t.strictSame(await left(), [200, 200, 1])
    },
  )

  t.test('a version whose needs nobody meets is refused, and the old one keeps running', async (t) => {
    const station = await createTestStation({ plugins: { provider: plugin('provider') } })
    t.teardown(() => station.stop())
    station.define('provider', plugin('provider', { version: '2.0.0', needs: [number] }))
    await t.rejects(station.reload('provider'), {
      code: 'RTK_ERR_NEEDS_UNMET',
      message: /2\.0\.0 needs number .*1\.0\.0 keeps running/,
    })
    t.match(station.station.plugins(), [{ state: 'running', version: '1.0.0' }])
  })

  t.test('stop is called after a start that failed or hung, for what it had opened', async (t) => {
    for (const kind of ['fails', 'hangs'] as const) {
      const clock = new ManualClock()
      const open = new Set<string>()
      let began = false
      const half = plugin('half', {
        async start() {
          began = true
          open.add('port')
          if (kind === 'fails') throw new Error('half way')
          await new Promise(() => {})
        },
        stop: () => void open.delete('port'),
      })
      const starting = createTestStation({ clock, plugins: { half } })
      await until(() => began, 'the start')
      await clock.advance(10_000)
      const station = await starting
      t.teardown(() => station.stop())
      t.match(station.station.plugins(), [{ state: 'failed' }])
      t.equal(open.size, 0, kind)
    }
  })

  t.test('when the old version cannot start again either, the answer says so', async (t) => {
    let broken = false
    const definition = (version: string) =>
      plugin('fragile', {
        version,
        start() {
          if (broken) throw new Error('no port')
        },
      })
    const station = await createTestStation({ plugins: { fragile: definition('1.0.0') } })
    t.teardown(() => station.stop())
    station.define('fragile', definition('2.0.0'))
    broken = true
    await t.rejects(station.reload('fragile'), {
      code: 'RTK_ERR_RELOAD_FAILED',
      message: /2\.0\.0 could not start .*1\.0\.0 could not start again either .*no port/,
    })
  })

  t.test('a stop that hangs or throws does not hold the reload up for longer than its limit', async (t) => {
    const clock = new ManualClock()
    const hanging = plugin('hanging', { stop: () => new Promise<void>(() => {}) })
    const station = await createTestStation({ plugins: { hanging }, clock })
    const reloaded = station.reload('hanging')
    await until(() => clock.pending > 0, 'limit of stop')
    await clock.advance(5_000)
    t.match(await reloaded, { state: 'running' })
    t.ok(station.lines.some(({ msg }) => /hanging: stop took longer than 5 s/.test(msg)))
    const stopped = station.stop()
    await until(() => clock.pending > 0, 'limit of stop')
    await clock.advance(5_000)
    await stopped
  })

  t.test(
    'a start that hangs is given up by name and phase, then tried again with back-off, then quarantined',
    async (t) => {
      const clock = new ManualClock()
      let starts = 0
      let hang = false
      const slow = plugin('slow', {
        start: () => {
          starts += 1
          return hang ? new Promise<void>(() => {}) : undefined
        },
      })
      const station = await createTestStation({ plugins: { slow }, clock })
      t.teardown(() => station.stop())
      hang = true
      const crash = Promise.resolve(station.reload('slow').catch((error) => error))
      await until(() => starts === 2, 'start of the new version')
      hang = true
      await clock.advance(10_000)
      await until(() => starts === 3, 'start of the old version')
      await clock.advance(10_000)
      t.match(await crash, { code: 'RTK_ERR_RELOAD_FAILED', message: /slow: start took longer than 10 s/ })
      t.match(station.station.plugins(), [{ state: 'failed' }])
      await clock.advance(1_000)
      await until(() => starts === 4, 'second try')
      await clock.advance(10_000)
      await until(() => station.station.plugins()[0].state === 'failed', 'failed again')
      await clock.advance(5_000)
      await until(() => starts === 5, 'third try')
      await clock.advance(10_000)
      await until(() => station.station.plugins()[0].state === 'quarantined', 'quarantine')
      const text = 'plugin slow does not run: slow: start took longer than 10 s; it is retried after 300 s'
      t.match(station.device.errors(), [{ code: 'plugin-failed', text }])
      hang = false
      await clock.advance(300_000)
      await until(() => station.station.plugins()[0].state === 'running', 'tried again after five minutes')
      t.same(station.device.errors(), [])
    },
  )
})

t.test('C2: a plugin that hangs in its start holds up nobody who does not need it', async (t) => {
  const clock = new ManualClock()
  const [light, late] = [defineService<number>('light'), defineService<number>('late')]
  const seen: unknown[] = []
  const began: string[] = []
  const starting = createTestStation({
    clock,
    plugins: {
      hanging: plugin('hanging', { provides: [late], start: () => new Promise<void>(() => {}) }),
      watcher: plugin('watcher', { start: (ctx) => void ctx.services.watch(light, (value) => seen.push(value)) }),
      lamp: plugin('lamp', { provides: [light], start: (ctx) => ctx.services.provide(light, 7) }),
      reader: plugin('reader', { needs: [light], start: () => void began.push('reader') }),
      patient: plugin('patient', { needs: [late], start: () => void began.push('patient') }),
    },
  })
  await until(() => clock.pending > 1, 'the first one is waited for')
  t.same([seen, began], [[], []])
  await clock.advance(500)
  await until(() => seen.length === 2 && began.length === 1, 'the others run')
  t.same([seen, began], [[undefined, 7], ['reader']])
  await clock.advance(10_000)
  const station = await starting
  t.teardown(() => station.stop())
  t.match(
    station.station.plugins().map(({ name, state }) => `${name} ${state}`),
    ['hanging failed', 'watcher running', 'lamp running', 'reader running', 'patient waiting'],
  )
})

t.test('C12: what a stop takes away is a warning, but not at an orderly stop of the service', async (t) => {
  for (const isOrderly of [false, true]) {
    const lower = plugin('lower', { provides: [number], setup: (ctx) => ctx.services.provide(number, { value: 1 }) })
    const watcher = plugin('watcher', {
      start(ctx) {
        let wasThere = false
        ctx.services.watch(number, (found) => {
          ctx.errors.while('groundless', !found && wasThere)
          wasThere = found !== undefined
        })
      },
    })
    const station = await createTestStation({ plugins: { watcher, lower } })
    if (!isOrderly) await station.unload('lower')
    await station.stop()
    const levels = station.lines.filter(({ msg }) => msg === 'groundless').map(({ level }) => level)
    t.same(levels.filter((level) => level >= 40).length, isOrderly ? 0 : 1, `${levels}`)
  }
})

t.test('C5: routes of a version that could not start are closed', async (t) => {
  const open = new Set<string>()
  let made = 0
  const holder = (version: string) =>
    plugin('holder', {
      setup: (ctx) =>
        ctx.http.register(async (app) => {
          const what = `${version} ${made++}`
          open.add(what)
          app.addHook('onClose', async () => void open.delete(what))
        }),
      start() {
        if (version === 'new') throw new Error('no')
      },
    })
  const station = await createTestStation({ plugins: { holder: holder('old') } })
  t.teardown(() => station.stop())
  t.equal(open.size, 1)
  for (let times = 0; times < 3; times++) {
    station.define('holder', holder('new'))
    await t.rejects(station.reload('holder'), { message: /runs again/ })
    await until(
      () => open.size === 1,
      () => `${[...open].join(', ')} are open`,
    )
    t.match([...open], [/^old/])
  }
})

t.test('after five minutes without a failure the count begins anew, and ends in quarantine again', async (t) => {
  let isBroken = false
  let starts = 0
  const shaky = plugin('shaky', {
    start: () => {
      starts += 1
      if (isBroken) throw new Error('no')
    },
  })
  const station = await createTestStation({ plugins: { shaky } })
  t.teardown(() => station.stop())
  const state = () => station.station.plugins()[0].state
  const tryAgain = async (after_ms: number) => {
    const before = starts
    await station.clock.advance(after_ms)
    await until(() => starts > before && state() !== 'starting', `a try after ${after_ms} ms`)
    return state()
  }
  const breaks = async () => {
    isBroken = true
    await t.rejects(station.reload('shaky'))
    return state()
  }
  t.equal(await breaks(), 'failed')
  t.equal(await tryAgain(1_000), 'failed')
  isBroken = false
  t.equal(await tryAgain(5_000), 'running')
  await station.clock.advance(300_001)
  t.equal(await breaks(), 'failed')
  t.equal(await tryAgain(1_000), 'failed')
  t.equal(await tryAgain(5_000), 'quarantined')
})

t.test('effects', async (t) => {
  t.test('a late timer after unload never fires, and every disposer runs although one throws', async (t) => {
    let fired = 0
    const undone: string[] = []
    let kept: PluginContext | undefined
    const timed = plugin('timed', {
      setup: (ctx) => {
        kept = ctx
        ctx.timers.every(1_000, () => {
          fired += 1
        })
        ctx.defer(() => void undone.push('first'))
        ctx.defer(() => {
          throw new Error('cannot')
        })
        ctx.defer(async () => void undone.push('last'))
      },
    })
    const station = await createTestStation({ plugins: { timed } })
    t.teardown(() => station.stop())
    await station.clock.advance(2_500)
    t.equal(fired, 2)
    await station.unload('timed')
    t.strictSame(undone, ['last', 'first'])
    kept?.timers.every(10, () => {
      fired += 1
    })
    kept?.timers.after(10, () => {
      fired += 1
    })
    kept?.defer(() => void undone.push('late'))
    await station.clock.advance(10_000)
    t.equal(fired, 2)
    t.strictSame(undone, ['last', 'first', 'late'], 'a late effect is undone at once')
    t.ok(station.lines.some(({ msg }) => msg.includes('registered after the plugin was stopped')))
  })

  t.test('what is handed over is a copy: nothing of the old code is kept by it', async (t) => {
    const list = [1]
    const handed: unknown[] = []
    const keeper = plugin('keeper', {
      start: (_ctx, handoff) => void handed.push(handoff.get('list', Type.Array(Type.Integer()))),
      stop: () => [['list', list]],
    })
    const station = await createTestStation({ plugins: { keeper } })
    t.teardown(() => station.stop())
    await station.reload('keeper')
    t.strictSame(handed, [undefined, [1]])
    t.not(handed[1], list)
  })

  t.test('the signal aborts before stop is called', async (t) => {
    const seen: boolean[] = []
    const plain = definePlugin({
      name: 'plain',
      version: '1.0.0',
      api: '^1.0.0',
      setup: (ctx) => ctx,
      start: (ctx) => void seen.push(ctx.signal.aborted),
      stop: (_reason, ctx) => void seen.push(ctx.signal.aborted),
    })
    const station = await createTestStation({ plugins: { plain } })
    await station.stop()
    t.strictSame(seen, [false, true])
  })

  t.test('registrations after setup are refused', async (t) => {
    let error: unknown
    const late = plugin('late', {
      start: (ctx) => {
        try {
          ctx.action({ name: 'late', summary: '', run: () => '' })
        } catch (caught) {
          error = caught
        }
      },
    })
    const station = await createTestStation({ plugins: { late } })
    t.teardown(() => station.stop())
    t.match(error, { code: 'RTK_ERR_LATE_REGISTRATION', message: /late: command late after setup/ })
  })

  t.test('a tap removed during an asynchronous call does not run', async (t) => {
    let release: () => void = () => {}
    const ran: string[] = []
    const slow = plugin('slow', {
      setup: (ctx) =>
        ctx.hooks.onChange.tap(
          () =>
            new Promise<void>((resolve) => {
              release = resolve
            }),
        ),
    })
    const second = plugin('second', { setup: (ctx) => ctx.hooks.onChange.tap(() => void ran.push('second')) })
    const station = await createTestStation({ plugins: { slow, second } })
    t.teardown(() => station.stop())
    const changed = station.station.change({}, { source: 'plugin' })
    await until(() => release.length === 0 && release.name !== '', 'the slow tap').catch(() => {})
    await station.unload('second')
    release()
    t.match(await changed, { result: 'ok' })
    t.strictSame(ran, [])
  })

  t.test('a timer never overlaps itself: its next run comes after the last one ended', async (t) => {
    const clock = new ManualClock()
    let running = 0
    let most = 0
    let runs = 0
    const slow = plugin('slow', {
      setup: (ctx) =>
        void ctx.timers.every(100, async () => {
          running += 1
          runs += 1
          most = Math.max(most, running)
          await new Promise<void>((resolve) => void clock.timer(1_050, resolve))
          running -= 1
        }),
    })
    const station = await createTestStation({ clock, plugins: { slow } })
    t.teardown(() => station.stop())
    await clock.advance(10_000)
    t.equal(most, 1)
    t.ok(runs >= 8 && runs <= 10, `${runs} runs of 1.05 s in 10 s`)
  })

  t.test('after a suspend a timer comes once, and then in its period again', async (t) => {
    class Sleeper extends ManualClock {
      slept_ms = 0
      override monotonic() {
        return super.monotonic() + this.slept_ms
      }
    }
    const clock = new Sleeper()
    let runs = 0
    const steady = plugin('steady', { setup: (ctx) => void ctx.timers.every(1_000, () => void runs++) })
    const station = await createTestStation({ clock, plugins: { steady } })
    t.teardown(() => station.stop())
    await clock.advance(2_500)
    t.equal(runs, 2)
    clock.slept_ms = 30_000
    await clock.advance(750)
    t.equal(runs, 3, 'the one that was due')
    await clock.advance(9_750)
    t.equal(runs, 13)
  })

  t.test('timers that throw cost a log line once a minute, and the plugin keeps running', async (t) => {
    let fired = 0
    const faulty = plugin('faulty', {
      setup: (ctx) =>
        void ctx.timers.every(1_000, () => {
          fired += 1
          throw new Error('every second')
        }),
    })
    const station = await createTestStation({ plugins: { faulty } })
    t.teardown(() => station.stop())
    await station.clock.advance(59_000)
    t.equal(fired, 59)
    t.equal(station.lines.filter(({ msg }) => msg.includes('every second')).length, 1)
    t.match(station.station.plugins(), [{ state: 'running', reason: 'timer: every second' }])
    await station.clock.advance(1_000)
    t.equal(station.lines.filter(({ msg }) => msg.includes('every second')).length, 1)
    await station.clock.advance(1_000)
    t.equal(station.lines.filter(({ msg }) => msg.includes('every second')).length, 2, '60 s after the first one')
  })
})

t.test('conflicts are refused with both names', async (t) => {
  const claims: Record<string, (ctx: PluginContext) => void> = {
    parameter: (ctx) => void ctx.config.define('key', { type: 'integer' } as never, { default: 0 as never }),
    block: (ctx) => void ctx.info.block('part', () => ({})),
    command: (ctx) => ctx.action({ name: 'go', summary: '', run: () => '' }),
    route: (ctx) => ctx.http.route({ method: 'GET', url: '/same', handler: async () => '' }),
  }
  for (const [what, claim] of Object.entries(claims)) {
    t.test(`two plugins with the same ${what}`, async (t) => {
      let setUps = 0
      let undone = 0
      const setup = (ctx: PluginContext) => {
        setUps++
        ctx.defer(() => void undone++)
        claim(ctx)
      }
      const station = await createTestStation({
        plugins: {
          first: plugin('first', { setup: claim }),
          second: plugin('second', { setup }),
          third: plugin('third'),
        },
      })
      t.teardown(() => station.stop())
      const [first, second, third] = station.station.plugins()
      t.match(first, { state: 'running' })
      t.match(second, { state: 'failed', reason: /first/ })
      t.match(second.reason, /second/)
      t.match(third, { state: 'running' })
      t.equal(undone, setUps, 'what the second one did in its setup is undone')
    })
  }
  t.test('two plugins of the variant with the same name', async (t) => {
    const plugins = { left: plugin('twin'), right: plugin('twin') }
    await t.rejects(createTestStation({ plugins }), {
      message: /two plugins of this variant are called twin: "left" and "right"/,
    })
  })
  t.test('two plugins with the same service', async (t) => {
    const provide = { provides: [number], setup: (ctx: PluginContext) => ctx.services.provide(number, { value: 1 }) }
    const station = await createTestStation({
      plugins: { first: plugin('first', provide), second: plugin('second', provide) },
    })
    t.teardown(() => station.stop())
    t.match(station.station.plugins()[1], { state: 'failed', reason: /service number of second is taken by first/ })
  })
})
