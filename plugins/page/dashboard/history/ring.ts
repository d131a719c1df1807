/** A ring of samples at one interval: figures over a day, in bounded memory. Pure. */

/** A figure is kept as a whole number of its resolution. */
export interface Figure {
  readonly name: string
  /** For the page, e.g. `dB-Hz`. */
  readonly unit: string
  readonly resolution: number
}

const unknown = -32_768
const largest = 32_767

export interface Series {
  /** UTC seconds of the newest sample, 0 while no time is known. */
  readonly t: number
  readonly interval_s: number
  /** Oldest first; null: nothing is known of that time. */
  readonly figures: Record<string, (number | null)[]>
}

export class SampleRing {
  readonly #figures: readonly Figure[]
  readonly #capacity: number
  readonly #columns: Int16Array[]
  /** Samples ever taken: the newest is at `(#taken - 1) % capacity`. */
  #taken = 0

  constructor(figures: readonly Figure[], capacity: number) {
    this.#figures = figures
    this.#capacity = capacity
    this.#columns = figures.map(() => new Int16Array(capacity).fill(unknown))
  }

  /** Samples that it holds. */
  get length(): number {
    return Math.min(this.#taken, this.#capacity)
  }

  /** @param values in the order of the figures; undefined: not known */
  add(values: readonly (number | undefined)[]): void {
    const at = this.#taken % this.#capacity
    for (const [n, { resolution }] of this.#figures.entries()) {
      const value = values[n]
      const steps = value === undefined || !Number.isFinite(value) ? unknown : Math.round(value / resolution)
      const column = this.#columns[n] as Int16Array
      column[at] = steps === unknown ? unknown : Math.max(-largest, Math.min(largest, steps))
    }
    this.#taken += 1
  }

  /** Time in which nothing was recorded. */
  skip(samples: number): void {
    for (let n = 0; n < Math.min(samples, this.#capacity); n++) this.add([])
  }

  /**
   * @param names series names; unknown ones are omitted
   * @param step number of samples averaged to one value
   */
  series(names: readonly string[], step: number): Record<string, (number | null)[]> {
    const { length } = this
    const found: Record<string, (number | null)[]> = {}
    for (const [n, { name, resolution }] of this.#figures.entries()) {
      if (!names.includes(name)) continue
      const column = this.#columns[n] as Int16Array
      const values: (number | null)[] = []
      // From the newest back, so that whole steps end now.
      for (let end = length; end > 0; end -= step) {
        let sum = 0
        let count = 0
        for (let i = Math.max(0, end - step); i < end; i++) {
          const steps = column[(this.#taken - length + i) % this.#capacity] as number
          if (steps === unknown) continue
          sum += steps
          count += 1
        }
        values.push(count === 0 ? null : rounded((sum / count) * resolution))
      }
      found[name] = values.reverse()
    }
    return found
  }

  /** As bytes that `load` takes back: which figures there are, then each with its samples. */
  save(): Buffer {
    const { length } = this
    const head = Buffer.from(JSON.stringify(this.#figures.map(keyOf)))
    const bytes = Buffer.alloc(4 + head.length + length * this.#columns.length * 2)
    bytes.writeUInt32LE(head.length)
    head.copy(bytes, 4)
    let at = 4 + head.length
    for (const column of this.#columns) {
      for (let i = 0; i < length; i++)
        at = bytes.writeInt16LE(column[(this.#taken - length + i) % this.#capacity] as number, at)
    }
    return bytes
  }

  /**
   * Loads the series that both have: another version may record others.
   * @returns false, with the ring unchanged, if the bytes have another shape
   */
  load(bytes: Buffer): boolean {
    const saved = samplesIn(bytes)
    if (!saved || saved.length > this.#capacity) return false
    for (const column of this.#columns) column.fill(unknown)
    this.#taken = 0
    this.#append(saved)
    return true
  }

  /** Puts the saved samples in front of those recorded since. @param gap samples between them. @returns as `load` */
  loadBefore(bytes: Buffer, gap: number): boolean {
    const since = samplesIn(this.save())
    if (!this.load(bytes)) return false
    this.skip(gap)
    if (since) this.#append(since)
    return true
  }

  #append({ keys, length, body }: Samples): void {
    const from = this.#figures.map((figure) => keys.indexOf(keyOf(figure)))
    for (let i = 0; i < length; i++) {
      const at = this.#taken % this.#capacity
      for (const [n, column] of this.#columns.entries()) {
        const row = from[n] as number
        column[at] = row < 0 ? unknown : body.readInt16LE((row * length + i) * 2)
      }
      this.#taken += 1
    }
  }
}

/** Figures of one name and resolution can be continued. */
const keyOf = ({ name, resolution }: Figure) => `${name} ${resolution}`

/** As `save` has them: whole columns, one after the other. */
interface Samples {
  readonly keys: readonly string[]
  readonly length: number
  readonly body: Buffer
}

/** Undefined when the bytes are of another shape. */
function samplesIn(bytes: Buffer): Samples | undefined {
  try {
    const start = 4 + bytes.readUInt32LE()
    const keys: unknown = JSON.parse(bytes.toString('utf8', 4, start))
    if (!Array.isArray(keys) || keys.length === 0 || !keys.every((key) => typeof key === 'string')) return undefined
    const body = bytes.subarray(start)
    const length = body.length / (keys.length * 2)
    return Number.isInteger(length) ? { keys, length, body } : undefined
  } catch {
    return undefined
  }
}

const rounded = (value: number) => Number(value.toPrecision(5))
