import type { Finding } from './table.js'

interface Report extends Finding {
  readonly who: string
  readonly at_ms: number
}

/** Lifetime of a finding. */
const life_ms = 600_000
const mostReporters = 16

/** Reported reachability of peers through each interface. */
export class Findings {
  readonly #now_ms: () => number
  readonly #reports = new Map<string, Report[]>()

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  note(name: string, who: string, reached: boolean, text: string): void {
    const others = this.#live(name).filter((report) => report.who !== who)
    this.#reports.set(name, [{ who, reached, text, at_ms: this.#now_ms() }, ...others].slice(0, mostReporters))
  }

  /** The newest success, else the newest failure. */
  of(name: string): Finding | undefined {
    const live = this.#live(name)
    return live.find(({ reached }) => reached) ?? live.at(0)
  }

  /** Findings of the previous state of the uplink no longer apply. */
  forget(name: string): void {
    this.#reports.delete(name)
  }

  #live(name: string): Report[] {
    const since_ms = this.#now_ms() - life_ms
    return (this.#reports.get(name) ?? []).filter(({ at_ms }) => at_ms > since_ms)
  }
}
