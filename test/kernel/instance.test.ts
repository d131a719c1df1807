/** One life of a plugin: what it owns, what it leaves open, and what it is blamed for. */
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, watch } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext, runInThisContext } from 'node:vm'
import t from 'tap'
import { Instance } from '../../runtime/kernel/instance/instance.js'
import { describeHandle, leftOpen, noteRawHandles, openHandles } from '../../runtime/kernel/instance/raw-handles.js'
import { Scope } from '../../runtime/kernel/instance/scope.js'
import { EventHub } from '../../runtime/platform/guard/event-hub.js'
import { refuseExit } from '../../runtime/platform/guard/exit.js'
import { type Owner, runAs } from '../../runtime/platform/guard/owner.js'
import { type CrashHandler, catchUncaught, ownPlace } from '../../runtime/platform/guard/uncaught.js'
import { ownerSymbol } from '../../runtime/platform/supervision/activity.js'
import { ManualClock, until } from '../harness/index.js'
import { ownerOf } from './owner.js'

t.test('a plugin may ask whether a process lives, and may not end the station', async (t) => {
  const real = process.kill
  const asked: [unknown, unknown][] = []
  process.kill = (pid, signal) => {
    asked.push([pid, signal])
    return true
  }
  const ends = process as typeof process & { reallyExit(code?: number): void }
  const really = ends.reallyExit
  ends.reallyExit = () => t.fail('the process would be over')
  const failures: string[] = []
  const plugin = ownerOf('wild', failures)
  const undo = refuseExit()
  try {
    const kill = (pid: number, signal?: string | number) => runAs(plugin, () => process.kill(pid, signal))
    for (const pid of [process.pid, 0, -1]) {
      t.throws(() => kill(pid, 'SIGTERM'), { code: 'RTK_ERR_PROCESS_EXIT' }, String(pid))
      t.throws(() => kill(pid), { code: 'RTK_ERR_PROCESS_EXIT' })
      t.ok(kill(pid, 0), 'signal 0 asks')
    }
    t.ok(kill(1, 'SIGTERM'), 'another process')
    const group = Number(execFileSync('ps', ['-o', 'pgid=', '-p', String(process.pid)], { encoding: 'utf8' }))
    t.throws(() => kill(-group, 'SIGTERM'), { code: 'RTK_ERR_PROCESS_EXIT' }, 'the group of the station')
    t.ok(kill(-group - 1, 'SIGTERM'), 'C7: the group of a child')
    t.throws(() => runAs(plugin, () => process.exit(1)), { code: 'RTK_ERR_PROCESS_EXIT' })
    t.throws(() => runAs(plugin, () => process.abort()), { code: 'RTK_ERR_PROCESS_EXIT' })
    t.throws(() => runAs(plugin, () => ends.reallyExit(1)), { code: 'RTK_ERR_PROCESS_EXIT' })
    t.equal(failures.length, 10)
    t.ok(process.kill(process.pid, 'SIGTERM'), 'the runtime itself may')
    t.same(asked.length, 6)
  } finally {
    undo()
    t.notOk(process.kill === real)
    process.kill = real
    ends.reallyExit = really
  }
})

t.test('an uncaught error is put down to whose context it is, or to who handed the callback over', async (t) => {
  const outcome = (by: Owner | undefined, inStack: string | undefined, depends: boolean, running = true) => {
    const crashed: [string, string | undefined][] = []
    const fatal: string[] = []
    const handler: CrashHandler = {
      ownerOfFiles: () => inStack,
      dependsOn: (plugin, provider) => depends && plugin === inStack && provider === by?.name,
      crashed: (name, _, of) => crashed.push([name, of?.name]) > 0 && running,
    }
    const others = new Set(process.listeners('uncaughtException'))
    const undo = catchUncaught({ fatal: (_: object, line: string) => fatal.push(line) } as never, handler)
    const handle = process.listeners('uncaughtException').find((one) => !others.has(one))
    const exit = process.exit
    process.exit = ((code: number) => fatal.push(`exit ${code}`)) as never
    try {
      const call = () => handle?.(new Error('late'), 'uncaughtException')
      if (by) runAs(by, call)
      else call()
    } finally {
      process.exit = exit
      undo()
      t.ok(process.listeners('uncaughtException').every((one) => others.has(one)))
    }
    return { crashed, fatal }
  }
  // The watchdog asks a thread that it has stopped.
  const whose = (globalThis as Record<symbol, unknown>)[Symbol.for(ownerSymbol)] as () => string
  t.same([whose(), runAs(ownerOf('rover'), whose), whose()], ['', 'rover', ''])
  const provider = ownerOf('provider')
  t.same(outcome(provider, undefined, false).crashed, [['provider', 'provider']])
  t.same(outcome(provider, 'provider', false).crashed, [['provider', 'provider']])
  t.same(
    outcome(provider, 'user', true).crashed,
    [['user', undefined]],
    'its callback failed in the context of its provider',
  )
  t.same(outcome(provider, 'stranger', false).crashed, [['provider', 'provider']])
  t.same(outcome(undefined, 'user', false).crashed, [['user', undefined]])
  t.match(outcome(undefined, undefined, false), {
    crashed: [],
    fatal: [/uncaught error that no plugin owns: late/, 'exit 1'],
  })
  const failures: string[] = []
  t.same(outcome(ownerOf('gone', failures), undefined, false, false).fatal, [])
  t.same(failures, ['gone left behind: late'])
})

t.test('what a plugin owns is undone once, the last first; one that hangs is left after 5 s', async (t) => {
  const clock = new ManualClock()
  const lines: string[] = []
  const say = (_: unknown, text: string) => void lines.push(text)
  const scope = new Scope({ ...ownerOf('rover', [], clock), log: { warn: say, error: say } as never })
  const undone: string[] = []
  const own = (label: string) => scope.own(label, () => void undone.push(label))
  const early = own('early')
  own('first')
  scope.own('hanging', () => new Promise(() => {}))
  own('last')
  t.same([scope.size, scope.closed, scope.signal.aborted], [4, false, false])
  void early()
  t.same([scope.size, undone], [3, ['early']])
  void early()
  t.same([scope.size, undone], [3, ['early']])
  scope.abort()
  t.same([scope.closed, scope.signal.aborted], [false, true])
  const closing = scope.close()
  t.equal(scope.close(), closing)
  await new Promise(setImmediate)
  t.same([undone, scope.closed], [['early', 'last'], true])
  void own('late')()
  t.same(undone.splice(2), ['late'])
  await clock.advance(4_999)
  t.same(undone, ['early', 'last'])
  await clock.advance(1)
  await new Promise(setImmediate)
  t.same([undone, scope.size], [['early', 'last', 'first'], 0])
  await closing
  t.match(lines, [/^registered after/, /^could not undo hanging: .*; the rest is undone$/])
})

t.test(
  'a listener that fails is reported as its plugin’s, by the name of the event, and the others are called',
  async (t) => {
    const failures: string[] = []
    const hub = new EventHub<number>('fix')
    const heard: string[] = []
    const undone: string[] = []
    const listener: Owner = {
      ...ownerOf('rover', failures),
      own: (label, dispose) => () => {
        undone.push(label)
        return dispose()
      },
    }
    const leave = runAs(listener, () =>
      hub.on(() => {
        throw new Error('x')
      }),
    )
    hub.on((value) => heard.push(`runtime ${value}`))
    t.equal(hub.listeners, 2)
    hub.emit(1)
    t.same([failures, heard], [['rover fix: x'], ['runtime 1']])
    void leave()
    t.same([undone, hub.listeners], [['fix'], 1])
    hub.close()
    hub.emit(2)
    t.equal(heard.length, 1)
  },
)

t.test('a watch of files is open until it is closed', async (t) => {
  const stop = noteRawHandles()
  t.teardown(stop)
  const plugin = { ...ownerOf('watcher'), ended: false }
  const folder = t.testdir({ file: '' })
  const watcher = runAs(plugin, () => watch(folder))
  t.same(
    openHandles(plugin).map(({ what }) => what),
    [`watch of ${folder}`],
  )
  watcher.close()
  await until(() => openHandles(plugin).length === 0, 'closed')
})

t.test('what a plugin leaves open is named, with its place, until it is closed', async (t) => {
  const real = globalThis.setTimeout
  const stop = noteRawHandles()
  const stopOther = noteRawHandles()
  const stopped = new AbortController()
  const plugin = { ...ownerOf('wild'), signal: stopped.signal }
  const open = () => openHandles(plugin).map(({ what }) => what)
  const close: (() => unknown)[] = []
  const listener = () => {}
  const server = createServer()
  let port = 0
  runAs(plugin, () => {
    const timer = setTimeout(() => {}, 5_000)
    const interval = setInterval(() => {}, 7_000)
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    process.on('SIGUSR2', listener)
    server.listen(0, '127.0.0.1')
    close.push(
      () => clearTimeout(timer),
      () => clearInterval(interval),
      () => new Promise<void>((resolve) => socket.close(resolve)),
      () => process.off('SIGUSR2', listener),
    )
  })
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  const client = runAs(plugin, () => connect(port, '127.0.0.1'))
  await once(client, 'connect')
  const others = ['timer of 5000 ms', 'interval of 7000 ms', 'UDP socket', 'process listener of "SIGUSR2"']
  const tcp = [`TCP server 127.0.0.1:${port}`, `TCP connection to 127.0.0.1:${port}`]
  t.same(open(), [...others, ...tcp])
  const [first] = openHandles(plugin)
  t.match(first && describeHandle(first), /^timer of 5000 ms \(made at .*instance\.test\.[jt]s:\d+:\d+\)$/)
  t.same(leftOpen('wild', 0), [], 'it has not ended')
  stopped.abort()
  t.equal(leftOpen('wild', 0).length, 6)
  t.same([leftOpen('other', 0), leftOpen('wild', performance.now())], [[], []])
  client.unref()
  t.notOk(
    open().some((what) => what.startsWith('TCP connection')),
    'one that waits in a pool is of the pool',
  )
  client.ref()
  client.destroy()
  await new Promise((resolve) => server.close(resolve))
  t.same(open(), others)
  for (const [at, end] of close.entries()) {
    await end()
    await until(() => open().length === 3 - at, 'one less')
  }
  let fired = false
  runAs(plugin, () => {
    for (let n = 0; n < 200; n++)
      setTimeout(() => {
        fired = true
      }, 1)
  })
  await until(() => fired && open().length === 0, 'timers that fired')
  stop()
  stop()
  t.not(globalThis.setTimeout, real, 'somebody else still wants to know')
  stopOther()
  t.equal(globalThis.setTimeout, real)
  runAs(plugin, () => setTimeout(() => {}, 1)).unref()
  t.same(open(), [])
})

t.test('a process, a server at a path, a connection that is not there yet: open until they have ended', async (t) => {
  t.teardown(noteRawHandles())
  const plugin = ownerOf('busy')
  const open = () => openHandles(plugin).map(({ what }) => what)
  const wait = ['-e', 'setInterval(() => {}, 1000)']
  for (const end of [
    (child: ReturnType<typeof spawn>) => child.kill('SIGKILL'),
    (child: ReturnType<typeof spawn>) => child.stdin?.end(),
  ]) {
    const child = runAs(plugin, () => spawn(process.execPath, end.toString().includes('stdin') ? ['-'] : wait))
    await once(child, 'spawn')
    t.match(open(), [`child process ${child.pid} (${process.execPath})`])
    const ended = once(child, 'exit')
    end(child)
    await ended
    t.same(open(), [])
  }
  const none = runAs(plugin, () => spawn('/no/such/program'))
  await once(none, 'error')
  t.same(open(), [], 'one that did not start')

  // The path of a socket is short.
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 's')
  const server = createServer()
  runAs(plugin, () => server.listen(path))
  await once(server, 'listening')
  t.same(open(), [`TCP server ${path}`])
  const client = runAs(plugin, () => connect(path))
  t.same(open(), [`TCP server ${path}`, 'TCP connection'])
  client.destroy()
  server.close()
  await once(server, 'close')
  t.same(open(), [])
  const timer = runAs(plugin, () => setTimeout(() => {}))
  t.same(open(), ['timer of 1 ms'])
  clearTimeout(timer)
})

t.test('timers that Node makes for its own connections are of its pool, those of other packages are not', async (t) => {
  t.teardown(noteRawHandles())
  for (const [filename, what] of [
    ['node:internal/deps/undici/undici', []],
    ['/home/base/node_modules/undici/lib/timers.js', []],
    ['/home/base/node_modules/other/timers.js', ['timer of 5000 ms']],
  ] as const) {
    const plugin = ownerOf('fetcher')
    const make = runInThisContext('(wait_ms) => setTimeout(() => {}, wait_ms)', { filename })
    const timer = runAs(plugin, () => make(5_000))
    t.same(
      openHandles(plugin).map((handle) => handle.what),
      what,
      filename,
    )
    clearTimeout(timer)
  }
})

t.test('what a plugin closed is let go with what its stack holds: when it is much, and every 5 s', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = async () => {
    await new Promise(setImmediate)
    runInNewContext('gc')()
  }
  const real = globalThis.setInterval
  let [prune, every_ms] = [() => {}, 0]
  globalThis.setInterval = ((fn: () => void, ms: number) => {
    ;[prune, every_ms] = [fn, ms]
    return real(() => {}, 1_000_000)
  }) as never
  const stop = noteRawHandles()
  t.teardown(() => {
    stop()
    globalThis.setInterval = real
  })
  const plugin = ownerOf('busy')
  class Holder {
    readonly bytes = new Uint8Array(1_000)
    open(): NodeJS.Timeout {
      return setTimeout(() => {}, 60_000)
    }
  }
  /** Timers that were cleared, each with an object on its stack. */
  const closed = (count: number) =>
    Array.from({ length: count }, () => {
      const holder = new Holder()
      clearTimeout(runAs(plugin, () => holder.open()))
      return new WeakRef(holder)
    })
  const held = (refs: WeakRef<Holder>[]) => refs.filter((ref) => ref.deref()).length
  const first = closed(32)
  await collect()
  t.equal(held(first), 32, 'until there are more than 32')
  closed(1)
  await collect()
  t.equal(held(first), 0)

  const left = Array.from({ length: 9 }, () => runAs(plugin, () => setTimeout(() => {}, 60_000)))
  // The last of these is open while it is noted: ten are open then.
  closed(25)
  const more = closed(42)
  await collect()
  t.equal(held(more), 42, 'twice as many more as were open then')
  closed(1)
  await collect()
  t.equal(held(more), 0)
  t.equal(openHandles(plugin).length, 9)

  const few = closed(3)
  await collect()
  t.equal(held(few), 3)
  prune()
  await collect()
  t.same([held(few), every_ms], [0, 5_000])
  for (const timer of left) clearTimeout(timer)
})

t.test('the place of an error is the first that is neither of the runtime nor of a package', async (t) => {
  const error = (...frames: string[]) => Object.assign(new Error('x'), { stack: ['Error: x', ...frames].join('\n') })
  const ours = ownPlace(new Error('here'))
  t.match(ours, /instance\.test\.[jt]s:\d+:\d+$/)
  const runtime = `${ours.replace(/test\/kernel\/.*/, '')}runtime/kernel/manager.js`
  t.equal(
    ownPlace(
      error(
        `    at start (${runtime}:1:2)`,
        '    at call (/srv/node_modules/mqtt/index.js:3:4)',
        '    at go (/srv/rover.js:5:6)',
        '    at main (/srv/main.js:7:8)',
      ),
    ),
    '/srv/rover.js:5:6',
  )
  for (const strange of [
    error(`    at start (${runtime}:1:2)`),
    error(),
    Object.assign(new Error('x'), { stack: 5 }),
    'x',
  ])
    t.equal(ownPlace(strange), '')
})

t.test('a fault is told once a minute, and 64 of them are remembered', async (t) => {
  const clock = new ManualClock()
  const lines: string[] = []
  const log = { error: (_: unknown, line: string) => void lines.push(line) } as never
  const life = new Instance({ name: 'wild' } as never, log, clock, 0)
  const fails = (text: string) => {
    life.failed(new Error(text), 'timer')
    return lines.splice(0)
  }
  t.same(fails('a'), ['timer: a; the plugin keeps running'])
  t.equal(life.statusText, 'timer: a')
  await clock.advance(59_999)
  t.same(fails('a'), [])
  await clock.advance(1)
  t.equal(fails('a').length, 1)
  for (let n = 1; n < 64; n++) t.equal(fails(String(n)).length, 1)
  t.equal(fails('a').length, 0)
  t.equal(fails('64').length, 1)
  t.equal(fails('a').length, 1, 'forgotten')
  life.leftBehind(new Error('late'))
  t.match(lines, [/^uncaught error of something that was left open .*: late; nothing is stopped for it$/])
  t.equal(life.statusText, 'timer: a')
  life.ownStatus = 'listening'
  await clock.advance(3_599_999)
  t.equal(life.statusText, 'timer: a', 'news for an hour')
  await clock.advance(1)
  t.equal(life.statusText, 'listening', 'C6: a fault of long ago is no status')
})

t.test('an error that is found again within a minute of a reload was never gone', async (t) => {
  const clock = new ManualClock()
  await clock.advance(500_000)
  const life = new Instance({ name: 'wild' } as never, {} as never, clock, 0)
  t.equal(life.lastingSince('code', 'text'), undefined)
  life.before = { errors: [{ code: 'code', text: 'text', t: 7 } as never], at_ms: clock.monotonic() }
  await clock.advance(60_000)
  t.same(
    [life.lastingSince('code', 'text'), life.lastingSince('code', 'other'), life.lastingSince('other', 'text')],
    [7, undefined, undefined],
  )
  await clock.advance(1)
  t.equal(life.lastingSince('code', 'text'), undefined)
})
