import t from 'tap'
import { type Frame, Framer } from '../../runtime/lib/gnss/framer.js'
import { encodeNmea } from '../../runtime/lib/gnss/nmea.js'
import { encodeFrame, encodeRtcm } from '../../runtime/lib/gnss/rtcm/messages.js'
import { encodeUbx } from '../../runtime/lib/gnss/ubx.js'
import { type Capture, captures, noCaptures } from '../harness/captures.js'

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const join = (...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts))
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))

const arp = encodeRtcm({ type: 1230, stationId: 7, biasesAligned: true, biases_m: { l1ca: 0, l2ca: 0 } })
const poll = encodeUbx(0x0a, 0x04)
const sentence = encodeNmea('GNTXT,01,01,02,hello')

function collect(options: { baud?: number } = {}) {
  const frames: Frame[] = []
  const framer = new Framer({ ...options, onFrame: (frame) => frames.push(frame) })
  return { framer, frames }
}

function framesOf(bytes: Uint8Array) {
  const { framer, frames } = collect()
  framer.push(bytes, 0)
  framer.flush()
  return { frames, stats: framer.stats }
}

t.test('single frames', async (t) => {
  const good: [name: string, bytes: Uint8Array, kind: Frame['kind']][] = [
    ['the poll of MON-VER', hex('B5 62 0A 04 00 00 0E 34'), 'ubx'],
    ['SEC-UNIQID', hex('B5 62 27 03 09 00 01 00 00 00 AB CD EF 01 23 BF 08'), 'ubx'],
    ['the longest UBX frame', encodeUbx(1, 2, new Uint8Array(8192)), 'ubx'],
    ['the textbook 1005', hex('D300133ED7D30202980EDEEF34B4BD62AC0941986F33360B98'), 'rtcm'],
    ['an empty RTCM frame', hex('D3 00 00 47 EA 4B'), 'rtcm'],
    ['the longest RTCM frame', encodeFrame(new Uint8Array(1023).fill(0xd3)), 'rtcm'],
    ['GGA', latin1('$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n'), 'nmea'],
    [
      'a sentence that ends with LF alone',
      latin1('$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\n'),
      'nmea',
    ],
    ['a sentence with a small hex digit', latin1('$GPTXT,/*4c\r\n'), 'nmea'],
    ['an AIS sentence', latin1('!AIVDM,1*4A\r\n'), 'nmea'],
    ['a sentence with an asterisk in its text', encodeNmea('GNTXT,*12'), 'nmea'],
    ['the longest sentence', encodeNmea(`G${'x'.repeat(1023)}`), 'nmea'],
  ]
  for (const [name, bytes, kind] of good) {
    const { frames, stats } = framesOf(bytes)
    t.match(frames, [{ kind }], name)
    t.same(frames[0]?.bytes, bytes, `${name}: all of its bytes`)
    t.equal(stats.garbage_bytes, 0, `${name}: no garbage`)
  }
  t.match(framesOf(hex('D300133ED7D30202980EDEEF34B4BD62AC0941986F33360B98')).frames, [{ type: 1005 }])
  t.match(framesOf(poll).frames, [{ cls: 0x0a, id: 0x04 }])
})

t.test('what is no frame', async (t) => {
  const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
  const bad: [name: string, bytes: Uint8Array, badChecksum: [ubx: number, rtcm: number, nmea: number]][] = [
    ['a damaged UBX payload', flipped(encodeUbx(1, 7, new Uint8Array(20)), 12), [1, 0, 0]],
    ['a damaged UBX checksum', flipped(poll, 7), [1, 0, 0]],
    ['a damaged RTCM payload', flipped(arp, 5), [0, 1, 0]],
    ['a damaged RTCM CRC', flipped(arp, arp.length - 1), [0, 1, 0]],
    ['a set reserved bit', flipped(arp, 1).map((byte, i) => (i === 1 ? 0x80 : byte)), [0, 0, 0]],
    ['a damaged sentence', flipped(sentence, 8), [0, 0, 1]],
    ['a UBX payload above 8192 bytes', encodeUbx(1, 2, new Uint8Array(8193)), [0, 0, 0]],
    ['a sentence above 1024 bytes', encodeNmea(`G${'x'.repeat(1024)}`), [0, 0, 0]],
    ['a sentence with a control character', encodeNmea('GNTXT,\t'), [0, 0, 0]],
    ['a checksum of one digit', latin1('$G*7\r\n'), [0, 0, 0]],
    ['no hex digit', latin1('$G*4G\r\n'), [0, 0, 0]],
    ['CR without LF', latin1('$G*47\rx'), [0, 0, 0]],
    ['cut frames', join(poll.subarray(0, 7), arp.subarray(0, 4), sentence.subarray(0, 9)), [1, 0, 0]],
  ]
  for (const [name, bytes, [ubx, rtcm, nmea]] of bad) {
    const { frames, stats } = framesOf(bytes)
    t.same(frames, [], name)
    t.equal(stats.garbage_bytes, bytes.length, `${name}: all of it is garbage`)
    t.same(stats.badChecksum, { ubx, rtcm, nmea, other: 0 }, `${name}: bad checksums`)
  }
})

t.test('goes on one byte behind a false start', async (t) => {
  const starts = [
    hex('B5'),
    hex('B5 62'),
    hex('B5 B5 62'),
    hex('D3'),
    hex('D3 D3 03'),
    hex('24 47'),
    latin1('$GN*00'),
    hex('21'),
  ]
  for (const start of starts) {
    const { frames, stats } = framesOf(join(start, arp, start, poll, start, sentence, start))
    t.same(
      frames.map((frame) => frame.kind),
      ['rtcm', 'ubx', 'nmea'],
      Buffer.from(start).toString('hex'),
    )
    t.equal(stats.garbage_bytes, start.length * 4)
  }
})

t.test('a frame owns its bytes', async (t) => {
  const { framer, frames } = collect()
  const chunk = Buffer.from(join(arp, poll, sentence))
  framer.push(chunk, 1)
  chunk.fill(0)
  framer.push(chunk, 2)
  t.same(
    frames.map((frame) => frame.bytes),
    [arp, poll, sentence],
  )
})

t.test('arrival times are those of the last byte, also of frames that had to wait', async (t) => {
  const { framer, frames } = collect()
  framer.push(hex('B5 62 01 02 00 20'), 10)
  framer.push(arp.subarray(0, 5), 20)
  framer.push(arp.subarray(5), 30)
  framer.push(poll, 40)
  t.equal(frames.length, 0, 'a false header of 8192 bytes waits')
  t.equal(framer.deadline_ms, 1010)
  framer.expire(1009.9)
  t.equal(frames.length, 0)
  framer.expire(1010)
  t.match(frames, [
    { kind: 'rtcm', arrival_ms: 30 },
    { kind: 'ubx', arrival_ms: 40 },
  ])
  t.equal(framer.deadline_ms, undefined)
  t.equal(framer.stats.garbage_bytes, 6)
})

t.test('a slow line gets the time that its frames need', async (t) => {
  const long = encodeUbx(1, 0x35, new Uint8Array(2000))
  const feed = (baud?: number) => {
    const { framer, frames } = collect({ baud })
    for (let at = 0; at < long.length; at++) {
      const now_ms = (at * 10_000) / 9600
      framer.expire(now_ms)
      framer.push(long.subarray(at, at + 1), now_ms)
    }
    return frames.length
  }
  t.equal(feed(9600), 1)
  t.equal(feed(), 0, 'a line of unknown speed gives up after 1 s')
  const { framer } = collect()
  framer.push(long.subarray(0, 100), 0)
  t.equal(framer.deadline_ms, 1000)
  framer.setBaud(9600)
  t.ok((framer.deadline_ms ?? 0) > (long.length * 10_000) / 9600)
})

t.test('bytes that come late, but come, still complete a frame', async (t) => {
  const { framer, frames } = collect()
  framer.push(arp.subarray(0, 5), 0)
  framer.push(arp.subarray(5), 60_000)
  t.match(frames, [{ kind: 'rtcm', arrival_ms: 60_000 }], 'the process was stopped, not the receiver')
})

t.test('survives handlers that throw', async (t) => {
  let calls = 0
  const framer = new Framer({
    onFrame: () => {
      throw new Error(`frame ${++calls}`)
    },
  })
  const bytes = join(arp, poll, sentence)
  t.throws(() => framer.push(bytes, 0), { message: 'frame 1' }, 'the first error comes out')
  t.equal(calls, 3, 'every frame was handed over')
  t.doesNotThrow(() => framer.push(bytes.subarray(0, 5), 0))
  t.throws(() => framer.push(bytes.subarray(5), 0), { message: 'frame 4' })
  t.equal(calls, 6)
  framer.push(hex('B5 62 01 02 00 20'), 0)
  framer.push(arp, 0)
  t.throws(() => framer.expire(1000), { message: 'frame 7' })
  framer.push(arp.subarray(0, 9), 0)
  t.doesNotThrow(() => framer.flush())
  t.same(framer.stats.frames, { ubx: 2, rtcm: 3, nmea: 2, other: 0 })
})

t.test('handlers may call back', async (t) => {
  const seen: string[] = []
  const framer: Framer = new Framer({
    onFrame: (frame) => {
      seen.push(frame.kind)
      if (seen.length === 1) {
        const chunk = Uint8Array.from(sentence)
        framer.push(chunk, 5)
        chunk.fill(0)
        framer.expire(1e9)
        framer.flush()
      }
    },
  })
  framer.push(join(arp, poll, arp.subarray(0, 4)), 0)
  // The cut 1005 waits until the push has ended; then comes what the handler pushed, behind it.
  t.same(seen, ['rtcm', 'ubx', 'nmea'])
  t.equal(framer.stats.garbage_bytes, 4)
  t.equal(framer.deadline_ms, undefined)
})

const named: Record<Exclude<Frame['kind'], 'other'>, (frame: Frame) => string> = {
  ubx: ({ bytes }) => `${byteHex(bytes[2])}-${byteHex(bytes[3])}`,
  // u-blox's own messages are told apart by their subtype.
  rtcm: (frame) => {
    if (frame.kind !== 'rtcm') return ''
    return frame.type === 4072 ? `4072.${((frame.bytes[4] & 15) << 8) | frame.bytes[5]}` : `${frame.type}`
  },
  // u-blox's own sentences are told apart by their second field.
  nmea: ({ bytes }) => /^.(PUBX,\d\d|[^,*]*)/.exec(Buffer.from(bytes).toString('latin1'))?.[1] ?? '',
}
const byteHex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')

/** Chunk sizes that look random and are the same in every run. */
function* chunkSizes(largest: number) {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield 1 + ((state >>> 16) % largest)
  }
}

t.test('captures, against the oracle', { skip: noCaptures }, async (t) => {
  const ways: [name: string, sizes: (capture: Capture) => Iterator<number>][] = [
    ['whole', ({ bytes }) => [bytes.length].values()],
    ['byte by byte', () => chunkSizes(1)],
    ['in random chunks', () => chunkSizes(700)],
  ]
  const all = captures()
  t.ok(all.length > 0)
  for (const capture of all) {
    for (const [way, sizes] of ways) {
      const { framing } = capture.oracle
      const counts = {
        UBX: new Map<string, number>(),
        RTCM3: new Map<string, number>(),
        NMEA: new Map<string, number>(),
      }
      const protocol = { ubx: 'UBX', rtcm: 'RTCM3', nmea: 'NMEA' } as const
      const framer = new Framer({
        onFrame: (frame) => {
          if (frame.kind === 'other') return
          const of = counts[protocol[frame.kind]]
          const name = named[frame.kind](frame)
          of.set(name, (of.get(name) ?? 0) + 1)
        },
      })
      const size = sizes(capture)
      for (let at = 0; at < capture.bytes.length; ) {
        const next = at + (size.next().value as number)
        framer.push(capture.bytes.subarray(at, next), 0)
        at = next
      }
      framer.flush()
      const { UBX, RTCM3, NMEA } = framing.frames
      const bad = framing.bad_checksum
      t.same(
        {
          frames: framer.stats.frames,
          garbage_bytes: framer.stats.garbage_bytes,
          badChecksum: framer.stats.badChecksum,
          ...Object.fromEntries(Object.entries(counts).map(([key, of]) => [key, Object.fromEntries(of)])),
        },
        {
          frames: { ubx: UBX, rtcm: RTCM3, nmea: NMEA, other: 0 },
          garbage_bytes: framing.bytes.garbage,
          // Candidates above the UBX bound would be counted by the oracle alone; these captures have none.
          badChecksum: { ubx: bad.UBX, rtcm: bad.RTCM3, nmea: bad.NMEA, other: 0 },
          // The oracle's UBX names go on behind class and id.
          UBX: Object.fromEntries(Object.entries(framing.messages.UBX).map(([name, n]) => [name.slice(0, 5), n])),
          RTCM3: framing.messages.RTCM3,
          NMEA: framing.messages.NMEA,
        },
        `${capture.name} ${way}`,
      )
    }
  }
})
