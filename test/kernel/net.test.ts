import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { createTestStation, gateOnly, ManualClock, type TestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { readProxyHeader } from '../../runtime/gateway/net/peer.js'
import { Places } from '../../runtime/platform/fair-share/places.js'
import { queueOf } from '../../runtime/platform/ports/tcp-queues.js'
import {
  type AnyPlugin,
  type Connection,
  definePlugin,
  type Inherited,
  type Listener,
  type ListenOptions,
  type PluginContext,
} from '../../runtime/plugin.js'
import { drive, settled } from '../harness/drive.js'
import { createAuthority } from '../harness/peers/certificates.js'

t.setTimeout(900_000)

interface Service {
  /** The listener of the version that runs. */
  listener: Listener
  /** How many versions have started. */
  starts: number
  define(parts?: Partial<ServiceParts>): AnyPlugin
}
interface ServiceParts {
  options: Partial<ListenOptions>
  onConnection(connection: Connection, inherited: Inherited | undefined, ctx: PluginContext): unknown
  start(ctx: PluginContext): void | Promise<void>
  stop(): void | Promise<void>
  version: string
}

/** A plugin `caster` with one listener; what it does with connections is the test's. */
function service(): Service {
  const it: Service = {
    listener: undefined as unknown as Listener,
    starts: 0,
    define: (parts = {}) =>
      definePlugin({
        name: 'caster',
        version: parts.version ?? '1.0.0',
        api: '^1.0.0',
        setup() {},
        async start(ctx) {
          it.starts++
          const options = { name: 'rovers', host: '127.0.0.1', port: 0, maxPerAddress: 500, maxConnections: 500 }
          it.listener = ctx.net.listen({ ...options, ...parts.options }, (connection, inherited) =>
            parts.onConnection?.(connection, inherited, ctx),
          )
          await parts.start?.(ctx)
        },
        stop: () => parts.stop?.(),
      }) as AnyPlugin,
  }
  return it
}

/** A client that keeps what it got. */
class Client {
  readonly socket: Socket
  text = ''
  closed = false
  error: NodeJS.ErrnoException | undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (chunk) => {
      this.text += chunk
    })
    this.socket.on('error', (error) => {
      this.error = error
    })
    this.socket.on('close', () => {
      this.closed = true
    })
  }
}

async function portOf({ listener }: Service): Promise<number> {
  return (await listener.opened).port
}

async function stationWith(t: Test, plugin: AnyPlugin, others: Record<string, AnyPlugin> = {}) {
  const station = await createTestStation({ plugins: { caster: plugin, ...others } })
  t.teardown(() => station.stop())
  return station
}

/** The event loop turns so often. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setTimeout(resolve, 1))
}

const echo = (connection: Connection) => connection.onData((bytes) => connection.write(bytes))
const stateOf = (station: TestStation) => station.station.plugins().find(({ name }) => name === 'caster')

t.test('a reload drops nobody', async (t) => {
  t.test(
    '200 clients and 50 reloads: none dropped, none refused, no byte lost or doubled',
    { skip: gateOnly },
    async (t) => {
      const it = service()
      // Streams a counter at 10 Hz of real time, and echoes lines; each has its own sequence without a gap.
      const onConnection = (connection: Connection, inherited: Inherited | undefined) => {
        type State = { next: number; due_ms: number; partial: string }
        const state = (inherited?.state ?? { next: 0, due_ms: performance.now(), partial: '' }) as State
        const ticks = setInterval(() => {
          if (performance.now() < state.due_ms) return
          connection.write(`t${state.next++}\n`)
          state.due_ms += 100
        }, 10)
        t.teardown(() => clearInterval(ticks))
        connection.onData((bytes) => {
          const lines = (state.partial + bytes.toString('latin1')).split('\n')
          state.partial = lines.pop() ?? ''
          for (const line of lines) connection.write(`e${line}\n`)
        })
        connection.onClose(() => clearInterval(ticks))
        connection.inheritable(() => {
          clearInterval(ticks)
          return state
        })
      }
      // The event loop turns while the plugin is away: clients connect and write then, too.
      const stop = () => turns(10)
      const plugin = it.define({ options: { inherits: true }, onConnection, stop })
      const station = await stationWith(t, plugin)
      const port = await portOf(it)

      const clients: { client: Client; sent: number }[] = []
      const join = () => clients.push({ client: new Client(port), sent: 0 })
      for (let i = 0; i < 200; i++) join()
      await until(() => it.listener.connections === 200, '200 connections')
      // Everybody writes all the time, in pieces that split lines.
      const writing = setInterval(() => {
        for (const one of clients) {
          one.client.socket.write(`line `)
          one.client.socket.write(`${one.sent++}\n`)
        }
      }, 20)
      t.teardown(() => clearInterval(writing))
      let longest_ms = 0
      const all = () => clients.reduce((sum, { client }) => sum + client.text.length, 0)
      const started = performance.now()
      for (let i = 0; i < 50; i++) {
        const [before, heard] = [performance.now(), all()]
        const reload = station.reload('caster')
        join()
        await turns(5)
        join()
        await reload
        longest_ms = Math.max(longest_ms, performance.now() - before)
        await until(() => all() > heard, 'traffic')
      }
      const took_ms = performance.now() - started
      clearInterval(writing)
      const numbers = (text: string, kind: string) =>
        text
          .split('\n')
          .filter((line) => line.startsWith(kind))
          .map((line) => Number(line.replace(/^(t|eline )/, '')))
      await until(
        () =>
          clients.every(
            ({ client, sent }) => client.text.includes(`eline ${sent - 1}\n`) || client.closed || sent === 0,
          ),
        'the last echo',
      )
      await until(
        () => clients.every(({ client }) => numbers(client.text, 't').length > 1),
        'two ticks at the last one',
      )
      let [echoes, ticks] = [0, 0]
      const isSequence = (got: readonly number[]) => got.every((value, index) => value === index)
      for (const { client, sent } of clients) {
        if (client.closed || client.error) t.fail(`a client was dropped: ${client.error?.message}`)
        const gotEchoes = numbers(client.text, 'e')
        const gotTicks = numbers(client.text, 't')
        echoes += gotEchoes.length
        ticks += gotTicks.length
        if (gotEchoes.length !== sent || !isSequence(gotEchoes)) t.fail(`echoes: ${gotEchoes.length} of ${sent}`)
        if (!isSequence(gotTicks)) t.fail(`ticks: ${gotTicks}`)
      }
      t.equal(clients.length, 300)
      t.equal(it.starts, 51)
      t.equal(it.listener.connections, 300)
      t.ok(echoes > 1_000 && ticks >= 600)
      t.equal(it.listener.refused, 0)
      t.comment(
        `${echoes} echoes, ${ticks} ticks, 50 reloads in ${took_ms.toFixed(0)} ms, longest ${longest_ms.toFixed(0)} ms`,
      )
      for (const { client } of clients) client.socket.destroy()
    },
  )

  t.test('unread bytes and unsent bytes go along', async (t) => {
    const it = service()
    const mebibyte = Buffer.alloc(1 << 20, 'x')
    let release = () => {}
    const first = it.define({
      options: { inherits: true, maxBuffered_bytes: 64 << 20 },
      onConnection(connection) {
        connection.pause()
        for (let i = 0; i < 8; i++) connection.write(mebibyte)
        connection.inheritable(() => ({ unsent: connection.bufferedAmount }))
      },
    })
    const station = await stationWith(t, first)
    const client = new Client(await portOf(it))
    client.socket.pause()
    client.socket.write('early bytes')
    await until(() => it.listener.connections === 1, 'the connection')
    let [got, unsent] = ['', 0]
    station.define(
      'caster',
      it.define({
        options: { inherits: true, maxBuffered_bytes: 64 << 20 },
        async onConnection(connection, inherited) {
          unsent = (inherited as { state: { unsent: number } }).state.unsent
          await new Promise<void>((resolve) => {
            release = resolve
          })
          connection.onData((bytes) => {
            got += bytes.toString()
          })
          connection.write('the end')
        },
      }),
    )
    await station.reload('caster')
    t.ok(unsent > 0, `${unsent} bytes had not gone out`)
    client.socket.write(' and late bytes')
    t.equal(got, '', 'nothing is read before the handler is done')
    release()
    client.socket.resume()
    await until(() => client.text.endsWith('the end'), 'everything')
    t.equal(client.text.length, (8 << 20) + 7)
    await until(() => got === 'early bytes and late bytes', 'what was unread')
    client.socket.destroy()
  })

  t.test('whoever does not agree keeps nothing', async (t) => {
    for (const [what, inherits, gives] of [
      ['the new version does not want them', false, true],
      ['the old version does not give them', true, false],
    ] as const) {
      t.test(what, async (t) => {
        const it = service()
        const allInherited: unknown[] = []
        const plugin = it.define({
          options: { inherits },
          onConnection(connection, inherited) {
            allInherited.push(inherited)
            connection.write('hello\n')
            if (gives) connection.inheritable(() => 1)
          },
        })
        const station = await stationWith(t, plugin)
        const port = await portOf(it)
        const client = new Client(port)
        await until(() => client.text === 'hello\n', 'hello')
        await station.reload('caster')
        await until(() => client.closed, 'its end')
        t.equal(client.error, undefined, 'ended, not reset')
        const next = new Client(port)
        await until(() => next.text === 'hello\n', 'the port is the same')
        t.strictSame(allInherited, [undefined, undefined])
        next.socket.destroy()
      })
    }
  })

  t.test('a state that cannot be cloned costs that connection, and the plugin is named', async (t) => {
    const it = service()
    let count = 0
    const inherited: unknown[] = []
    const plugin = it.define({
      options: { inherits: true },
      onConnection(connection, given) {
        if (given) inherited.push(given.state)
        const bad = count++ === 0
        connection.write('hello\n')
        connection.inheritable(() => (bad ? { socket: connection.socket, run: () => {} } : { fine: true }))
      },
    })
    const station = await stationWith(t, plugin)
    const port = await portOf(it)
    const bad = new Client(port)
    await until(() => bad.text !== '', 'the first')
    const good = new Client(port)
    await until(() => good.text !== '', 'the second')
    await station.reload('caster')
    await until(() => bad.closed, 'the end of the bad one')
    t.notOk(good.closed)
    t.strictSame(inherited, [{ fine: true }])
    t.match(
      station.lines.find(({ msg }) => msg.includes('the state of a connection for the next version')),
      { plugin: 'caster', level: 50 },
    )
    good.socket.destroy()
  })

  t.test('a version that refuses to start: the old one gets its connections back', async (t) => {
    const it = service()
    const seen: unknown[] = []
    const onConnection = (connection: Connection, inherited: Inherited | undefined) => {
      seen.push(inherited?.state)
      echo(connection)
      connection.inheritable(() => seen.length)
    }
    const good = it.define({ options: { inherits: true }, onConnection })
    const station = await stationWith(t, good)
    const port = await portOf(it)
    const client = new Client(port)
    client.socket.write('one ')
    await until(() => client.text === 'one ', 'an echo')
    const bad = it.define({
      version: '2.0.0',
      options: { inherits: true },
      onConnection: () => t.fail('a version that does not run gets no connection'),
      start: () => Promise.reject(new Error('not today')),
    })
    station.define('caster', bad)
    await t.rejects(station.reload('caster'), { code: 'RTK_ERR_RELOAD_FAILED' })
    client.socket.write('two')
    await until(() => client.text === 'one two', 'the old version answers again')
    t.strictSame(seen, [undefined, 1])
    t.equal(await portOf(it), port)
    client.socket.destroy()
  })

  t.test('a version that hangs in stop: who connects meanwhile waits, 5 s at most', async (t) => {
    const it = service()
    const onConnection = (connection: Connection) => {
      connection.write('hello\n')
      connection.inheritable(() => 1)
    }
    const hanging = it.define({ options: { inherits: true }, onConnection, stop: () => new Promise(() => {}) })
    const station = await stationWith(t, hanging)
    const port = await portOf(it)
    const live = new Client(port)
    await until(() => live.text !== '', 'hello')
    station.define('caster', it.define({ options: { inherits: true }, onConnection }))
    const reload = station.reload('caster')
    await until(() => station.lines.some(({ msg }) => msg !== ''), 'the reload')
    const early = new Client(port)
    await until(() => it.listener.connections === 2, 'the early one')
    await station.clock.advance(4_000)
    const late = new Client(port)
    await until(() => it.listener.connections === 3, 'the late one')
    await station.clock.advance(1_500)
    await reload
    await until(() => early.closed, 'the early one lost patience')
    t.equal(early.text, '')
    await until(() => late.text === 'hello\n', 'the late one is served')
    t.notOk(live.closed)
    for (const { socket } of [live, late]) socket.destroy()
  })

  t.test('a version without the listener: everybody is sent away, the port is free', async (t) => {
    const it = service()
    const plugin = it.define({ onConnection: (connection) => connection.inheritable(() => 1) })
    const station = await stationWith(t, plugin)
    const port = await portOf(it)
    const client = new Client(port)
    await until(() => it.listener.connections === 1, 'the connection')
    station.define('caster', definePlugin({ name: 'caster', version: '2.0.0', api: '^1.0.0', setup() {} }))
    await station.reload('caster')
    await until(() => client.closed, 'its end')
    const late = new Client(port)
    await until(() => late.error?.code === 'ECONNREFUSED', 'nobody listens')
  })

  t.test('a version that listens elsewhere: the former address is free, connections go along', async (t) => {
    const it = service()
    const onConnection = (connection: Connection) => {
      connection.inheritable(() => 1)
      echo(connection)
    }
    const station = await stationWith(t, it.define({ onConnection, options: { inherits: true } }))
    const before = await portOf(it)
    const client = new Client(before)
    await until(() => it.listener.connections === 1, 'the connection')
    const elsewhere = { inherits: true, host: '0.0.0.0' }
    station.define('caster', it.define({ onConnection, options: elsewhere, version: '2.0.0' }))
    await station.reload('caster')
    const port = await portOf(it)
    t.not(port, before)
    const next = new Client(port)
    client.socket.write('still')
    next.socket.write('new')
    await until(() => client.text === 'still' && next.text === 'new', 'both are served')
    const late = new Client(before)
    await until(() => late.error?.code === 'ECONNREFUSED', 'the former address is given up')
    for (const { socket } of [client, next]) socket.destroy()
  })

  t.test('unload ends the connections after what was written; a stop of the station ends them at once', async (t) => {
    for (const end of ['unload', 'stop'] as const) {
      const it = service()
      const plugin = it.define({
        onConnection(connection) {
          connection.write('hello\n')
          connection.inheritable(() => 1)
        },
      })
      const station = await createTestStation({ plugins: { caster: plugin } })
      const client = new Client(await portOf(it))
      await until(() => client.text !== '', 'hello')
      if (end === 'unload') await station.unload('caster')
      await station.stop()
      await until(() => client.closed, `the end by ${end}`)
      t.equal(client.text, 'hello\n')
    }
  })

  t.test('callbacks after a reload are those of the new version, and their faults too', async (t) => {
    const it = service()
    const station = await stationWith(
      t,
      it.define({
        options: { inherits: true },
        onConnection(connection) {
          connection.onData(() => t.fail('the old version hears nothing more'))
          connection.onClose(() => t.fail('for the old version it is not closed'))
          connection.inheritable(() => 1)
        },
      }),
    )
    const client = new Client(await portOf(it))
    await until(() => it.listener.connections === 1, 'the connection')
    const instances: unknown[] = []
    station.define(
      'caster',
      it.define({
        version: '2.0.0',
        options: { inherits: true },
        onConnection(connection, _handed, ctx) {
          connection.onData(() => {
            // A timer of this version goes with this version: it is made on its behalf.
            ctx.timers.after(0, () => instances.push(ctx.signal.aborted))
            throw new Error('bad bytes')
          })
        },
      }),
    )
    await station.reload('caster')
    client.socket.write('x')
    await until(() => client.closed, 'a handler that fails costs the connection')
    await station.clock.advance(1)
    t.strictSame(instances, [false])
    t.match(stateOf(station), { state: 'running', version: '2.0.0', reason: /bad bytes/ })
  })
})

t.test('an address that is taken is tried again, reported, and fails no start', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const it = service()
  const station = await stationWith(t, it.define({ options: { port }, onConnection: echo }))
  t.match(stateOf(station), { state: 'running' })
  const errors = () => station.device.errors().filter(({ code }) => code === 'listen-rovers')
  await until(() => errors().length === 1, 'the report')
  t.match(errors()[0].text, /another program or plugin uses it; it is tried again/)
  t.equal(it.listener.address, undefined)
  await station.clock.advance(1_200)
  await new Promise((resolve) => other.close(resolve))
  await station.clock.advance(2_400)
  await until(() => it.listener.address?.port === port, 'the address')
  t.strictSame(errors(), [])
  const client = new Client(port)
  client.socket.write('hello')
  await until(() => client.text === 'hello', 'an echo')
  client.socket.destroy()
})

t.test('a listener moves: the new address first, connections stay; one that is taken is refused', async (t) => {
  const it = service()
  await stationWith(t, it.define({ onConnection: echo }))
  const before = await portOf(it)
  const client = new Client(before)
  await until(() => it.listener.connections === 1, 'the connection')
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port: taken } = other.address() as { port: number }
  await t.rejects(it.listener.move({ port: taken }), { code: 'RTK_ERR_NET_LISTEN', message: /another program/ })
  t.equal(it.listener.address?.port, before)
  await it.listener.move({ port: 0 })
  const after = it.listener.address?.port as number
  t.not(after, before)
  client.socket.write('still')
  const next = new Client(after)
  next.socket.write('new')
  await until(() => client.text === 'still' && next.text === 'new', 'both are served')
  const late = new Client(before)
  await until(() => late.error?.code === 'ECONNREFUSED', 'the old address is given up')
  // A port that is free on loopback may be taken on another address of the machine: the system picks one that is free on all.
  await it.listener.move({ host: '0.0.0.0', port: 0 })
  const everywhere = it.listener.address?.port as number
  await it.listener.move({ host: '127.0.0.1', port: everywhere })
  t.strictSame(it.listener.address, { host: '127.0.0.1', port: everywhere }, 'the same port on another address')
  for (const { socket } of [client, next]) socket.destroy()
})

t.test('limits', async (t) => {
  t.test('in all and per address: refused, counted, one line a minute', async (t) => {
    for (const [options, why] of [
      [{ maxConnections: 3 }, '3 are open'],
      [{ maxPerAddress: 3 }, '127.0.0.1 has 3'],
    ] as const) {
      const it = service()
      const station = await stationWith(t, it.define({ options, onConnection: echo }))
      const port = await portOf(it)
      const kept = [1, 2, 3].map(() => new Client(port))
      await until(() => it.listener.connections === 3, 'three')
      const flood = Array.from({ length: 300 }, () => new Client(port))
      // Bounded: what is not refused stays open.
      await until(() => flood.every(({ closed }) => closed), 'refused').catch(() => {})
      t.equal(it.listener.refused, 300)
      const lines = station.lines.filter(({ msg }) => msg.includes('refused'))
      t.equal(lines.length, 1)
      t.match(lines[0], { plugin: 'caster', msg: new RegExp(why) })
      kept[0].socket.end('bye')
      await until(() => it.listener.connections === 2, 'room')
      const next = new Client(port)
      next.socket.write('hi')
      await until(() => next.text === 'hi', 'served')
      // Also while the plugin is away.
      station.define('caster', it.define({ options: { ...options, inherits: true }, stop: () => turns(20) }))
      await station.reload('caster')
      const reload = station.reload('caster')
      const meanwhile = Array.from({ length: 10 }, () => new Client(port))
      const refused = () => meanwhile.filter(({ closed }) => closed).length
      await until(() => refused() >= 7, 'refused as well').catch(() => {})
      t.ok(refused() >= 7, `${refused()} are refused as well`)
      await reload
      for (const { socket } of meanwhile) socket.destroy()
      for (const { socket } of [...kept, next]) socket.destroy()
    }
  })

  t.test('when all places are taken, the address with most of them makes room for others', async (t) => {
    const lines: string[] = []
    const clock = new ManualClock()
    const places = new Places(clock, (refused, why) => void lines.push(`${refused}: ${why}`))
    const limits = { maxConnections: 10, maxPerAddress: 8, keptForLoopback: 1 }
    const ended: string[] = []
    const enter = (address: string, name: string) => places.enter(address, limits, () => void ended.push(name))
    for (let n = 1; n <= 6; n++) enter('192.0.2.1', `big ${n}`)
    for (let n = 1; n <= 3; n++) enter('192.0.2.2', `small ${n}`)
    t.ok(enter('192.0.2.3', 'new'))
    t.same(ended, ['big 6'], 'its newest one ends')
    t.equal(places.open, 9)
    t.ok(enter('192.0.2.3', 'new'))
    t.ok(enter('192.0.2.3', 'new'))
    t.same(ended, ['big 6', 'big 5', 'big 4'])
    t.equal(enter('192.0.2.3', 'new'), undefined, 'nobody has two more than it would have')
    const leave = enter('127.0.0.1', 'proxy')
    t.ok(leave, 'the place of this machine')
    leave?.()
    leave?.()
    t.equal(places.open, 9, 'who leaves twice is counted once')
    t.same(
      lines,
      ['1: 9 are open, the address with most of them (192.0.2.1) makes room for others'],
      'one line a minute',
    )
  })

  for (const limit of [{ maxPerAddress: 2 }, { maxConnections: 2 }])
    t.test(
      `${JSON.stringify(limit)}: a client that comes back takes the place of its own connection that acknowledges nothing`,
      async (t) => {
        const it = service()
        const taken: Connection[] = []
        const options = { ...limit, maxBuffered_bytes: 16_000_000 }
        const station = await stationWith(t, it.define({ options, onConnection: (one) => void taken.push(one) }))
        const port = await portOf(it)
        const clients = [new Client(port), new Client(port)]
        await until(() => taken.length === 2, 'two')
        const [alive, dead] = clients
        const isDead = ({ remotePort }: Connection) => remotePort === dead.socket.localPort
        dead.socket.pause()
        // More than the buffers of both ends take.
        taken.find(isDead)?.write(Buffer.alloc(12_000_000))
        const seconds = async (count: number) => {
          for (let n = 0; n < count; n++) {
            for (const one of taken) if (!one.closed) one.write('a second')
            await settled()
            // The system may acknowledge 40 ms later, in which nothing works.
            for (const one of taken.filter((one) => !one.closed && !isDead(one)))
              await until(async () => !(await queueOf({ localPort: port, remotePort: one.remotePort })), 'it has them')
            await station.clock.advance(1_000)
          }
        }
        await seconds(9)
        const early = new Client(port)
        await until(() => early.closed, 'refused: it may be a slow one')
        await seconds(7)
        t.same(await Promise.all(taken.map(async (one) => (await one.isCut()) === isDead(one))), [true, true])
        const next = new Client(port)
        await until(() => taken.length === 3, 'it is let in')
        await until(() => taken.find(isDead)?.closed, 'its place')
        const flood = [1, 2, 3].map(() => new Client(port))
        await until(() => flood.every(({ closed }) => closed), 'no other one is cut')
        await seconds(1)
        t.notOk(alive.closed || next.closed)
        for (const { socket } of clients) socket.destroy()
      },
    )

  t.test('a client that does not read is cut off before it fills the memory; the others go on', async (t) => {
    const it = service()
    const limit = 256 << 10
    const station = await stationWith(
      t,
      it.define({
        options: { maxBuffered_bytes: limit },
        onConnection(connection, _handed, ctx) {
          const block = Buffer.alloc(65_536, 'x')
          let reason = ''
          connection.onClose((error) => {
            reason = error?.message ?? ''
            if (reason) ctx.status(reason)
          })
          connection.onData((bytes) => {
            if (String(bytes) === 'flood') for (let i = 0; i < 1_000; i++) connection.write(block)
            else connection.write(bytes)
            t.ok(connection.bufferedAmount <= limit + block.length)
          })
        },
      }),
    )
    const port = await portOf(it)
    const [deaf, fine] = [new Client(port), new Client(port)]
    deaf.socket.pause()
    deaf.socket.write('flood')
    await until(
      () => stateOf(station)?.reason.includes('does not read: more than 262144 bytes'),
      'the deaf one is gone',
    )
    fine.socket.write('hello')
    await until(() => fine.text === 'hello', 'an echo')
    deaf.socket.destroy()
    fine.socket.destroy()
  })

  t.test('a quiet connection is ended after idle_ms, one with traffic is not', async (t) => {
    const it = service()
    const station = await stationWith(t, it.define({ options: { idle_ms: 10_000 }, onConnection: echo }))
    const port = await portOf(it)
    const [quiet, busy] = [new Client(port), new Client(port)]
    await until(() => it.listener.connections === 2, 'both')
    for (let i = 1; i <= 4; i++) {
      busy.socket.write('x')
      await until(() => busy.text.length === i, 'an echo')
      t.notOk(quiet.closed)
      await station.clock.advance(i < 4 ? 3_000 : 4_000)
    }
    await until(() => quiet.closed, 'the end of the quiet one, within a quarter of its time')
    t.notOk(busy.closed)
    busy.socket.destroy()
  })

  t.test(
    'a client that asks and sends nothing more gets an answer that takes time; it is ended with it, or after 10 s',
    async (t) => {
      const it = service()
      const asked: Connection[] = []
      const onConnection = (connection: Connection) =>
        connection.onData(() => {
          connection.pause()
          asked.push(connection)
        })
      const station = await stationWith(t, it.define({ onConnection }))
      const port = await portOf(it)
      const clients = [0, 1, 2].map(() => new Client(port))
      for (const { socket } of clients.slice(0, 2)) socket.end('who?')
      await until(() => asked.length === 2, 'two questions')
      clients[2].socket.end()
      await until(() => clients[2].closed, 'nothing was asked')
      await settled()
      t.equal(it.listener.connections, 2)
      asked[0].write('me, ')
      asked[0].write('and more')
      const answered = clients.find(({ socket }) => socket.localPort === asked[0].remotePort)
      const forgotten = clients.find(({ socket }) => socket.localPort === asked[1].remotePort)
      await until(() => answered?.closed, 'the end of the answer')
      t.equal(answered?.text, 'me, and more')
      await station.clock.advance(9_000)
      t.equal(it.listener.connections, 1)
      await station.clock.advance(1_000)
      await until(() => forgotten?.closed, 'the end of patience')
      t.equal(it.listener.connections, 0)
    },
  )

  t.test('resets, half-open clients and garbage leave the plugin running', async (t) => {
    const it = service()
    const closed: (Error | undefined)[] = []
    const station = await stationWith(
      t,
      it.define({
        onConnection(connection) {
          echo(connection)
          connection.onClose((error) => closed.push(error))
        },
      }),
    )
    const port = await portOf(it)
    const rude = Array.from({ length: 50 }, () => new Client(port))
    await until(() => it.listener.connections === 50, 'all of them')
    for (const { socket } of rude) {
      socket.write('x'.repeat(1_000))
      socket.resetAndDestroy()
    }
    const halfOpen = new Client(port)
    halfOpen.socket.end('last words')
    await until(() => halfOpen.closed && halfOpen.text === 'last words', 'the answer after its end')
    await until(() => closed.length === 51, 'every end is reported once')
    t.equal(it.listener.connections, 0)
    t.match(stateOf(station), { state: 'running' })
  })
})

t.test('a handler that fails costs its connection alone', async (t) => {
  for (const fail of [
    () => {
      throw new Error('no thanks')
    },
    () => Promise.reject(new Error('no thanks')),
  ]) {
    const it = service()
    const station = await stationWith(t, it.define({ onConnection: fail }))
    const client = new Client(await portOf(it))
    await until(() => client.closed, 'its end')
    t.match(stateOf(station), { state: 'running', reason: /a new connection: no thanks/ })
  }
})

/** Fails with a sentence where a peer would wait for ever. */
async function within<T>(what: Promise<T>, text: string): Promise<T> {
  let isOver = false
  void what.finally(() => {
    isOver = true
  })
  await until(() => isOver, text)
  return what
}

t.test('TLS', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-net-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const authority = createAuthority(folder)
  const read = ({ cert, key }: { cert: string; key: string }) => ({
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
  })
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost\n'
  const identities = ['first', 'second'].map((name) => read(authority.issue(name, `/CN=${name}`, names)))
  const ca = readFileSync(authority.ca, 'utf8')
  const open = async (port: number, more = {}) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca, ...more })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    return socket
  }
  const it = service()
  let now = 0
  const plugin = it.define({
    options: { inherits: true, tls: () => identities[now] },
    onConnection(connection) {
      echo(connection)
      connection.inheritable(() => 1)
    },
  })
  const station = await stationWith(t, plugin)
  const port = await portOf(it)

  t.test('handshakes that are only begun are few for each address, hold no place, and end after 10 s', async (t) => {
    const halfOpen = Array.from({ length: 30 }, () => new Client(port))
    await until(() => halfOpen.filter(({ closed }) => closed).length === 22, 'all but 8 are refused')
    t.equal(it.listener.connections, 0)
    const other = await within(open(port, { localAddress: '127.0.0.2' }), 'another address gets its place')
    await until(() => it.listener.connections === 1, 'another address')
    other.destroy()
    const lines = station.lines.filter(({ msg }) => msg.includes('handshake(s) refused'))
    t.equal(lines.length, 1)
    await station.clock.advance(10_000)
    await until(() => halfOpen.every(({ closed }) => closed), 'their end')
    const client = await within(open(port), 'the address has places again')
    client.destroy()
    await until(() => it.listener.connections === 0, 'nobody')
  })

  t.test('live connections survive a reload, the certificate can be renewed', async (t) => {
    const client = await open(port)
    t.equal(client.getPeerCertificate().subject.CN, 'first')
    const plain = new Client(port)
    plain.socket.write('GET / HTTP/1.0\r\n\r\n')
    await until(() => plain.closed, 'plain text is no handshake')
    now = 1
    it.listener.renew()
    const next = await open(port)
    t.equal(next.getPeerCertificate().subject.CN, 'second')
    await station.reload('caster')
    client.write('still here')
    const [answer] = (await once(client, 'data')) as [Buffer]
    t.equal(String(answer), 'still here')
    for (const socket of [client, next]) socket.destroy()
  })

  t.test('a certificate that is no certificate is reported and tried again', async (t) => {
    const broken = service()
    let material = { cert: 'none', key: 'none' }
    const clock = new ManualClock()
    const other = await createTestStation({
      clock,
      plugins: { caster: broken.define({ options: { tls: () => material } }) },
    })
    t.teardown(() => other.stop())
    await until(() => other.device.errors().length > 0, 'the report')
    material = identities[0]
    await clock.advance(2_000)
    await broken.listener.opened
    t.strictSame(other.device.errors(), [])
  })

  t.test('clients without a certificate are refused where one is asked for', async (t) => {
    const strict = service()
    const tls = { ...identities[0], ca, requestCert: true }
    await stationWith(t, strict.define({ options: { tls }, onConnection: echo }))
    const strictPort = await portOf(strict)
    const stranger = connectTls({ port: strictPort, host: '127.0.0.1', ca })
    let ended = false
    stranger.on('error', () => {})
    stranger.on('close', () => {
      ended = true
    })
    await until(() => ended, 'refused')
    const known = await open(strictPort, read(authority.issue('rover', '/CN=rover', 'extendedKeyUsage=clientAuth\n')))
    known.write('x')
    await once(known, 'data')
    known.destroy()
  })
})

t.test('two versions of what an author can get wrong', async (t) => {
  const early = definePlugin({
    name: 'early',
    version: '1.0.0',
    api: '^1.0.0',
    setup: (ctx) => void ctx.net.listen({ name: 'x', host: '127.0.0.1', port: 0 }, () => {}),
  })
  const twice = definePlugin({
    name: 'twice',
    version: '1.0.0',
    api: '^1.0.0',
    setup() {},
    start(ctx) {
      ctx.net.listen({ name: 'x', host: '127.0.0.1', port: 0 }, () => {})
      ctx.net.listen({ name: 'x', host: '127.0.0.1', port: 0 }, () => {})
    },
  })
  const station = await createTestStation({ plugins: { early, twice } as Record<string, AnyPlugin> })
  t.teardown(() => station.stop())
  t.match(station.station.plugins(), [
    { state: 'failed', reason: /open it in start/ },
    { state: 'failed', reason: /is open already/ },
  ])
})

t.test('the PROXY protocol', async (t) => {
  const v2 = (command: number, family: number, body: Buffer, length = body.length) => {
    const head = Buffer.from([
      13,
      10,
      13,
      10,
      0,
      13,
      10,
      81,
      85,
      73,
      84,
      10,
      command,
      family,
      length >> 8,
      length & 255,
    ])
    return Buffer.concat([head, body])
  }
  const four = Buffer.from([192, 0, 2, 7, 192, 0, 2, 1, 0xc3, 0x50, 0x08, 0x35])
  const six = Buffer.concat([
    Buffer.from('20010db8000000000000000000000007', 'hex'),
    Buffer.alloc(16),
    four.subarray(8),
  ])
  const mapped = Buffer.concat([
    Buffer.from('00000000000000000000ffffc0000207', 'hex'),
    Buffer.alloc(16),
    four.subarray(8),
  ])
  const peer = { address: '192.0.2.7', port: 50_000 }
  const longest = `PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`

  t.test('headers, in pieces of any size', (t) => {
    const good: [Buffer, object | undefined][] = [
      [Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 50000 2101\r\n'), peer],
      [Buffer.from('PROXY TCP6 2001:db8::7 ::1 50000 2101\r\n'), { address: '2001:db8::7', port: 50_000 }],
      [Buffer.from('PROXY TCP6 ::ffff:192.0.2.7 ::1 50000 2101\r\n'), peer],
      [Buffer.from(longest), { port: 65_535 }],
      [Buffer.from('PROXY UNKNOWN ffff::1 whatever\r\n'), undefined],
      [v2(0x21, 0x11, four), peer],
      [v2(0x21, 0x21, six), { address: '2001:db8::7', port: 50_000 }],
      [v2(0x21, 0x21, mapped), peer],
      [v2(0x21, 0x11, Buffer.concat([four, Buffer.alloc(200)])), peer],
      [v2(0x20, 0x00, Buffer.alloc(0)), undefined],
    ]
    for (const [bytes, found] of good) {
      const whole = readProxyHeader(Buffer.concat([bytes, Buffer.from('GET /')]))
      t.match(whole, { length: bytes.length, ...(found && { peer: found }) })
      t.equal(typeof whole === 'object' && 'peer' in whole, found !== undefined)
      for (let length = 0; length < bytes.length; length++)
        t.equal(readProxyHeader(bytes.subarray(0, length)), 'more', `${length} bytes`)
    }
    for (const bad of [
      Buffer.from('GET / HTTP/1.1\r\n'),
      Buffer.from('\r\n\r\n\0\r\nQUIX'),
      Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 50000\r\n'),
      Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 50000 2101 x\r\n'),
      Buffer.from('PROXY TCP4 2001:db8::7 ::1 50000 2101\r\n'),
      Buffer.from('PROXY TCP4 192.0.2.700 192.0.2.1 50000 2101\r\n'),
      Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 65536 2101\r\n'),
      Buffer.from('PROXY TCP4 192.0.2.7 192.0.2.1 -1 2101\r\n'),
      Buffer.from('PROXY UDP4 192.0.2.7 192.0.2.1 50000 2101\r\n'),
      Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`),
      v2(0x21, 0x11, four.subarray(1)),
      v2(0x21, 0x00, four),
      v2(0x21, 0x12, four),
      v2(0x22, 0x11, four),
      v2(0x11, 0x11, four),
      v2(0x21, 0x11, four, 65_535),
    ])
      t.equal(readProxyHeader(bad), 'wrong', bad.toString('latin1'))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => readProxyHeader(Buffer.from(bytes)) !== undefined),
    )
    t.end()
  })

  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-net-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const authority = createAuthority(folder)
  const files = authority.issue('proxied', '/CN=proxied', 'subjectAltName=IP:127.0.0.1\n')
  const identity = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  const ca = readFileSync(authority.ca, 'utf8')
  for (const tls of [undefined, identity])
    t.test(
      `a named proxy speaks for its clients${tls ? ', below TLS' : ''}: limits and plugins see those`,
      async (t) => {
        const it = service()
        const onConnection = (one: Connection) =>
          one.onData((bytes) => one.write(`${one.remoteAddress} ${one.remotePort} ${bytes}`))
        const options = { maxPerAddress: 2, ...(tls && { tls }) }
        const variant = { net: { proxies: ['127.0.0.2'] } }
        const station = await createTestStation({ variant, plugins: { caster: it.define({ options, onConnection }) } })
        t.teardown(() => station.stop())
        const port = await portOf(it)
        const sockets: Socket[] = []
        t.teardown(() => {
          for (const socket of sockets) socket.destroy()
        })
        /** @returns what the plugin says, or '' where the connection ends */
        const ask = async (header: string | Buffer, localAddress = '127.0.0.2') => {
          const raw = connect({ port, host: '127.0.0.1', localAddress })
          raw.on('error', () => {})
          sockets.push(raw)
          if (header.length > 0) raw.write(header)
          const socket = tls ? connectTls({ socket: raw, ca, host: '127.0.0.1' }) : raw
          socket.on('error', () => {})
          socket.write('hello')
          return new Promise<string>((resolve) => {
            socket.once('data', (bytes) => resolve(String(bytes)))
            socket.once('close', () => resolve(''))
          })
        }
        t.equal(await ask('PROXY TCP4 192.0.2.7 192.0.2.1 50000 2101\r\n'), '192.0.2.7 50000 hello')
        t.equal(await ask(v2(0x21, 0x11, four)), '192.0.2.7 50000 hello')
        t.equal(await ask(v2(0x21, 0x11, four)), '', 'its third connection')
        t.equal(await ask(v2(0x21, 0x21, six)), '2001:db8::7 50000 hello', 'another one behind the proxy')
        t.match(await ask('PROXY UNKNOWN\r\n'), /^127\.0\.0\.2 \d+ hello/)
        t.equal(await ask(''), '', 'a proxy that does not say for whom')
        t.match(station.lines.at(-1), {
          plugin: 'caster',
          msg: /127\.0\.0\.2 is refused: .*does not begin with a PROXY header/,
        })
        if (!tls)
          t.match(await ask('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n', '127.0.0.3'), /^127\.0\.0\.3 \d+ PROXY/, 'no proxy')
        else t.equal(await ask('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n', '127.0.0.3'), '', 'no proxy')
        const silent = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
        sockets.push(silent)
        let isOver = false
        silent.on('close', () => {
          isOver = true
        })
        silent.write('PROXY')
        await drive(station.clock, () => isOver, 'the end of a header that does not come')
        t.match(station.lines.at(-1), { msg: /no PROXY header within 5 s/ })
      },
    )
})
