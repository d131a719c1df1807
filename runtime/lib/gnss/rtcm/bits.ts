/** Bit fields, most significant bit first, as RTCM 3 packs them. Widths up to 53 bits are exact. */

/** 2 to the power of the index: computed each time it would cost more than all the rest. */
const powers = Array.from({ length: 54 }, (_, exponent) => 2 ** exponent)

/** Reads fields one after the other. Past the end it reads zeros and sets `overrun`: wire data never throws. */
export class BitReader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #bit: number
  #overrun = false

  /** @param start,end byte range of `bytes` */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#bit = start * 8
    this.#end = end * 8
  }

  /** A field began or ended behind the last byte. */
  get overrun(): boolean {
    return this.#overrun
  }

  uint(width: number): number {
    if (this.#bit + width > this.#end) {
      this.#overrun = true
      this.#bit = this.#end
      return 0
    }
    let value = 0
    for (let left = width; left > 0; ) {
      const free = 8 - (this.#bit & 7)
      const take = Math.min(free, left)
      // Multiplied, not shifted: a 38-bit coordinate does not fit an int32.
      value = value * (1 << take) + ((this.#bytes[this.#bit >> 3] >> (free - take)) & ((1 << take) - 1))
      this.#bit += take
      left -= take
    }
    return value
  }

  /** Two's complement. */
  int(width: number): number {
    const value = this.uint(width)
    return value >= powers[width - 1] ? value - powers[width] : value
  }
}

/** The unsigned field of `width` bits at bit `at`; 0 when it ends behind the last byte. */
export function bitsAt(bytes: Uint8Array, at: number, width: number): number {
  const reader = new BitReader(bytes, at >> 3)
  reader.uint(at & 7)
  return reader.uint(width)
}

/** Writes fields one after the other into bytes that grow. */
export class BitWriter {
  readonly #bytes: number[] = []
  #bit = 0

  /** Bits written so far. */
  get length(): number {
    return this.#bit
  }

  /**
   * @throws RangeError if the value is not an integer of that width
   */
  uint(value: number, width: number): void {
    if (!Number.isInteger(value) || value < 0 || value >= powers[width]) {
      throw new RangeError(`${value} is not an unsigned integer of ${width} bits`)
    }
    for (let left = width; left > 0; ) {
      if ((this.#bit & 7) === 0) this.#bytes.push(0)
      const free = 8 - (this.#bit & 7)
      const take = Math.min(free, left)
      const part = Math.floor(value / powers[left - take]) % (1 << take)
      this.#bytes[this.#bit >> 3] |= part << (free - take)
      this.#bit += take
      left -= take
    }
  }

  /** Two's complement. @throws RangeError if the value is not an integer of that width */
  int(value: number, width: number): void {
    const half = powers[width - 1]
    if (!Number.isInteger(value) || value < -half || value >= half) {
      throw new RangeError(`${value} is not a signed integer of ${width} bits`)
    }
    this.uint(value < 0 ? value + powers[width] : value, width)
  }

  /** `width` bits of `bytes` from bit `at`. */
  copy(bytes: Uint8Array, at: number, width: number): void {
    for (let done = 0; done < width; done += 32) {
      const part = Math.min(32, width - done)
      this.uint(bitsAt(bytes, at + done, part), part)
    }
  }

  /** The written bits, padded with zero bits to whole bytes and to at least `size` bytes. */
  bytes(size = 0): Uint8Array {
    const made = new Uint8Array(Math.max(size, this.#bytes.length))
    made.set(this.#bytes)
    return made
  }
}
