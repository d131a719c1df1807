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
  /** When each was asked last, UTC seconds. */
  readonly #asked_s = new Map<string, number>()
  /** Stations that could not be asked yet: their verdict is not explained, or nobody has stored their newest document. */
  readonly #waiting = new Map<string, 'unexplained' | 'missed'>()
  /** Stations asked since the last look. */
  #asked = 0
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
    if (isRecent || this.#asked >= mostAsked) {
      this.#waiting.set(serial, 'unexplained')
      return
    }
    this.#asked += 1
    this.ask(serial)
  }

  /** With the next look. */
  missed(serial: string): void {
    this.#waiting.set(serial, 'missed')
  }

  forget(serial: string): void {
    this.#asked_s.delete(serial)
    this.#waiting.delete(serial)
  }

  /** Every few seconds. */
  look(stations: ReadonlyMap<string, FleetStation>): void {
    this.#asked = 0
    for (const [serial, why] of this.#waiting) {
      if (this.#asked >= mostAsked) break
      this.#waiting.delete(serial)
      const station = stations.get(serial)
      if (!station || (why === 'unexplained' && !isUnexplained(station))) continue
      this.#asked += 1
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
