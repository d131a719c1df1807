/** What `conformance` finds wrong with a plugin, and that a plugin which is right passes. */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Type } from 'typebox'
import { Agent, request } from 'undici'
import { noteRawHandles } from '../../runtime/kernel/instance/raw-handles.js'
import { type AnyPlugin, definePlugin, type Handoff, type PluginDefinition } from '../../runtime/plugin.js'
import { conformance, createTestStation, few, gateOnly, ManualClock, until } from '../harness/index.js'

function plugin(parts: Partial<PluginDefinition<never, never>>): AnyPlugin {
  return definePlugin({ name: 'leaky', version: '1.0.0', api: '^1.0.0', setup: (() => {}) as never, ...parts })
}

const place = /\(made at \/.*conformance\.test\.[tj]s:\d+:\d+\)/

/** Ends what a bad plugin left behind, so that this test can end. */
const leftovers: (() => unknown)[] = []
t.teardown(() => {
  for (const end of leftovers) end()
})

const openAtStart: [string, RegExp, () => () => unknown][] = [
  [
    'an interval',
    /left open: interval of 250 ms/,
    () => {
      const timer = setInterval(() => {}, 250)
      return () => clearInterval(timer)
    },
  ],
  [
    'a timer',
    /left open: timer of 60000 ms/,
    () => {
      const timer = setTimeout(() => {}, 60_000)
      return () => clearTimeout(timer)
    },
  ],
  [
    'an HTTP server',
    /left open: TCP server 127\.0\.0\.1:\d+/,
    () => {
      const server = createHttpServer().listen(0, '127.0.0.1')
      return () => server.close()
    },
  ],
  [
    'a UDP socket',
    /left open: UDP socket/,
    () => {
      const socket = createSocket('udp4')
      socket.bind(0, '127.0.0.1')
      return () => socket.close()
    },
  ],
  [
    'a listener of the process',
    /left open: process listener of "SIGUSR2"/,
    () => {
      const listener = () => {}
      process.on('SIGUSR2', listener)
      return () => process.off('SIGUSR2', listener)
    },
  ],
  [
    'a watcher',
    /left open: watch of \//,
    () => {
      const watcher = watch(tmpdir(), () => {})
      return () => watcher.close()
    },
  ],
  [
    'a child process',
    /left open: child process \d+ \(sleep\)/,
    () => {
      const child = spawn('sleep', ['100'], { stdio: 'ignore' })
      return () => child.kill('SIGKILL')
    },
  ],
]

for (const [what, message, open] of few(1, openAtStart)) {
  t.test(`${what} that is left open is named with its place; closed in stop it is fine`, async (t) => {
    const bad = plugin({ start: () => void leftovers.push(open()) })
    const { message: text } = (await conformance(bad).catch((error) => error)) as Error
    t.match(text, message)
    t.match(text, place)
    let close: () => unknown = () => {}
    await t.resolves(
      conformance(
        plugin({
          start: () => {
            close = open()
          },
          stop: () => void close(),
        }),
      ),
    )
  })
}

t.test('a connection that is left open is named', async (t) => {
  const server: Server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const bad = plugin({
    start: () => {
      const socket = connect(port, '127.0.0.1')
      leftovers.push(() => socket.destroy())
      return new Promise((resolve) => socket.once('connect', () => resolve()))
    },
  })
  await t.rejects(conformance(bad), { message: new RegExp(`TCP connection to 127\\.0\\.0\\.1:${port}`) })
})

t.test('what a connection pool keeps, and timers of ctx, are not left open', async (t) => {
  const server = createHttpServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  // It announces how long it keeps a connection, and the client sets a timer for that.
  server.keepAliveTimeout = 20_000
  const { port } = server.address() as { port: number }
  const shared = new Agent()
  t.teardown(() => shared.destroy())
  const good = plugin({
    async start(ctx) {
      // The pool of somebody else, as that of the service of another plugin.
      await (await request(`http://127.0.0.1:${port}`, { dispatcher: shared })).body.text()
      ctx.timers.every(1_000, () => {})
      ctx.timers.after(1_000, () => {})
      await (await fetch(`http://127.0.0.1:${port}`)).text()
    },
  })
  await t.resolves(conformance(good))
})

t.test('a timer that is over holds nothing that was on the stack when it was made', { skip: gateOnly }, async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  t.teardown(noteRawHandles())
  class Connection {
    wait(): Promise<void> {
      return new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const made: WeakRef<Connection>[] = []
  const station = await createTestStation({
    plugins: {
      leaky: plugin({
        start: async () => {
          for (let n = 0; n < 20; n++) {
            const connection = new Connection()
            made.push(new WeakRef(connection))
            await connection.wait()
          }
        },
      }),
    },
  })
  t.teardown(() => station.stop())
  const isHeld = () => {
    collectGarbage()
    return made.some((connection) => connection.deref() !== undefined)
  }
  // A reference that was just followed is held until the turn is over.
  await until(() => !isHeld(), 'they are collected').catch(() => {})
  t.notOk(isHeld())
})

t.test('a handoff that cannot be cloned is named', async (t) => {
  await t.rejects(conformance(plugin({ stop: () => [['later', () => {}]] })), {
    message: /stop failed: "later" cannot be handed over.*could not be cloned/,
  })
})

t.test('S13: a handoff that does not fit the own schema is named', async (t) => {
  const start = (_ctx: unknown, handoff: Handoff) => void handoff.get('count', Type.Integer({ minimum: 1 }))
  await t.rejects(conformance(plugin({ start, stop: () => [['count', 0]] })), {
    message: /the handoff count does not fit this version/,
  })
})

t.test('a start and a stop that fail or hang are named, with place or limit', { skip: gateOnly }, async (t) => {
  const fail = () => {
    throw new Error('no luck')
  }
  const hang = () => new Promise<never>(() => {})
  await t.rejects(conformance(plugin({ start: fail })), {
    message: /did not start: failed .*no luck \(at .*conformance\.test\.[tj]s:\d+/,
  })
  await t.rejects(conformance(plugin({ start: hang })), {
    message: /did not start: failed .*start took longer than 10 s/,
  })
  await t.rejects(conformance(plugin({ stop: fail })), { message: /stop failed: no luck/ })
  await t.rejects(conformance(plugin({ stop: hang })), { message: /stop failed: .*stop took longer than 5 s/ })
})

t.test('a default that its schema refuses is named', async (t) => {
  const bad = plugin({
    setup: ((ctx: { config: { define(...args: unknown[]): void } }) =>
      ctx.config.define('leaky-limit', Type.Integer({ minimum: 1 }), { default: 0 })) as never,
  })
  await t.rejects(conformance(bad), { message: /did not start: failed .*leaky-limit/ })
})

t.test('state in the module, which a second instance beside the first takes over, is found', async (t) => {
  let socket: ReturnType<typeof createSocket> | undefined
  const bad = plugin({
    setup: (() => {
      socket = createSocket('udp4')
      const mine = socket
      leftovers.push(() => {
        try {
          mine.close()
        } catch {}
      })
    }) as never,
    start: () => void socket?.bind(0, '127.0.0.1'),
    stop: () => void socket?.close(),
  })
  await t.rejects(conformance(bad), { message: /left open: UDP socket/ })
})

t.test('a callback that throws is named', async (t) => {
  const clock = new ManualClock()
  const bad = plugin({
    start: (ctx) =>
      void ctx.timers.after(0, () => {
        throw new Error('in a timer')
      }),
    stop: () => clock.advance(0),
  })
  await t.rejects(conformance(bad, {}, { clock }), { message: /timer: in a timer; the plugin keeps running/ })
})

t.test('a plugin is examined by its path as well, with the texts that it imports', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-conformance-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const source = (start: string) => `import { definePlugin } from 'rtk-base/plugin'
import note from './note.txt'
export default definePlugin({ name: 'noted', version: '1.0.0', api: '^1.0.0',
  setup: (ctx) => void ctx.info.block('noted', () => note), start() { ${start} } })`
  writeFileSync(join(folder, 'note.txt'), 'a note')
  writeFileSync(join(folder, 'index.ts'), source(''))
  await t.resolves(conformance(folder))
  writeFileSync(join(folder, 'index.ts'), source('setTimeout(() => {}, 2_500)'))
  await t.rejects(conformance(folder), { message: /noted: left open: timer of 2500 ms/ })
})

t.test('a running station names once what a plugin left open', async (t) => {
  const clock = new ManualClock()
  const start = () => {
    const timer = setInterval(() => {}, 777)
    leftovers.push(() => clearInterval(timer))
  }
  const station = await createTestStation({
    clock,
    ownProcess: true,
    tracesHandles: true,
    plugins: { leaky: plugin({ start }) },
  })
  t.teardown(() => station.stop())
  await station.unload('leaky')
  await clock.advance(60_000)
  const lines = station.lines.filter(({ msg }) => msg.includes('interval of 777 ms'))
  t.match(lines, [{ plugin: 'leaky', level: 40, msg: place }])
  t.equal(lines.length, 1)
})
