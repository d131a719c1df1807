/** `rtk-base/link`: what plugins that talk to a device share. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  AwakeClock,
  Budget,
  type BytePort,
  Dialog,
  Intake,
  KeptPort,
  type PortSink,
} from '../../runtime/lib/link/index.js'
import { Acknowledgement } from '../../runtime/lib/link/outbound/acknowledgement.js'
import { withRemedy } from '../../runtime/lib/link/port/exclusive.js'
import { SerialDevice } from '../../runtime/lib/link/port/serial.js'
import { unacknowledged } from '../../runtime/platform/ports/tcp-queues.js'
import { Backoff } from '../../runtime/platform/time/backoff.js'
import { definePlugin } from '../../runtime/plugin.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'
import { openPty } from '../harness/peers/pty.js'

const hasProgram = (name: string) => spawnSync('which', [name]).status === 0

/** Whether this process holds a descriptor of a device, which may be gone (`/dev/pts/3 (deleted)`). */
const hasOpen = (path: string) =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).split(' ')[0] === path
    } catch {
      return false
    }
  })

/** A port in the hands of the test. */
class HeldPort implements BytePort {
  readonly name = 'held'
  readonly hasBaud = false
  readonly live = true
  fails: string | undefined
  absent: boolean = false
  openings = 0
  sink: PortSink | undefined
  present = () => !this.absent
  async open(_baud: number, sink: PortSink) {
    this.openings++
    if (this.fails !== undefined) throw new Error(this.fails)
    this.sink = sink
  }
  write() {
    return this.sink !== undefined
  }
  async close() {
    this.sink = undefined
  }
}

t.test('a plugin keeps a port open and asks questions over it, until it goes', async (t) => {
  const port = new HeldPort()
  const closed: string[] = []
  const lines: string[] = []
  let dialog: Dialog<string> | undefined
  const modem = definePlugin({
    name: 'modem',
    version: '1.0.0',
    api: '^1.0.0',
    setup: (ctx) => {
      const kept = new KeptPort(port, ctx, {
        baud: () => 0,
        opened: () => ctx.status('open'),
        data: (chunk) => {
          const line = Buffer.from(chunk).toString()
          lines.push(line)
          dialog?.hear(line)
        },
        closed: (reason) => closed.push(reason),
        ended: () => {},
      })
      dialog = new Dialog<string>(ctx, (request) => kept.write(request), 1000)
      return kept
    },
    start: (_ctx, _handoff, kept) => kept.start(),
    stop: (_reason, kept) => kept.stop(),
  })
  const station = await createTestStation({ plugins: { modem } })
  const { clock } = station
  await clock.advance(10)
  t.equal(port.openings, 1)
  const asked = dialog?.ask(Buffer.from('AT'), (line) => (line === 'OK' ? line : undefined), 2)
  await clock.advance(1500)
  port.sink?.data(Buffer.from('OK'))
  t.equal(await asked, 'OK', 'in the second try')

  port.fails = 'EBUSY'
  port.sink?.closed('EIO')
  await clock.advance(60_000)
  t.equal(closed[0], 'EIO')
  t.equal(closed[1], 'EBUSY')
  const tries = port.openings - 1
  t.ok(tries >= 10 && tries <= 20, `${tries} tries in a minute`)
  port.absent = true
  await clock.advance(10_000)
  const absent = port.openings
  await clock.advance(60_000)
  t.equal(port.openings, absent, 'what is not there is not opened')
  port.absent = false
  port.fails = undefined
  await clock.advance(500)
  t.match(station.station.plugins()[0], { reason: 'open' })
  t.ok(port.sink, 'at once when it appears')

  await station.unload('modem')
  t.equal(port.sink, undefined)
  await clock.advance(60_000)
  t.equal(port.openings, absent + 1)
  await station.stop()
})

t.test('a peer that sends too much is read at its rate, and is ended when it never stops', async (t) => {
  const rate = { bytes_s: 1_000, burst_bytes: 5_000, packets_s: 10 }
  const clock = { now_ms: 0, due_ms: Number.POSITIVE_INFINITY, fn: () => {} }
  const time = {
    now_ms: () => clock.now_ms,
    after: (ms: number, fn: () => void) => {
      Object.assign(clock, { due_ms: clock.now_ms + ms, fn })
      return () => {}
    },
  }
  /** Sends as fast as it is read, for so long. @returns bytes that were taken */
  const flood = (bytes: number, for_ms: number, quiet_ms = 0) => {
    let [taken, isEnded, isPaused] = [0, false, false]
    const stream = { pause: () => (isPaused = true), resume: () => (isPaused = false) }
    const overrun = () => {
      isEnded = true
    }
    const intake = new Intake(stream, { rate, overrun, time })
    const end_ms = clock.now_ms + for_ms
    while (clock.now_ms < end_ms && !isEnded) {
      if (isPaused) {
        clock.now_ms = clock.due_ms
        clock.fn()
        if (quiet_ms > 0) clock.now_ms += quiet_ms
      } else intake.run(bytes, 1, () => (taken += bytes))
    }
    return { taken, isEnded }
  }
  const short = flood(500, 20_000)
  t.notOk(short.isEnded)
  t.ok(short.taken <= 5_000 + 20 * 1_000 + 1_000, `${short.taken} bytes in 20 s`)
  t.ok(flood(500, 60_000).isEnded, 'after 30 s')
  t.notOk(flood(500, 600_000, 5_000).isEnded, 'bursts with a quiet time between them are fine')
  const small = flood(2, 20_000)
  t.ok(small.taken / 2 <= 50 + 20 * 10 + 10, `${small.taken / 2} packets in 20 s`)
})

t.test('datagrams beyond the budget are told apart from those within it', (t) => {
  const budget = new Budget({ bytes_s: 1_000, burst_bytes: 2_000, packets_s: 10 }, 0)
  const admitted = (count: number, now_ms: number) =>
    Array.from({ length: count }, () => budget.admits(1, now_ms)).filter(Boolean).length
  t.equal(admitted(100, 0), 20)
  t.equal(admitted(100, 500), 5)
  t.end()
})

t.test('waiting times double within their spread, are never above the longest, and start again', async () => {
  fc.assert(
    fc.property(fc.nat({ max: 30 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const waits = { first_ms: 100, longest_ms: 5000, random: () => random }
      const [exact, spread] = [new Backoff({ ...waits, spread: [1, 1] }), new Backoff({ ...waits, spread: [0.5, 1] })]
      for (let i = 0; i < failures; i++) {
        exact.next()
        spread.next()
      }
      const wait_ms = Math.min(5000, 100 * 2 ** failures)
      const spread_ms = spread.next()
      const isRight = exact.next() === wait_ms && spread_ms >= Math.floor(wait_ms / 2) && spread_ms <= wait_ms
      exact.reset()
      return isRight && exact.next() === 100
    }),
  )
})

t.test('the awake clock leaves out what was blocked, whoever reads it first', async (t) => {
  const clock = new ManualClock()
  const awake = new AwakeClock(clock, 250)
  for (let i = 0; i < 8; i++) {
    await clock.advance(250)
    awake.monotonic()
  }
  t.equal(awake.monotonic(), 2000)
  t.equal(awake.lost_ms, 0)
  await clock.advance(480)
  t.equal(awake.monotonic(), 2480, 'a late tick counts')
  await clock.advance(3000)
  t.equal(awake.monotonic(), 2730, 'a block counts as one tick')
  t.equal(awake.lost_ms, 2750)
  await clock.advance(100)
  t.equal(awake.monotonic(), 2830)
})

t.test('what the other end leaves unacknowledged is timed, but not while this process stands still', async (t) => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await accepted) as [Socket]
  t.teardown(() => {
    socket.destroy()
    peer.destroy()
    server.close()
  })
  const clock = new ManualClock()
  const line = new Acknowledgement(socket, clock)
  const after = async (s: number) => {
    await clock.advance(s * 1_000)
    return line.look()
  }
  t.equal(await after(5), 0, 'nothing waits')
  socket.write(Buffer.alloc(32 * 1_048_576))
  // The buffers of both ends take some of it.
  let before = -1
  await until(async () => {
    const { bytesWritten, writableLength } = socket
    const taken = bytesWritten - writableLength
    const isFull = taken === before && ((await after(5)) ?? 0) > 0
    before = taken
    return isFull
  }, 'the buffers are full')
  const silent_ms = (await after(5)) as number
  t.equal(await after(5), silent_ms + 5_000)
  t.equal(await after(600), silent_ms + 10_000, 'suspended for ten minutes')
  t.equal(await after(5), silent_ms + 15_000)
  peer.resume()
  await until(async () => socket.writableLength === 0 && (await after(5)) === 0, 'everything is acknowledged')
})

t.test('the table of the system is read for what was written since all was acknowledged', async (t) => {
  const clock = new ManualClock()
  let reads = 0
  const socket = {
    ...{ bytesWritten: 0, writableLength: 0, queue: 0 },
    get [unacknowledged](): number {
      reads++
      return this.queue
    },
  }
  const line = new Acknowledgement(socket as unknown as Socket, clock)
  const look = async (bytesWritten: number, queue: number) => {
    Object.assign(socket, { bytesWritten, queue })
    await clock.advance(5_000)
    return [await line.look(), reads]
  }
  t.strictSame(await look(0, 0), [0, 1])
  t.strictSame(await look(0, 0), [0, 1], 'it only receives')
  t.strictSame(await look(10, 10), [5_000, 2], 'since the last look that saw something acknowledged')
  t.strictSame(await look(10, 10), [10_000, 3], 'nothing was written, and it waits')
  t.strictSame(await look(10, 0), [0, 4])
  t.strictSame(await look(10, 0), [0, 4])
})

t.test('a serial port', async (t) => {
  const canTry = process.getuid?.() === 0 && ['socat', 'perl', 'setpriv'].every((name) => hasProgram(name))
  t.test(
    'is refused to other programs while it is open',
    { skip: canTry ? false : 'needs root, socat, perl' },
    async (t) => {
      const pty = await openPty()
      t.teardown(() => pty.close())
      const node = realpathSync(pty.near)
      chmodSync(node, 0o666)
      const another = () => {
        const args = [
          '--reuid=65534',
          '--regid=65534',
          '--clear-groups',
          'perl',
          '-e',
          'open(F, "<", $ARGV[0]) or die "$!"',
          node,
        ]
        return spawnSync('setpriv', args, { encoding: 'utf8' }).stderr
      }
      const device = new SerialDevice(node)
      await device.open(115_200, { data: () => {}, closed: () => {} })
      t.match(another(), /busy/i)
      await device.close()
    },
  )

  t.test(
    'without perl is used all the same, and the log says once what to do',
    { skip: hasProgram('socat') ? false : 'needs socat' },
    async (t) => {
      const pty = await openPty()
      const { PATH } = process.env
      process.env.PATH = '/nowhere'
      t.teardown(() => {
        process.env.PATH = PATH
        void pty.close()
      })
      const lines: string[] = []
      const device = new SerialDevice(realpathSync(pty.near), { warn: (line: string) => lines.push(line) } as never)
      for (let n = 0; n < 2; n++) {
        await device.open(115_200, { data: () => {}, closed: () => {} })
        t.ok(device.write(Buffer.from('works')))
        await device.close()
      }
      t.equal(lines.length, 1)
      t.match(lines[0], /without exclusive mode.*apt install perl-base/)
    },
  )

  t.test(
    'that is pulled while it is made exclusive is not open',
    { skip: hasProgram('socat') ? false : 'needs socat' },
    async (t) => {
      const pty = await openPty()
      const folder = t.testdir({ perl: `#!/bin/sh\n: > "$0.began"\nuntil [ -e "$0.end" ]; do /bin/sleep 0.02; done\n` })
      chmodSync(join(folder, 'perl'), 0o755)
      const { PATH } = process.env
      process.env.PATH = folder
      t.teardown(() => {
        process.env.PATH = PATH
        void pty.close()
      })
      const closed: string[] = []
      const near = realpathSync(pty.near)
      const device = new SerialDevice(near)
      const opened = device.open(115_200, { data: () => {}, closed: (reason) => void closed.push(reason) })
      // At once: a promise that is refused before somebody looks is an uncaught error.
      const outcome = opened.then(
        () => 'open',
        (error: Error) => error.message,
      )
      await until(() => existsSync(join(folder, 'perl.began')), 'the helper')
      await pty.pull()
      // The helper ends only when the port has seen its loss; before, it would be open and closed.
      await until(() => !hasOpen(near), 'the loss')
      writeFileSync(join(folder, 'perl.end'), '')
      t.match(await outcome, /vanished while it was opened/)
      t.notOk(device.write(Buffer.from('x')))
      t.same(closed, [], 'who opens it hears of it by the refusal alone')
    },
  )

  t.test('that cannot be opened says why, and what to do', (t) => {
    for (const [reason, remedy] of [
      ['Error: Permission denied, cannot open /dev/ttyACM0', /usermod -aG dialout/],
      ['Error: Device or resource busy, cannot open /dev/ttyACM0', /another program has it: .*rtk-base report/],
      ['Error Resource temporarily unavailable Cannot lock port', /another program has it/],
      ['Error: Operation not permitted, cannot open /dev/ttymxc1', /DeviceAllow=\/dev\/ttymxc1 rw/],
      ['ENOENT: /dev/ttyACM0 does not exist', /nothing is plugged in there/],
    ] as const)
      t.match(withRemedy(reason, '/dev/ttymxc1'), remedy)
    t.equal(withRemedy('Error: I/O error', '/dev/x'), 'I/O error')
    t.end()
  })
})
