import type { Broker } from '../settings.js'

const memory_ms = 24 * 3_600_000

/** The brokers that speak MQTT 3.1.1 only. Each is remembered for 24 hours, because it may be updated. */
export class OldBrokers {
  readonly #monotonic: () => number
  readonly #until_ms = new Map<string, number>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  get entries(): [string, number][] {
    return [...this.#until_ms]
  }

  load(entries: Iterable<readonly [string, number]>): void {
    for (const [key, until_ms] of entries) this.#until_ms.set(key, until_ms)
  }

  add({ host, port }: Broker): void {
    this.#until_ms.set(`${host}:${port}`, this.#monotonic() + memory_ms)
  }

  has({ host, port }: Broker): boolean {
    return (this.#until_ms.get(`${host}:${port}`) ?? 0) > this.#monotonic()
  }
}
