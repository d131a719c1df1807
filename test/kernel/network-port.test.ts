/** The contract of a `NetworkPort`: one table of behaviour, on the real network and on that in memory. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { createTestStation, ManualClock, MemoryNetwork, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import type { DatagramSocket, NetworkPort, Socket } from '../../runtime/platform/ports/network.js'
import { systemNetwork } from '../../runtime/platform/ports/system-network.js'
import { type AnyPlugin, definePlugin } from '../../runtime/plugin.js'
import { createAuthority } from '../harness/peers/certificates.js'

interface World {
  /** Two hosts, or this machine twice. */
  readonly near: NetworkPort
  readonly far: NetworkPort
  /** Of `far`. */
  readonly address: string
  /** More than both systems keep. */
  readonly much_bytes: number
  /** Lets what is under way arrive. */
  until(condition: () => unknown, what: string): Promise<void>
}

const systemWorld = (): World => ({
  near: systemNetwork,
  far: systemNetwork,
  address: '127.0.0.1',
  much_bytes: 40_000_000,
  until,
})

function memoryWorld(): World & { clock: ManualClock; network: MemoryNetwork } {
  const clock = new ManualClock()
  const network = new MemoryNetwork(clock, { latency_ms: 20 })
  const [near, far] = [network.host(['10.0.0.1']), network.host(['10.0.0.2'], ['caster.example'])]
  const driven = (condition: () => unknown, what: string) =>
    until(async () => {
      await clock.advance(10)
      return condition()
    }, what)
  return { clock, network, near, far, address: '10.0.0.2', much_bytes: 1_000_000, until: driven }
}

/** What a socket gets, and how it ends. */
function kept(socket: Socket) {
  const seen = { bytes: Buffer.alloc(0), connected: false, ended: false, closed: false, code: '' }
  socket.on('connect', () => Object.assign(seen, { connected: true }))
  socket.on('data', (bytes) => {
    seen.bytes = Buffer.concat([seen.bytes, bytes])
  })
  socket.on('end', () => Object.assign(seen, { ended: true }))
  socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => Object.assign(seen, { code }))
  socket.on('close', () => Object.assign(seen, { closed: true }))
  return seen
}

/** A connection: both ends. */
async function connection(t: Test, { near, far, address, until }: World, halfOpen = false) {
  const accepted: Socket[] = []
  const bound = await far.bind({ host: address, port: 0, halfOpen }, (socket) => void accepted.push(socket))
  t.teardown(() => bound.close())
  const socket = near.dial({ host: address, port: bound.address.port })
  t.teardown(() => socket.destroy())
  const seen = kept(socket)
  await until(() => seen.connected && accepted.length === 1, 'the connection')
  const other = accepted[0] as Socket
  t.teardown(() => other.destroy())
  return { bound, socket, other, seen }
}

for (const [name, open] of [
  ['the network of this machine', systemWorld],
  ['a network in memory', memoryWorld],
] as const)
  t.test(name, async (t) => {
    t.test('both ends know each other, and get what was written, in order', async (t) => {
      const world = open()
      const { bound, socket, other, seen } = await connection(t, world)
      const at = kept(other)
      t.same(
        [bound.address.host, socket.remoteAddress, socket.remotePort],
        [world.address, world.address, bound.address.port],
      )
      t.same([other.remoteAddress, other.remotePort], [socket.localAddress, socket.localPort])
      t.equal(socket.remoteFamily, 'IPv4')
      for (let n = 0; n < 100; n++) socket.write(`${n} `)
      socket.cork()
      socket.write('a')
      socket.write(Buffer.from('b'))
      socket.uncork()
      other.write('answer')
      await world.until(() => at.bytes.toString().endsWith('ab') && seen.bytes.length === 6, 'the bytes')
      t.equal(at.bytes.toString(), `${Array.from({ length: 100 }, (_, n) => `${n} `).join('')}ab`)
      t.same([other.bytesRead, socket.bytesWritten], [at.bytes.length, at.bytes.length])
    })

    t.test('an end reaches the other side after the bytes; half open, the answer still comes', async (t) => {
      const world = open()
      const { socket, other, seen } = await connection(t, world, true)
      const at = kept(other)
      socket.end('question')
      await world.until(() => at.ended, 'the end')
      t.equal(at.bytes.toString(), 'question')
      other.end('late answer')
      await world.until(() => seen.closed && at.closed, 'both ends are closed')
      t.equal(seen.bytes.toString(), 'late answer')
    })

    t.test('TLS on an accepted connection: both ends know each other, and it ends in time', async (t) => {
      const { near, far, address, until } = open()
      const authority = createAuthority(t.testdir())
      const { cert, key } = authority.issue('host', '/CN=host.example', 'subjectAltName=DNS:host.example\n')
      const [ca, ...own] = [authority.ca, cert, key].map((file) => readFileSync(file))
      const served: TLSSocket[] = []
      const secure = createTlsServer({ cert: own[0], key: own[1] }, (socket) => void served.push(socket))
      const bound = await far.bind({ host: address, port: 0 }, (raw) => void secure.emit('connection', raw))
      t.teardown(() => bound.close())
      const socket = near.dial({ host: address, port: bound.address.port, tls: { ca, servername: 'host.example' } })
      t.teardown(() => socket.destroy())
      const seen = kept(socket)
      await until(() => served.length === 1, 'the handshake')
      const other = served[0] as TLSSocket
      other.on('data', (bytes) => other.write(`${bytes}?`))
      const ends = ({ localAddress, localPort, remoteAddress, remotePort }: Socket) => [
        `${localAddress} ${localPort}`,
        `${remoteAddress} ${remotePort}`,
      ]
      t.same(ends(other), ends(socket).reverse())
      t.match(ends(socket)[1], `${address} ${bound.address.port}`)
      socket.write('question')
      await until(() => seen.bytes.length === 9, 'the answer')
      t.equal(seen.bytes.toString(), 'question?')
      other.setTimeout(100, () => other.end())
      await until(() => seen.closed, 'the end')
    })

    t.test('a server that is not half open ends with its client', async (t) => {
      const world = open()
      const { socket, other, seen } = await connection(t, world)
      const at = kept(other)
      socket.end()
      await world.until(() => seen.closed && at.closed, 'both')
      t.same([seen.code, at.code], ['', ''])
    })

    t.test('where nobody listens the connection is refused, and an address is listened to once', async (t) => {
      const { near, far, address, until } = open()
      const bound = await far.bind({ host: address, port: 0 }, () => {})
      const { port } = bound.address
      await t.rejects(
        far.bind({ host: address, port }, () => {}),
        { code: 'EADDRINUSE' },
      )
      await bound.close()
      const seen = kept(near.dial({ host: address, port }))
      await until(() => seen.closed, 'the refusal')
      t.match(seen, { code: 'ECONNREFUSED', connected: false })
      const again = await far.bind({ host: address, port }, () => {})
      t.equal(again.address.port, port, 'the address is free at once')
      await again.close()
      await t.rejects(
        far.bind({ host: '203.0.113.77', port: 0 }, () => {}),
        { code: 'EADDRNOTAVAIL' },
      )
    })

    t.test('a closed server keeps its connections', async (t) => {
      const world = open()
      const { bound, other, seen } = await connection(t, world)
      await bound.close()
      other.write('still here')
      await world.until(() => seen.bytes.length > 0, 'bytes')
      t.equal(seen.bytes.toString(), 'still here')
    })

    t.test('a reader that pauses holds the writer back, and loses nothing', async (t) => {
      const world = open()
      const { socket, other } = await connection(t, world)
      const block = Buffer.alloc(65_536, 7)
      let drains = 0
      other.pause()
      socket.on('drain', () => drains++)
      let written = 0
      for (; written < world.much_bytes; written += block.length) socket.write(block)
      for (let n = 0; n < 10; n++) await world.until(() => true, 'some time')
      t.ok(socket.writableLength > 0, 'bytes wait in the process')
      t.equal(drains, 0)
      let read = 0
      other.on('data', ({ length }) => {
        read += length
      })
      other.resume()
      await world.until(() => drains > 0 && socket.writableLength === 0, 'the drain')
      await world.until(() => read === written, 'everything')
    })

    t.test('a reset cuts the other end off', async (t) => {
      const world = open()
      const { other, seen } = await connection(t, world)
      other.resetAndDestroy()
      await world.until(() => seen.closed, 'the reset')
      t.equal(seen.code, 'ECONNRESET')
    })

    t.test('a connection that is given up while it is made reports nothing', async (t) => {
      const { near, far, address, until } = open()
      let accepted: Socket | undefined
      const bound = await far.bind({ host: address, port: 0 }, (socket) => {
        accepted = socket
      })
      t.teardown(() => bound.close())
      const socket = near.dial({ host: address, port: bound.address.port })
      const seen = kept(socket)
      socket.destroy()
      await until(() => seen.closed, 'the close')
      t.match(seen, { connected: false, code: '' })
      accepted?.destroy()
    })

    t.test('names are resolved by the caller’s function, and tried in order', async (t) => {
      const { near, far, address, until } = open()
      const bound = await far.bind({ host: address, port: 0 }, (socket) => void socket.end('hello'))
      t.teardown(() => bound.close())
      const asked: string[] = []
      const resolve = async (host: string) => {
        asked.push(host)
        return [{ address, family: 4 as const }]
      }
      const seen = kept(near.dial({ host: 'a.example', port: bound.address.port, resolve }))
      await until(() => seen.closed, 'the answer')
      t.same([asked, seen.bytes.toString()], [['a.example'], 'hello'])
      const unknown = kept(
        near.dial({ host: 'a.example', port: 1, resolve: () => Promise.reject(new Error('no DNS')) }),
      )
      await until(() => unknown.closed, 'the failure')
      const empty = kept(near.dial({ host: 'a.example', port: 1, resolve: async () => [] }))
      await until(() => empty.closed, 'the end of a name without an address')
      t.equal(empty.code, 'ENOTFOUND')
      t.same(await near.resolve('127.0.0.1'), [{ address: '127.0.0.1', family: 4 }])
      await t.rejects(near.resolve('nobody.invalid'), { code: /^(ENOTFOUND|EAI_AGAIN)$/ })
    })

    t.test('datagrams arrive in order, with their sender', async (t) => {
      const { near, far, address, until } = open()
      const [one, other] = [
        await near.datagram({ host: '0.0.0.0', port: 0 }),
        await far.datagram({ host: address, port: 0 }),
      ]
      const got: string[] = []
      other.on('message', (bytes, from) => {
        got.push(bytes.toString())
        other.send(bytes, from.port, from.address)
      })
      const back: string[] = []
      one.on('message', (bytes) => back.push(bytes.toString()))
      const { port } = other.address()
      for (let n = 0; n < 20; n++) one.send(Buffer.from(`x${n}`), 1, `${n}`.length, port, address)
      await until(() => back.length === 20, 'all of them')
      t.same(
        got,
        Array.from({ length: 20 }, (_, n) => `${n}`),
      )
      t.same(back, got)
      await t.rejects(far.datagram({ host: address, port }), { code: 'EADDRINUSE' })
      for (const socket of [one, other]) await new Promise<void>((closed) => socket.close(() => closed()))
      t.throws(() => one.close(), { code: 'ERR_SOCKET_DGRAM_NOT_RUNNING' })
      const again = await far.datagram({ host: address, port })
      again.close()
    })
  })

t.test('in memory: latency, silence, no route and cuts', async (t) => {
  const world = memoryWorld()
  const { clock, network, near, address } = world
  const { bound, socket, other, seen } = await connection(t, world)
  other.write('late')
  await clock.advance(19)
  t.equal(seen.bytes.length, 0)
  await clock.advance(1)
  t.equal(seen.bytes.toString(), 'late')

  network.line('10.0.0.1', address, { state: 'silent' })
  socket.write('lost')
  const dialled = kept(near.dial({ host: 'caster.example', port: bound.address.port }))
  await clock.advance(120_000)
  t.match([seen, dialled], [{ closed: false }, { closed: false }], 'nobody knows')
  await clock.advance(10_000)
  t.match(dialled, { closed: true, code: 'ETIMEDOUT' })

  network.line('10.0.0.1', address, { state: 'unreachable' })
  const without = kept(near.dial({ host: address, port: bound.address.port }))
  await clock.advance(0)
  t.match(without, { closed: true, code: 'EHOSTUNREACH' })

  network.line('10.0.0.1', address, {})
  network.cut('10.0.0.1', address)
  await clock.advance(0)
  t.match(seen, { closed: true, code: 'ECONNRESET' })
  t.ok(other.destroyed)

  const lost: number[] = []
  network.line('10.0.0.1', address, { loses: (bytes) => bytes[0] === 1 })
  const [from, to] = [
    await near.datagram({ host: '0.0.0.0', port: 0 }),
    await world.far.datagram({ host: address, port: 7 }),
  ]
  to.on('message', ([first = 0]) => lost.push(first))
  for (const n of [0, 1, 2]) from.send(Buffer.from([n]), 7, address)
  await clock.advance(20)
  t.same(lost, [0, 2])
})

t.test('in memory: TLS, and the time limit of a socket', async (t) => {
  const world = memoryWorld()
  const { socket, other } = await connection(t, world)
  const late: number[] = []
  socket.setTimeout(5_000, () => late.push(world.clock.monotonic()))
  const began_ms = world.clock.monotonic()
  await world.clock.advance(4_000)
  other.write('x')
  await world.clock.advance(4_990)
  t.same(late, [])
  await world.clock.advance(100)
  t.same(late, [began_ms + 9_020])
  const failed = connectTls({ socket: world.near.dial({ host: world.address, port: 1 }), rejectUnauthorized: false })
  const refused = once(failed, 'error')
  await world.until(() => failed.destroyed, 'the end')
  t.ok(await refused)
})

t.test('what a plugin opens through ctx.net closes with it', async (t) => {
  const { clock, network, near } = memoryWorld()
  const own = network.host(['10.0.0.3'])
  const accepted: Socket[] = []
  const web = await near.bind({ host: '10.0.0.1', port: 80 }, (socket) => void accepted.push(socket))
  t.teardown(() => web.close())
  let opened: (Socket | DatagramSocket)[] = []
  let late = async (): Promise<unknown> => undefined
  const station = await createTestStation({
    clock,
    network: own,
    plugins: {
      opener: definePlugin({
        name: 'opener',
        version: '1.0.0',
        api: '^1.0.0',
        setup(ctx) {
          t.throws(() => ctx.net.dial({ host: '10.0.0.1', port: 80 }), /a connection in setup: open it in start/)
        },
        async start({ net }) {
          t.throws(() => net.dial({ host: '10.0.0.1', port: 0 }), /its port is 1 to 65535, not 0/)
          const cut = net.dial({ host: '10.0.0.1', port: 80 })
          const ended = net.dial({ host: '10.0.0.1', port: 80 })
          ended.end('the last words')
          opened = [cut, ended, await net.datagram({ host: '0.0.0.0', port: 7 })]
          await net.bind({ host: '0.0.0.0', port: 8080 }, () => {})
          late = () => net.datagram({ host: '0.0.0.0', port: 8 })
        },
      }) as AnyPlugin,
    },
  })
  t.teardown(() => station.stop())
  await clock.advance(100)
  t.equal(accepted.length, 2)
  const heard = accepted.map(kept)
  await station.unload('opener')
  await clock.advance(100)
  t.same(
    heard.map(({ closed }) => closed),
    [true, true],
  )
  t.equal(heard.map(({ bytes }) => bytes.toString()).join(''), 'the last words')
  t.throws(() => (opened[2] as DatagramSocket).address(), { code: 'ERR_SOCKET_DGRAM_NOT_RUNNING' })
  const again = await own.bind({ host: '10.0.0.3', port: 8080 }, () => {})
  await again.close()
  await t.rejects(late(), { code: 'RTK_ERR_ABORTED' })
  const free = await own.datagram({ host: '10.0.0.3', port: 8 })
  free.close()
})

t.test('what a plugin has ended or accepted does not outlive it', async (t) => {
  const { clock, network, near } = memoryWorld()
  const own = network.host(['10.0.0.3'])
  const accepted: Socket[] = []
  // It never ends in its turn.
  const silent = await near.bind({ host: '10.0.0.1', port: 80, halfOpen: true }, (socket) => void accepted.push(socket))
  t.teardown(() => silent.close())
  let ended: Socket | undefined
  let served: Socket | undefined
  const station = await createTestStation({
    clock,
    network: own,
    plugins: {
      opener: definePlugin({
        name: 'opener',
        version: '1.0.0',
        api: '^1.0.0',
        setup() {},
        async start({ net }) {
          ended = net.dial({ host: '10.0.0.1', port: 80 })
          ended.end('the last words')
          await net.bind({ host: '0.0.0.0', port: 8080 }, (socket) => {
            served = socket
          })
        },
      }) as AnyPlugin,
    },
  })
  t.teardown(() => station.stop())
  const client = near.dial({ host: '10.0.0.3', port: 8080 })
  const seen = kept(client)
  await clock.advance(100)
  t.ok(served)
  t.equal(accepted.length, 1)
  const heard = kept(accepted[0] as Socket)
  await station.unload('opener')
  await clock.advance(100)
  t.match(seen, { closed: true }, 'its client is cut off')
  t.equal(heard.bytes.toString(), 'the last words')
  t.notOk(ended?.destroyed, 'the peer has time to end')
  await clock.advance(5_000)
  t.ok(ended?.destroyed, 'a peer that never ends keeps nothing')
  accepted[0]?.destroy()
})
