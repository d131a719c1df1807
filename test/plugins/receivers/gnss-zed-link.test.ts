/** The link to the receiver on a port that the test holds in its hands. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import type { Frame } from '../../../runtime/lib/gnss/index.js'
import { AwakeClock, type BytePort, type PortSink, portFrom } from '../../../runtime/lib/link/index.js'
import { linkTick_ms, ReceiverLink } from '../../../runtime/lib/link/port/receiver-link.js'
import type { DialEdges } from '../../../runtime/lib/link/port/tcp.js'
import { systemNetwork } from '../../../runtime/platform/ports/system-network.js'
import { decodeValset, valgetAnswer } from '../../gnss/support/ubx-receiver.js'
import { ManualClock, until } from '../../harness/index.js'
import { ubxDialog } from './zed-plan.js'

const frame = ubx.encodeFrame(ubx.navEoe, { iTOW_ms: 1 })

function edgesOf(clock: ManualClock): DialEdges {
  return {
    net: systemNetwork,
    clock,
    timers: {
      after: (ms, fn) => clock.timer(ms, () => void fn()),
      every(ms, fn) {
        let cancel = clock.timer(ms, again)
        function again() {
          cancel = clock.timer(ms, again)
          void fn()
        }
        return () => cancel()
      },
    },
  }
}

class FakePort implements BytePort {
  readonly name = 'fake'
  hasBaud = true
  live = true
  refuses: string | undefined
  absent: boolean = false
  openings: number[] = []
  closings = 0
  written: Uint8Array[] = []
  sink: PortSink | undefined
  present = () => !this.absent
  async open(baud: number, sink: PortSink) {
    this.openings.push(baud)
    if (this.refuses !== undefined) throw new Error(this.refuses)
    this.sink = sink
  }
  write(bytes: Uint8Array) {
    this.written.push(bytes)
    return true
  }
  async close() {
    this.closings++
    this.sink = undefined
  }
  lose(reason = 'EIO') {
    const { sink } = this
    this.sink = undefined
    sink?.closed(reason)
  }
}

async function linkOn({ listenOnly = false, bauds = [38_400, 115_200], port = new FakePort() } = {}) {
  const clock = new ManualClock()
  const blocked = { ms: 0 }
  const edges = {
    ...edgesOf(clock),
    clock: { now: () => clock.now(), monotonic: () => clock.monotonic() + blocked.ms },
  }
  const frames: Frame[] = []
  const states: string[] = []
  const reasons: string[] = []
  let silences = 0
  const link: ReceiverLink = new ReceiverLink(
    port,
    edges,
    new AwakeClock(edges.clock, linkTick_ms),
    { bauds, listenOnly, random: () => 0.5 },
    {
      frame: (received) => frames.push(received),
      state: () => {
        states.push(link.state)
        reasons.push(link.reason)
      },
      silence: () => {
        silences++
      },
    },
  )
  link.start()
  await clock.advance(0)
  /** Frames once a second. */
  const flow = async (seconds: number, bytes: Uint8Array | 'nothing' = frame) => {
    for (let i = 0; i < seconds; i++) {
      if (bytes !== 'nothing') port.sink?.data(bytes)
      await clock.advance(1000)
    }
  }
  return { clock, blocked, port, link, frames, states, reasons, flow, silences: () => silences }
}

t.test('goes from offline over stalled to up, and asks at once', async (t) => {
  const { link, states, flow, frames, silences } = await linkOn()
  t.equal(link.state, 'stalled')
  t.equal(silences(), 1, 'the first question does not wait')
  await flow(2)
  t.same(states, ['stalled', 'up'])
  t.equal(frames.length, 2)
})

t.test('opens again at once after the device was lost, then ever more slowly', async (t) => {
  const { clock, port, link, flow } = await linkOn()
  await flow(1)
  port.lose()
  t.equal(link.state, 'offline')
  t.equal(link.reason, 'EIO')
  await clock.advance(500)
  t.equal(link.state, 'stalled')
  t.equal(port.openings.length, 2)

  port.refuses = 'EACCES'
  port.lose()
  const opened = port.openings.length
  await clock.advance(60_000)
  const attempts = port.openings.length - opened
  t.ok(attempts >= 10 && attempts <= 20, `${attempts} attempts in a minute: 5 s apart in the end`)
  t.equal(link.reason, 'EACCES')
})

t.test('why the port cannot be opened is told once for each reason', async (t) => {
  const { clock, port, link, states } = await linkOn()
  port.refuses = 'EACCES'
  port.lose()
  states.splice(0)
  const told: string[] = []
  for (const reason of ['EACCES', 'EACCES', 'EBUSY', 'EBUSY', undefined]) {
    port.refuses = reason
    await clock.advance(10_000)
    told.push(...states.splice(0).map((state) => `${state} ${link.reason}`))
  }
  t.strictSame(told, ['offline EACCES', 'offline EBUSY', `stalled ${link.reason}`])
})

t.test('frames flow again within 2 s after a device that was away for long is back', async (t) => {
  const { clock, port, link, flow, frames } = await linkOn()
  await flow(1)
  port.absent = true
  port.refuses = 'ENOENT'
  port.lose('ENXIO')
  await clock.advance(3_600_000)
  t.equal(link.state, 'offline')
  const tried = port.openings.length
  t.ok(tried < 5, 'what is not there is only looked for')
  port.absent = false
  port.refuses = undefined
  const before = frames.length
  for (let waited_ms = 0; frames.length === before && waited_ms < 3000; waited_ms += 250) {
    await clock.advance(250)
    port.sink?.data(frame)
    if (frames.length > before) t.ok(waited_ms < 2000, `back after ${waited_ms} ms`)
  }
  t.equal(link.state, 'up')
})

t.test('notices a device that went without an error', async (t) => {
  const { clock, port, link, flow } = await linkOn()
  await flow(1)
  port.absent = true
  await clock.advance(300)
  t.equal(link.state, 'offline')
  t.equal(port.closings, 1)
})

t.test('tries the next rate after 10 s of bytes that make no frame', async (t) => {
  const { link, port, flow } = await linkOn()
  const garbage = Uint8Array.of(1, 2, 3, 4)
  await flow(9, garbage)
  t.same(port.openings, [38_400])
  await flow(3, garbage)
  t.same(port.openings, [38_400, 115_200])
  await flow(1)
  t.equal(link.state, 'up')
  t.equal(link.baud, 115_200)
  await flow(30)
  t.same(port.openings, [38_400, 115_200], 'and stays there')
})

t.test(
  'frames that break off, and silence, say that another program may read the port, and what names it',
  async (t) => {
    const other = /; another program may read this port \(gpsd, ModemManager\): `sudo rtk-base report` names it$/
    for (const [bytes, reason] of [
      [Uint8Array.of(1, 2, 3, 4), /^bytes but no valid frame for 10 s: another rate is tried; /],
      ['nothing', /^no answer for 15 s: check power and cable; /],
    ] as const) {
      const { flow, reasons } = await linkOn()
      await flow(16, bytes)
      const found = reasons.find((text) => reason.test(text))
      t.match(found, reason)
      t.match(found, other)
    }
  },
)

t.test(
  'silence: stalled after 3 s, asked every 3 s, tried anew after 15 s, but never while it only listens',
  async (t) => {
    const { clock, port, link, flow, silences } = await linkOn()
    await flow(1)
    await clock.advance(1000)
    t.equal(link.state, 'up')
    await clock.advance(1500)
    t.equal(link.state, 'stalled')
    const asked = silences()
    await clock.advance(6000)
    t.equal(silences(), asked + 2)
    t.equal(port.openings.length, 1)
    await clock.advance(10_000)
    t.equal(port.openings.length, 2)

    const listening = await linkOn({ listenOnly: true })
    await listening.flow(1)
    await listening.clock.advance(3_600_000)
    t.equal(listening.link.state, 'stalled')
    t.equal(listening.port.openings.length, 1)
    t.notOk(listening.link.write(frame), 'and it writes nothing')
    t.equal(listening.port.written.length, 0)
    await listening.flow(1)
    t.equal(listening.link.state, 'up')
  },
)

t.test('a false header holds good frames up for a second at most', async (t) => {
  const { clock, port, frames } = await linkOn()
  port.sink?.data(Uint8Array.from([0xb5, 0x62, 1, 7, 0, 0x10, ...frame]))
  t.equal(frames.length, 0)
  await clock.advance(4500)
  t.equal(frames.length, 1)
})

t.test('what a former opening still says is not heard', async (t) => {
  const { clock, port, frames } = await linkOn()
  const old = port.sink
  port.lose()
  await clock.advance(500)
  old?.data(frame)
  old?.closed('again')
  t.equal(frames.length, 0)
  t.equal(port.openings.length, 2)
})

t.test('opens nothing after it was stopped', async (t) => {
  const { clock, port, link } = await linkOn()
  await link.stop()
  await clock.advance(60_000)
  t.equal(port.openings.length, 1)
  t.equal(port.closings, 1)
})

t.test('a block of the event loop is not taken for silence of the receiver', async (t) => {
  const { clock, blocked, link, flow, states, port } = await linkOn()
  await flow(2)
  // The tick is late and comes before the bytes that wait in the port.
  blocked.ms += 20_000
  await clock.advance(300)
  t.equal(link.state, 'up')
  await flow(3)
  t.same(states, ['stalled', 'up'])
  t.equal(port.openings.length, 1)

  await clock.advance(3300)
  t.equal(link.state, 'stalled', 'real silence is still noticed')
  blocked.ms += 20_000
  await clock.advance(300)
  t.equal(port.openings.length, 1, 'and the block does not make it longer')
  await clock.advance(12_000)
  t.equal(port.openings.length, 2)
})

t.test('a dialog', async (t) => {
  const clock = new ManualClock()
  const written: Uint8Array[] = []
  const { dialog, hear: say, abort } = ubxDialog(edgesOf(clock).timers, (bytes) => written.push(bytes) > 0)

  t.test('asks one thing at a time, and gives up after a second', async (t) => {
    const first = dialog.poll(ubx.monVer)
    const second = dialog.poll(ubx.secUniqId)
    await clock.advance(0)
    t.equal(written.length, 1)
    await clock.advance(1000)
    t.equal(await first, undefined)
    await clock.advance(0)
    t.equal(written.length, 2)
    say(ubx.ubxFrame(0x27, 0x03, ubx.secUniqId.encode(1, 'ABCDEF0123')))
    t.same(ubx.secUniqId.decode((await second) ?? new Uint8Array())?.id, 'ABCDEF0123')
  })
  t.test('tells refused from not answered', async (t) => {
    const refused = dialog.set([[ubx.keyId('CFG-TMODE-MODE'), 1]], 1)
    await clock.advance(0)
    say(ubx.encodeFrame(ubx.ackNak, { clsId: 6, msgId: 0x8a }))
    t.equal(await refused, false)
    const before = written.length
    const silent = dialog.set([[ubx.keyId('CFG-TMODE-MODE'), 1]], 1)
    await clock.advance(3000)
    t.equal(await silent, undefined)
    t.equal(written.length - before, 3, 'an ACK may be lost, so it is written three times')
  })
  t.test('takes no late answer to an earlier question for the one to this', async (t) => {
    const [mode, rate] = [ubx.keyId('CFG-TMODE-MODE'), ubx.keyId('CFG-RATE-MEAS')]
    const asked = dialog.values([mode], 'ram')
    await clock.advance(0)
    say(valgetAnswer([[rate, 1000]], 0, 0))
    say(valgetAnswer([[mode, 1]], 0, 64))
    say(valgetAnswer([[mode, 2]], 0, 0))
    t.same(await asked, new Map([[mode, 2]]))
  })
  t.test('writes more than 64 keys as one transaction, begun anew when an ACK is lost', async (t) => {
    const pairs = ubx.configKeys.slice(0, 130).map(({ id }): ubx.ConfigPair => [id, 0])
    const before = written.length
    const done = dialog.set(pairs, 1)
    const transactions = () => written.slice(before).map((frame) => decodeValset(ubx.payloadOf(frame))?.transaction)
    const ack = async () => {
      say(ubx.encodeFrame(ubx.ackAck, { clsId: 6, msgId: 0x8a }))
      await clock.advance(0)
    }
    await clock.advance(0)
    await ack()
    await clock.advance(1000)
    await ack()
    await ack()
    await ack()
    t.equal(await done, true)
    t.same(transactions(), [1, 2, 1, 2, 3])
  })
  t.test('ends every question when the link is lost', async (t) => {
    const asked = [dialog.poll(ubx.monVer), dialog.poll(ubx.monVer)]
    await clock.advance(0)
    abort()
    t.same(await Promise.all(asked), [undefined, undefined])
  })
})

t.test('ports', async (t) => {
  const clock = new ManualClock()
  const edges = edgesOf(clock)
  const collect = () => {
    const got = { bytes: [] as number[], closed: [] as [string, boolean | undefined][] }
    const sink: PortSink = {
      data: (chunk) => got.bytes.push(...chunk),
      closed: (reason, end) => got.closed.push([reason, end]),
    }
    return { got, sink }
  }

  t.test('a replay gives the file as it is, then its end', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-replay-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'capture.ubx')
    const bytes = Uint8Array.from({ length: 40_000 }, (_, i) => i % 251)
    writeFileSync(file, bytes)
    const { got, sink } = collect()
    const port = portFrom(`replay:${file}`, { pace: 0, loop: false, delay: 0 }, edges)
    t.notOk(port.live)
    await port.open(0, sink)
    const after = (ready: () => boolean) => async () => {
      await clock.advance(1)
      return ready()
    }
    await until(
      after(() => got.closed.length > 0),
      'end of the replay',
    )
    t.same(Uint8Array.from(got.bytes), bytes)
    t.same(got.closed, [['end of the capture', true]])

    const paced = collect()
    const slow = portFrom(`replay:${file}`, { pace: 10_000, loop: false, delay: 0 }, edges)
    await slow.open(0, paced.sink)
    await clock.advance(0)
    await clock.advance(100)
    await until(() => paced.got.bytes.length > 0, 'the first bytes')
    t.equal(paced.got.bytes.length, 1000, 'a tenth of a second of bytes')
    await slow.close()
    t.same(paced.got.closed, [], 'closing it tells nothing')

    const looped = collect()
    const endless = portFrom(`replay:${file}`, { pace: 0, loop: true, delay: 0 }, edges)
    await endless.open(0, looped.sink)
    await until(
      after(() => looped.got.bytes.length > 100_000),
      'the third round',
    )
    await endless.close()
    t.equal(looped.got.bytes[40_000], 0, 'from the beginning again')
    await t.rejects(portFrom('replay:/no/such/file', { pace: 0, loop: false, delay: 0 }, edges).open(0, collect().sink))
    const notOne = portFrom(`replay:${folder}`, { pace: 0, loop: false, delay: 0 }, edges)
    await t.rejects(notOne.open(0, collect().sink), { message: /is a directory/ })
  })

  t.test('a TCP port passes bytes both ways and tells when the peer goes', async (t) => {
    const peers: Socket[] = []
    const heard: Buffer[] = []
    const server = createServer((socket) => {
      peers.push(socket)
      socket.on('data', (chunk) => heard.push(chunk)).on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port: number } = server.address() as { port: number }
    const { got, sink } = collect()
    const port = portFrom(`tcp://127.0.0.1:${number}`, { pace: 0, loop: false, delay: 0 }, edges)
    await port.open(0, sink)
    t.ok(port.write(frame))
    await until(() => heard.length > 0 && peers.length > 0, 'bytes at the peer')
    peers[0].write(frame)
    await until(() => got.bytes.length > 0, 'bytes from the peer')
    t.same(Uint8Array.from(got.bytes), frame)
    peers[0].destroy()
    await until(() => got.closed.length > 0, 'the end')
    t.notOk(port.write(frame))
    server.close()
    await t.rejects(port.open(0, sink), 'nobody listens any more')
  })

  t.test('a serial device that is not there is an error to try again, never a crash', async (t) => {
    const port = portFrom('/dev/serial/by-id/nothing-here', { pace: 0, loop: false, delay: 0 }, edges)
    t.equal(port.present?.(), false)
    await t.rejects(port.open(38_400, collect().sink), /ENOENT/)
    t.notOk(port.write(frame))
    await port.close()
    const notSerial = portFrom('/dev/null', { pace: 0, loop: false, delay: 0 }, edges)
    await t.rejects(notSerial.open(38_400, collect().sink))
  })

  t.test('refuses what names no port', async (t) => {
    t.throws(() => portFrom('COM3', { pace: 0, loop: false, delay: 0 }, edges), RangeError)
    t.throws(() => portFrom('tcp://host', { pace: 0, loop: false, delay: 0 }, edges), RangeError)
  })
})
