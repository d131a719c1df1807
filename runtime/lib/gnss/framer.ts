import { crc24q } from './crc24q.js'
import { fletcher8 } from './ubx.js'

/**
 * A verified frame. `bytes` has the whole frame, checksum and line end included. It is a copy that is never changed,
 * possibly a view into a larger buffer. `arrival_ms` is when the last byte arrived.
 */
export type Frame = UbxFrame | Rtcm3Frame | NmeaFrame | OtherFrame

export interface UbxFrame {
  readonly kind: 'ubx'
  readonly bytes: Uint8Array
  readonly arrival_ms: number
  /** Message class and id. */
  readonly cls: number
  readonly id: number
}

export interface Rtcm3Frame {
  readonly kind: 'rtcm'
  readonly bytes: Uint8Array
  readonly arrival_ms: number
  /** Message number, 0-4095; 0 when the payload is too short to hold one. */
  readonly type: number
}

export interface NmeaFrame {
  readonly kind: 'nmea'
  readonly bytes: Uint8Array
  readonly arrival_ms: number
}

/** A frame of one of the `framings` in the options. */
export interface OtherFrame {
  readonly kind: 'other'
  readonly bytes: Uint8Array
  readonly arrival_ms: number
  /** `Framing.kind` of the framing. */
  readonly framing: string
}

/** How to find frames of another protocol than UBX, RTCM 3 and NMEA, e.g. SBF or Unicore's formats. */
export interface Framing {
  /** Name, e.g. `sbf`, for people and for `OtherFrame.framing`. */
  readonly kind: string
  /** The bytes that a frame may begin with. */
  readonly starts: readonly number[]
  /** Size of the largest frame, up to 16,384. Default: 8,200. */
  readonly largest_bytes?: number
  /**
   * Whole size of the candidate that begins at `at`. `none`: not a frame. `unknown yet`: more than `bytes[at]` to
   * `bytes[end - 1]` is needed. A candidate of more than `largest_bytes` is rejected.
   */
  size(bytes: Uint8Array, at: number, end: number): number | 'unknown yet' | 'none'
  /** Whether the checksum of the whole candidate is right. */
  check(bytes: Uint8Array, at: number, size: number): boolean
}

/** Counted since the framer was made. */
export interface FramerStats {
  readonly frames: { readonly ubx: number; readonly rtcm: number; readonly nmea: number; readonly other: number }
  /** Bytes that belong to no verified frame. */
  readonly garbage_bytes: number
  /** Candidates with a wrong checksum, including garbage that begins like a frame. */
  readonly badChecksum: { readonly ubx: number; readonly rtcm: number; readonly nmea: number; readonly other: number }
}

export interface FramerOptions {
  /** Line rate, 10 bits per byte. Default: no known rate (USB, TCP, files). */
  baud?: number
  /** Further framings. If two fit, the first complete frame counts; UBX, RTCM 3 and NMEA come first. */
  framings?: readonly Framing[]
  onFrame(frame: Frame): void
}

const maxUbxPayload = 8192
const maxNmeaBody = 1024
const maxFrame = maxUbxPayload + 8
/** Frames are copied into slabs: a typed array of its own for each would cost more than its checksum. */
const slabSize = 16_384
const largestOf = ({ largest_bytes = maxFrame }: Framing) => Math.min(largest_bytes, slabSize)
const patience_ms = 1000
/** Delay that the operating system may add to the time on the wire. */
const jitter_ms = 250

/** For each byte: 1: a frame may begin with it, 2: one of a framing that was brought. */
const ownStarts = new Uint8Array(256)
for (const byte of [0xb5, 0xd3, 0x24, 0x21]) ownStarts[byte] = 1

/**
 * Finds UBX, RTCM 3 and NMEA frames, and those of other framings, in a byte stream, in one pass from left to right. A
 * start pattern followed by a whole frame with a valid checksum is a frame, and scanning continues behind it. Otherwise
 * one byte is dropped.
 *
 * A start pattern with an incomplete frame is a candidate, and everything waits for it. It is given up if it is
 * incomplete 1 s after its first byte (longer if its length requires it at `baud`), so that a false header never holds
 * up good frames. The framer has no timer: its owner calls `expire` at `deadline_ms`, and `flush` at the end of the
 * input.
 *
 * An error thrown by `onFrame` is rethrown by the call that found the frame, after all its bytes were scanned.
 * `onFrame` may call any method: the call is carried out after the current scan.
 */
export class Framer {
  readonly stats: FramerStats
  readonly #frames = { ubx: 0, rtcm: 0, nmea: 0, other: 0 }
  readonly #badChecksum = { ubx: 0, rtcm: 0, nmea: 0, other: 0 }
  readonly #onFrame: (frame: Frame) => void
  readonly #starts: Uint8Array
  readonly #framings: readonly Framing[]
  /** The framing of the candidate that was found whole; undefined: one of the three. */
  #found: Framing | undefined
  #garbage = 0
  #baud: number | undefined

  /** The waiting candidate and the bytes behind it, from index 0, with the arrival time of each byte. */
  readonly #kept: Uint8Array
  readonly #keptAt: Float64Array
  #keptSize = 0
  /** Whole size of the candidate, 0 while unknown. */
  #candidateSize = 0

  #slab = new Uint8Array(slabSize)
  #slabUsed = 0

  #busy: boolean = false
  readonly #later: (() => void)[] = []
  #thrown: unknown[] = []

  constructor(options: FramerOptions) {
    this.#onFrame = options.onFrame
    this.#baud = options.baud
    this.#framings = options.framings ?? []
    // Twice the largest candidate: the kept bytes never exceed one, which leaves room to append.
    const size = 2 * Math.max(maxFrame, ...this.#framings.map(largestOf))
    this.#kept = new Uint8Array(size)
    this.#keptAt = new Float64Array(size)
    this.#starts = ownStarts
    if (this.#framings.length > 0) {
      this.#starts = ownStarts.slice()
      for (const byte of this.#framings.flatMap(({ starts }) => starts)) this.#starts[byte] = 2
    }
    const framer = this
    this.stats = {
      frames: this.#frames,
      badChecksum: this.#badChecksum,
      get garbage_bytes() {
        return framer.#garbage
      },
    }
  }

  /** The line rate was changed; undefined when there is none. */
  setBaud(baud: number | undefined): void {
    this.#baud = baud
  }

  /** Time at which to call `expire`, in the caller's time; undefined while no candidate waits. */
  get deadline_ms(): number | undefined {
    if (this.#keptSize === 0) return undefined
    const wire_ms = this.#baud ? (this.#candidateSize * 10_000) / this.#baud + jitter_ms : 0
    return this.#keptAt[0] + Math.max(patience_ms, wire_ms)
  }

  /** The waiting bytes: the beginning of a frame, for a successor on this stream. A copy. */
  get pending(): Uint8Array {
    return this.#kept.slice(0, this.#keptSize)
  }

  /**
   * Takes bytes as they come; `chunk` may be reused afterwards. Bytes that complete a candidate count even when they
   * arrive late, because then the reading process was probably blocked, not the sender. After a break in the stream
   * (the
   * port was opened again) call `flush` first.
   * @param now_ms monotonic milliseconds at which they arrived
   */
  push(chunk: Uint8Array, now_ms: number): void {
    // A handler's own push waits, and its bytes may be overwritten until then.
    if (this.#busy) this.#later.push(this.#push.bind(this, Uint8Array.from(chunk), now_ms))
    else this.#run(() => this.#push(chunk, now_ms))
  }

  /** Gives up expired candidates. */
  expire(now_ms: number): void {
    if (this.#keptSize > 0) this.#run(() => this.#expire(now_ms))
  }

  /** The input has ended: the waiting bytes can never be completed. */
  flush(): void {
    this.#run(() => {
      this.#scan(this.#kept, 0, this.#keptSize, true, 0)
      this.#keptSize = 0
    })
  }

  #run(step: () => void): void {
    if (this.#busy) {
      this.#later.push(step)
      return
    }
    this.#busy = true
    try {
      for (let next: (() => void) | undefined = step; next; next = this.#later.shift()) next()
    } finally {
      this.#busy = false
    }
    if (this.#thrown.length > 0) {
      const [first] = this.#thrown
      this.#thrown = []
      throw first
    }
  }

  #push(chunk: Uint8Array, now_ms: number): void {
    // One hidden class for everything that is scanned: a Buffer would make each access in the hot loop polymorphic.
    const bytes =
      chunk.constructor === Uint8Array ? chunk : new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let position = 0
    while (position < bytes.length) {
      if (this.#keptSize === 0) {
        // Nothing waits: scanned in place, only an unfinished candidate is copied.
        position = this.#scan(bytes, position, bytes.length, false, now_ms)
        this.#append(bytes, position, bytes.length, now_ms)
        break
      }
      const before = this.#keptSize
      const missing = this.#candidateSize > 0 ? this.#candidateSize - before : maxNmeaBody
      const end = Math.min(bytes.length, position + Math.max(1, missing))
      this.#append(bytes, position, end, now_ms)
      const scanned = this.#scan(this.#kept, 0, this.#keptSize, false, now_ms)
      if (scanned >= before) {
        // All waiting bytes are processed: continue in the chunk itself.
        position += scanned - before
        this.#keptSize = 0
      } else {
        position = end
        this.#drop(scanned)
      }
    }
    this.#expire(now_ms)
  }

  #expire(now_ms: number): void {
    for (let deadline = this.deadline_ms; deadline !== undefined && now_ms >= deadline; deadline = this.deadline_ms) {
      this.#garbage++
      this.#drop(this.#scan(this.#kept, 1, this.#keptSize, false, now_ms))
    }
  }

  #append(bytes: Uint8Array, start: number, end: number, now_ms: number): void {
    if (start >= end) return
    const size = this.#keptSize + end - start
    this.#kept.set(bytes.subarray(start, end), this.#keptSize)
    this.#keptAt.fill(now_ms, this.#keptSize, size)
    this.#keptSize = size
  }

  #drop(count: number): void {
    if (count === 0) return
    this.#kept.copyWithin(0, count, this.#keptSize)
    this.#keptAt.copyWithin(0, count, this.#keptSize)
    this.#keptSize -= count
  }

  /**
   * Scans `bytes[start..end)` and returns where the candidate stands that needs more bytes (its size, if it is known, in
   * `#candidateSize`), or `end`. With `final` there are no more bytes.
   */
  #scan(bytes: Uint8Array, start: number, end: number, final: boolean, now_ms: number): number {
    const kept = bytes === this.#kept
    const starts = this.#starts
    let at = start
    while (at < end) {
      const first = bytes[at]
      const known = starts[first]
      if (known === 0) {
        at++
        this.#garbage++
        continue
      }
      // > 0: a frame of that size; 0: not a frame; < 0: more bytes are needed, -1 for an unknown number, else -size.
      const size =
        known === 2
          ? this.#any(bytes, at, end, final)
          : first === 0xb5
            ? this.#ubx(bytes, at, end)
            : first === 0xd3
              ? this.#rtcm(bytes, at, end)
              : this.#nmea(bytes, at, end)
      if (size > 0) {
        const arrival_ms = kept ? this.#keptAt[at + size - 1] : now_ms
        this.#emit(first, this.#copy(bytes, at, size), arrival_ms)
        at += size
      } else if (size === 0 || final) {
        at++
        this.#garbage++
      } else {
        this.#candidateSize = size === -1 ? 0 : -size
        return at
      }
    }
    return at
  }

  /** Where a framing that was brought may begin, and perhaps one of the three as well. */
  #any(bytes: Uint8Array, at: number, end: number, final: boolean): number {
    this.#found = undefined
    const first = bytes[at]
    const bad = { ...this.#badChecksum }
    let needs = 0
    if (ownStarts[first] === 1) {
      const own =
        first === 0xb5
          ? this.#ubx(bytes, at, end)
          : first === 0xd3
            ? this.#rtcm(bytes, at, end)
            : this.#nmea(bytes, at, end)
      if (own > 0) return own
      needs = own
    }
    for (const framing of this.#framings) {
      if (!framing.starts.includes(first)) continue
      const size = framing.size(bytes, at, end)
      if (size === 'unknown yet') needs = end - at >= largestOf(framing) ? needs : needs || -1
      else if (size !== 'none' && size > 0 && size <= largestOf(framing)) {
        if (at + size > end) needs = Math.min(needs, -size)
        else if (framing.check(bytes, at, size)) {
          this.#found = framing
          return size
        } else this.#badChecksum.other++
      }
    }
    // They are looked at once more when there is more.
    if (needs < 0 && !final) Object.assign(this.#badChecksum, bad)
    return needs
  }

  #ubx(bytes: Uint8Array, at: number, end: number): number {
    if (at + 1 < end && bytes[at + 1] !== 0x62) return 0
    if (at + 6 > end) return -1
    const payload = bytes[at + 4] | (bytes[at + 5] << 8)
    if (payload > maxUbxPayload) return 0
    const size = payload + 8
    if (at + size > end) return -size
    const sum = bytes[at + size - 2] | (bytes[at + size - 1] << 8)
    if (fletcher8(bytes, at + 2, at + size - 2) === sum) return size
    this.#badChecksum.ubx++
    return 0
  }

  #rtcm(bytes: Uint8Array, at: number, end: number): number {
    if (at + 1 < end && bytes[at + 1] > 3) return 0
    if (at + 3 > end) return -1
    const size = ((bytes[at + 1] << 8) | bytes[at + 2]) + 6
    if (at + size > end) return -size
    if (crc24q(bytes, at, at + size) === 0) return size
    this.#badChecksum.rtcm++
    return 0
  }

  #nmea(bytes: Uint8Array, at: number, end: number): number {
    const limit = Math.min(end, at + 1 + maxNmeaBody + 3)
    let xor = 0
    let i = at + 1
    for (; i < limit; i++) {
      const byte = bytes[i]
      if (byte < 0x20 || byte > 0x7e) break
      xor ^= byte
    }
    if (i === end) return -1
    let last = i
    if (bytes[i] === 0x0d) {
      last = i + 1
      if (last === end) return -1
    }
    if (bytes[last] !== 0x0a || i - at < 4 || bytes[i - 3] !== 0x2a) return 0
    const high = hexDigit(bytes[i - 2])
    const low = hexDigit(bytes[i - 1])
    if (high < 0 || low < 0) return 0
    // The loop included `*hh`: XOR with it a second time removes it.
    if ((xor ^ 0x2a ^ bytes[i - 2] ^ bytes[i - 1]) === ((high << 4) | low)) return last + 1 - at
    this.#badChecksum.nmea++
    return 0
  }

  #emit(first: number, bytes: Uint8Array, arrival_ms: number): void {
    let frame: Frame
    if (this.#found) {
      this.#frames.other++
      frame = { kind: 'other', bytes, arrival_ms, framing: this.#found.kind }
      this.#found = undefined
    } else if (first === 0xb5) {
      this.#frames.ubx++
      frame = { kind: 'ubx', bytes, arrival_ms, cls: bytes[2], id: bytes[3] }
    } else if (first === 0xd3) {
      this.#frames.rtcm++
      frame = { kind: 'rtcm', bytes, arrival_ms, type: bytes.length < 8 ? 0 : (bytes[3] << 4) | (bytes[4] >> 4) }
    } else {
      this.#frames.nmea++
      frame = { kind: 'nmea', bytes, arrival_ms }
    }
    try {
      this.#onFrame(frame)
    } catch (error) {
      this.#thrown.push(error)
    }
  }

  #copy(bytes: Uint8Array, at: number, size: number): Uint8Array {
    if (this.#slabUsed + size > slabSize) {
      this.#slab = new Uint8Array(slabSize)
      this.#slabUsed = 0
    }
    const from = this.#slabUsed
    this.#slabUsed = from + size
    this.#slab.set(bytes.subarray(at, at + size), from)
    return this.#slab.subarray(from, from + size)
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte & 0xdf
  return letter >= 0x41 && letter <= 0x46 ? letter - 0x37 : -1
}
