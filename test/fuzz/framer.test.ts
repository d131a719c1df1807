import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { type Frame, Framer, type Framing } from '../../runtime/lib/gnss/framer.js'
import { encodeNmea } from '../../runtime/lib/gnss/nmea.js'
import { encodeFrame } from '../../runtime/lib/gnss/rtcm/messages.js'
import { encodeUbx } from '../../runtime/lib/gnss/ubx.js'
import { arpFrame } from '../harness/fake-receiver.js'
import { sample } from '../harness/sample.js'

const join = (parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts))
const arp = arpFrame({ x: 3925405.8088, y: 274491.1138, z: 5002842.746 }, 7)

/** The scanning rule once more, as slowly and plainly as it can be said. */
function reference(bytes: Uint8Array) {
  const frames: { kind: Frame['kind']; bytes: Uint8Array }[] = []
  const badChecksum = { ubx: 0, rtcm: 0, nmea: 0, other: 0 }
  let garbage_bytes = 0
  for (let at = 0; at < bytes.length; ) {
    const found = whole(bytes.subarray(at))
    if (found?.good) {
      frames.push({ kind: found.kind, bytes: bytes.subarray(at, at + found.size) })
      at += found.size
    } else {
      if (found) badChecksum[found.kind]++
      garbage_bytes++
      at++
    }
  }
  return { frames, badChecksum, garbage_bytes }
}

function whole(bytes: Uint8Array): { kind: Frame['kind']; size: number; good: boolean } | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length >= 8 && buffer.readUInt16BE(0) === 0xb562) {
    const size = buffer.readUInt16LE(4) + 8
    if (size > 8200 || size > bytes.length) return undefined
    let [a, b] = [0, 0]
    for (const byte of bytes.subarray(2, size - 2)) {
      a = (a + byte) % 256
      b = (b + a) % 256
    }
    return { kind: 'ubx', size, good: a === bytes[size - 2] && b === bytes[size - 1] }
  }
  if (bytes.length >= 6 && bytes[0] === 0xd3 && bytes[1] <= 3) {
    const size = buffer.readUInt16BE(1) + 6
    if (size > bytes.length) return undefined
    let crc = 0
    for (const byte of bytes.subarray(0, size)) {
      crc ^= byte << 16
      for (let bit = 0; bit < 8; bit++) crc = crc & 0x800000 ? (crc << 1) ^ 0x1864cfb : crc << 1
    }
    return { kind: 'rtcm', size, good: crc === 0 }
  }
  const sentence = /^[$!]([ -~]{0,1024})\*([0-9A-Fa-f]{2})\r?\n/.exec(buffer.subarray(0, 1100).toString('latin1'))
  if (!sentence) return undefined
  const xor = Buffer.from(sentence[1], 'latin1').reduce((sum, byte) => sum ^ byte, 0)
  return { kind: 'nmea', size: sentence[0].length, good: xor === Number.parseInt(sentence[2], 16) }
}

// Random bytes alone hardly ever look like a start: most of the noise is made of what nearly is a frame.
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(0, 700, 1023).map((size) => new Uint8Array(size).fill(0xd3)),
)
const printable = fc.string({
  unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
})
const goodFrame = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255), payload).map(([cls, id, bytes]) => encodeUbx(cls, id, bytes)),
  payload.map(encodeFrame),
  printable.map((body) => encodeNmea(body)),
  fc.integer({ min: 1018, max: 1028 }).map((size) => encodeNmea('x'.repeat(size))),
  fc.constantFrom(8190, 8192, 8193).map((size) => encodeUbx(1, 2, new Uint8Array(size))),
)
const damaged = fc.tuple(goodFrame, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([frame, at, flip]) => {
  const bytes = Uint8Array.from(frame)
  bytes[at % bytes.length] ^= flip
  return bytes
})
const cut = fc.tuple(goodFrame, fc.nat()).map(([frame, at]) => frame.subarray(0, at % frame.length))
const start = fc.constantFrom(
  'b5',
  'b562',
  'b56201',
  'b562010200',
  'b562010210 00',
  'b56201020020',
  'd3',
  'd300',
  'd30013',
  'd303ff',
  '24',
  '21',
  '2a30300d0a',
  '0d',
  '0a',
)
const noise = fc.oneof(
  start.map((text) => Uint8Array.from(Buffer.from(text.replace(' ', ''), 'hex'))),
  fc.uint8Array({ maxLength: 30 }),
  damaged,
  cut,
)
const stream = fc.array(fc.oneof(goodFrame, noise), { maxLength: 12 }).map(join)
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 3000 })), {
  minLength: 1,
  maxLength: 20,
})

function collect() {
  const frames: Frame[] = []
  return { frames, framer: new Framer({ onFrame: (frame) => frames.push(frame) }) }
}

function pushAll(framer: Framer, bytes: Uint8Array, sizes: number[]) {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length]
    framer.push(bytes.subarray(at, at + size), 0)
    at += size
  }
}

/** Nothing more comes: what waits is given up when it is due. Returns when the last was. */
function wait(framer: Framer): number {
  let now_ms = 0
  for (let rounds = 0; framer.deadline_ms !== undefined; rounds++) {
    assert.ok(rounds < 10_000 && framer.deadline_ms >= now_ms, 'time goes on')
    now_ms = framer.deadline_ms
    framer.expire(now_ms)
  }
  return now_ms
}

const plain = (frames: { kind: Frame['kind']; bytes: Uint8Array }[]) =>
  frames.map(({ kind, bytes }) => `${kind} ${Buffer.from(bytes).toString('hex')}`)

t.test('any bytes in any chunks give the frames of the scanning rule, with flush as with time', async (t) => {
  fc.assert(
    fc.property(stream, sizes, fc.boolean(), (bytes, sizes, byTime) => {
      const want = reference(bytes)
      const { framer, frames } = collect()
      pushAll(framer, bytes, sizes)
      if (byTime) assert.ok(wait(framer) <= 1000, 'all bytes came at 0')
      else framer.flush()
      assert.deepEqual(plain(frames), plain(want.frames))
      assert.equal(framer.stats.garbage_bytes, want.garbage_bytes)
      assert.deepEqual(framer.stats.badChecksum, want.badChecksum)
      assert.equal(framer.deadline_ms, undefined)
    }),
    { numRuns: sample(100, 400, 400) },
  )
  t.pass('holds')
})

/** One byte each millisecond; `expire` is called exactly when due. Returns at which time each frame came out. */
function atOneKilobyte(bytes: Uint8Array) {
  let now_ms = 0
  const out: { frame: Frame; at_ms: number }[] = []
  const framer = new Framer({ onFrame: (frame) => out.push({ frame, at_ms: now_ms }) })
  const until = (time_ms: number) => {
    for (let due = framer.deadline_ms; due !== undefined && due <= time_ms; due = framer.deadline_ms) {
      now_ms = due
      framer.expire(due)
    }
    now_ms = time_ms
  }
  for (let at = 0; at < bytes.length; at++) {
    until(at)
    framer.push(bytes.subarray(at, at + 1), at)
  }
  until(bytes.length + 20_000)
  return out
}

t.test('a false header of every length in front of a frame delays it to 1.5 s at most, at 1 kB/s', async (t) => {
  const headers: Uint8Array[] = []
  for (let size = 0; size <= 8193; size++) headers.push(Uint8Array.of(0xb5, 0x62, 1, 7, size & 255, size >> 8))
  for (let size = 0; size <= 1023; size++) headers.push(Uint8Array.of(0xd3, size >> 8, size & 255))
  for (let size = 0; size <= 400; size++) headers.push(Uint8Array.from(Buffer.from(`$${'x'.repeat(size)}`)))
  headers.push(
    Uint8Array.of(0xb5),
    Uint8Array.of(0xb5, 0x62),
    Uint8Array.of(0xb5, 0x62, 1, 7, 0),
    Uint8Array.of(0xd3),
    Uint8Array.of(0xd3, 3),
  )
  let slowest_ms = 0
  for (const header of headers) {
    const out = atOneKilobyte(join([header, arp]))
    assert.deepEqual(
      plain(out.map(({ frame }) => frame)),
      plain([{ kind: 'rtcm', bytes: arp }]),
      Buffer.from(header).toString('hex'),
    )
    slowest_ms = Math.max(slowest_ms, out[0].at_ms)
  }
  t.ok(slowest_ms <= 1500, `${headers.length} headers, the slowest ${slowest_ms} ms after its first byte`)
  t.ok(slowest_ms >= 1000, 'some of them did have to wait')
})

t.test('in steady traffic no frame is lost or held up behind noise', async (t) => {
  const traffic = fc.array(
    fc.tuple(noise, fc.constantFrom(arp, encodeUbx(1, 7, new Uint8Array(92)), encodeNmea('GNTXT,x'))),
    { maxLength: 15 },
  )
  fc.assert(
    fc.property(traffic, (pairs) => {
      const bytes = join(pairs.flat())
      const sent = pairs.map(([, frame]) => frame)
      const want = plain(reference(bytes).frames)
      // Noise that makes a valid frame with what follows it is a frame: those streams say nothing here.
      const planted = plain(sent.map((frame) => ({ kind: whole(frame)?.kind ?? 'nmea', bytes: frame })))
      const times = (list: string[], frame: string) => list.filter((one) => one === frame).length
      fc.pre(planted.every((frame) => times(want, frame) === times(planted, frame)))
      const out = atOneKilobyte(bytes)
      const got = plain(out.map(({ frame }) => frame))
      for (const frame of planted) assert.equal(times(got, frame), times(planted, frame))
      for (const { frame, at_ms } of out)
        assert.ok(at_ms - frame.arrival_ms <= 1000, `${at_ms - frame.arrival_ms} ms late`)
    }),
    { numRuns: sample(20, 60, 60) },
  )
  t.pass('holds')
})

t.test('random bytes never throw, and the longest false headers in a row never fill it up', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4000 }), sizes, (bytes, sizes) => {
      const { framer } = collect()
      pushAll(framer, bytes, sizes)
      wait(framer)
    }),
  )
  const { framer, frames } = collect()
  const header = Uint8Array.of(0xb5, 0x62, 1, 2, 0xff, 0x1f)
  for (let n = 0; n < 5000; n++) framer.push(header, 0)
  framer.push(join(Array.from({ length: 20_000 }, () => header)), 0)
  framer.push(arp, 0)
  wait(framer)
  t.same(plain(frames), plain([{ kind: 'rtcm', bytes: arp }]))
  t.equal(framer.stats.garbage_bytes, header.length * 25_000)
})

// ── framings that the owner of a framer brings ──────────────────────────────────────────────────────────────────────

/** Septentrio: `$@`, CRC-16 (CCITT) of what follows it, id, length (a multiple of 4), all little-endian. */
const sbf: Framing = {
  kind: 'sbf',
  starts: [0x24],
  size(bytes, at, end) {
    if (at + 1 < end && bytes[at + 1] !== 0x40) return 'none'
    if (at + 8 > end) return 'unknown yet'
    const size = bytes[at + 6] | (bytes[at + 7] << 8)
    return size >= 8 && size % 4 === 0 ? size : 'none'
  },
  check: (bytes, at, size) => (bytes[at + 2] | (bytes[at + 3] << 8)) === crc16(bytes.subarray(at + 4, at + size)),
}

function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}

/** Unicore: `#…*` and the CRC-32 of the text between them, 8 hex digits, CR LF. */
const unicore: Framing = {
  kind: 'unicore',
  starts: [0x23],
  size(bytes, at, end) {
    for (let i = at + 1; i < end; i++) {
      if (bytes[i] === 0x0a) return i + 1 - at
      if (bytes[i] !== 0x0d && (bytes[i] < 0x20 || bytes[i] > 0x7e)) return 'none'
    }
    return 'unknown yet'
  },
  check(bytes, at, size) {
    const [, body, digits] =
      /^#(.*)\*([0-9a-f]{8})\r\n$/s.exec(Buffer.from(bytes.subarray(at, at + size)).toString('latin1')) ?? []
    return digits !== undefined && crc32(Buffer.from(body ?? '', 'latin1')) === Number.parseInt(digits, 16)
  },
}

const encodeSbf = (id: number, payload: Uint8Array) => {
  const frame = Buffer.alloc(8 + Math.ceil(payload.length / 4) * 4)
  frame.write('$@', 'latin1')
  frame.writeUInt16LE(id, 4)
  frame.writeUInt16LE(frame.length, 6)
  frame.set(payload, 8)
  frame.writeUInt16LE(crc16(frame.subarray(4)), 2)
  return Uint8Array.from(frame)
}
const encodeUnicore = (body: string) =>
  Uint8Array.from(Buffer.from(`#${body}*${crc32(body).toString(16).padStart(8, '0')}\r\n`, 'latin1'))

/** As `reference`, with what these two say. */
function referenceOfAll(bytes: Uint8Array): string[] {
  const frames: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const own = whole(bytes.subarray(at))
    const other = [sbf, unicore].flatMap((framing) => {
      if (!framing.starts.includes(bytes[at])) return []
      const size = framing.size(bytes, at, bytes.length)
      const isWhole = typeof size === 'number' && size <= 8200 && at + size <= bytes.length
      return isWhole && framing.check(bytes, at, size) ? [{ kind: framing.kind, size }] : []
    })
    const [found] = [...(own?.good ? [own] : []), ...other]
    if (found) frames.push(`${found.kind} ${Buffer.from(bytes.subarray(at, at + found.size)).toString('hex')}`)
    at += found?.size ?? 1
  }
  return frames
}

const otherFrame = fc.oneof(
  fc.tuple(fc.nat(65_535), fc.uint8Array({ maxLength: 60 })).map(([id, bytes]) => encodeSbf(id, bytes)),
  fc.constantFrom(8184, 8192).map((size) => encodeSbf(7, new Uint8Array(size).fill(0x24))),
  printable.map(encodeUnicore),
  fc.integer({ min: 1020, max: 2100 }).map((size) => encodeUnicore('#$@'.repeat(size / 3))),
)
const otherNoise = fc.oneof(
  fc
    .constantFrom('$@', '$@abcd', '#', '#VERSIONA,97*', '#a\n', '$@\0\0\0\0\xff\xfc')
    .map((text) => Uint8Array.from(Buffer.from(text, 'latin1'))),
  fc.tuple(otherFrame, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([frame, at, flip]) => {
    const bytes = Uint8Array.from(frame)
    bytes[at % bytes.length] ^= flip
    return bytes
  }),
  fc.tuple(otherFrame, fc.nat()).map(([frame, at]) => frame.subarray(0, at % frame.length)),
)
const streamOfAll = fc.array(fc.oneof(goodFrame, noise, otherFrame, otherNoise), { maxLength: 12 }).map(join)

t.test(
  'with framings of its own in any chunks, the same: theirs and the three are found, and nothing else',
  async (t) => {
    let others = 0
    fc.assert(
      fc.property(streamOfAll, sizes, fc.boolean(), (bytes, sizes, byTime) => {
        const frames: string[] = []
        const framer = new Framer({
          framings: [sbf, unicore],
          onFrame: (frame) => {
            if (frame.kind === 'other') others++
            const kind = frame.kind === 'other' ? frame.framing : frame.kind
            frames.push(`${kind} ${Buffer.from(frame.bytes).toString('hex')}`)
          },
        })
        pushAll(framer, bytes, sizes)
        if (byTime) assert.ok(wait(framer) <= 1000, 'all bytes came at 0')
        else framer.flush()
        assert.deepEqual(frames, referenceOfAll(bytes))
        const { stats } = framer
        assert.equal(
          Object.values(stats.frames).reduce((sum, count) => sum + count),
          frames.length,
        )
        assert.equal(
          stats.garbage_bytes,
          bytes.length - frames.reduce((sum, text) => sum + (text.split(' ')[1]?.length ?? 0) / 2, 0),
        )
        assert.equal(framer.deadline_ms, undefined)
      }),
      { numRuns: sample(100, 400, 200) },
    )
    t.ok(others > sample(25, 100, 100), `${others} frames of theirs`)
  },
)

t.test('a frame of a framing that was not brought is garbage, and one with a wrong checksum is counted', async (t) => {
  const good = join([encodeSbf(4007, new Uint8Array(20)), encodeUnicore('VERSIONA,97,GPS')])
  const { framer, frames } = collect()
  framer.push(good, 0)
  framer.flush()
  t.strictSame([frames.length, framer.stats.garbage_bytes], [0, good.length])
  const bad = Uint8Array.from(good)
  bad[12] ^= 1
  const kinds: string[] = []
  const both = new Framer({
    framings: [sbf, unicore],
    onFrame: (frame) => kinds.push(frame.kind === 'other' ? frame.framing : frame.kind),
  })
  for (const byte of bad) both.push(Uint8Array.of(byte), 0)
  t.strictSame([kinds, both.stats.badChecksum.other], [['unicore'], 1])
})
