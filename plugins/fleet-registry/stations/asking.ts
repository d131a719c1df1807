import type { PluginContext } from 'rtk-base/plugin'
import type { FleetStation } from 'rtk-base/services'
import type { SignsOfLife } from './signs-of-life.js'
import { isUnexplained } from './verdicts.js'

/** A station without the topic `state` is asked for its document this often, and any other one this often. */
const regular_s = { document: 600, state: 3_600 } as const
/** A station that says nothing is asked so long after it should have, and so often. */
const doubted_s = 60
const doubtedAgain_s = 300
/** A station whose verdict changes all the time is asked for the reason at most this often. */
const whyAgain_s = 10
/** Requests in one look: the answers of ten thousand stations at once would be 200 MB. */
const mostAsked = 100

/** Asks stations for their documents: regularly, when they are silent, and to explain a verdict. */
export class Asking {
  readonly #ctx: PluginContext
  readonly #life: SignsOfLife
  readonly #send: (serial: string) => void
  /** Until the document comes, UTC seconds. */
  readonly #asked_s = new Map<string, number>()
  /** Stations whose verdict is not explained, and that could not be asked yet. */
  readonly #unexplained = new Set<string>()
  /** Explanations since the last look. */
  #explained = 0
  #next = 0

  constructor(ctx: PluginContext, life: SignsOfLife, send: (serial: string) => void) {
    this.#ctx = ctx
    this.#life = life
    this.#send = send
  }

  ask(serial: string): void {
    this.#asked_s.set(serial, this.#now_s())
    this.#send(serial)
  }

  /** At once if possible. The states of all stations come after an outage of the broker, and must not cause all documents. */
  why(serial: string): void {
    const isRecent = this.#now_s() - (this.#asked_s.get(serial) ?? 0) < whyAgain_s
    if (isRecent || this.#explained >= mostAsked) {
      this.#unexplained.add(serial)
      return
    }
    this.#explained += 1
    this.ask(serial)
  }

  answered(serial: string): void {
    this.#asked_s.delete(serial)
  }

  forget(serial: string): void {
    this.#asked_s.delete(serial)
    this.#unexplained.delete(serial)
  }

  /** Every few seconds. */
  look(stations: ReadonlyMap<string, FleetStation>): void {
    this.#explained = 0
    for (const serial of this.#unexplained) {
      if (this.#explained >= mostAsked) break
      this.#unexplained.delete(serial)
      const station = stations.get(serial)
      if (!station || !isUnexplained(station)) continue
      this.#explained += 1
      this.ask(serial)
    }
    this.#askSome([...stations.values()])
  }

  /** Goes around all stations, some in each look. */
  #askSome(all: readonly FleetStation[]): void {
    const next = all.length === 0 ? 0 : this.#next % all.length
    let asked = 0
    for (const [looked, station] of [...all.slice(next), ...all.slice(0, next)].entries()) {
      if (station.online !== 'online' || !this.#isDue(station)) continue
      this.ask(station.serial)
      asked += 1
      this.#next = next + looked + 1
      if (asked >= mostAsked) return
    }
  }

  #isDue({ serial, source, document_s }: FleetStation): boolean {
    const own_s = regular_s[source === 'state' ? 'state' : 'document']
    const asked_s = this.#now_s() - (this.#asked_s.get(serial) ?? 0)
    const { length_s, isHeard } = this.#life.silence(serial)
    if (length_s >= (isHeard ? own_s + doubted_s : doubted_s)) return asked_s >= doubtedAgain_s
    return Math.min(asked_s, this.#now_s() - document_s) >= own_s
  }

  #now_s(): number {
    return Math.floor(this.#ctx.clock.now() / 1000)
  }
}
