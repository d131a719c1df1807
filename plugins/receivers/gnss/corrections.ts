/** Corrections as the receiver itself reports them, one message after the other. */

interface Source {
  stationId: number
  since_ms: number
  last_ms: number
  count: number
}

export class ReportedCorrections {
  #source: Source | undefined

  count(stationId: number, now_ms: number): void {
    if (this.#source?.stationId !== stationId) {
      this.#source = { stationId, since_ms: now_ms, last_ms: now_ms, count: 0 }
    }
    this.#source.last_ms = now_ms
    this.#source.count++
  }

  /** `gnss.state.recvrtcm`, where no plugin has its own. Each message counts as a packet; the distance is not known. */
  block(now_ms: number, maxAge_s: number) {
    if (!this.#source) return { elapsed: 0, age: 0, count: 0, packets: 0, remote: '', dist: 0 }
    const { stationId, since_ms, last_ms, count } = this.#source
    const age_s = (now_ms - last_ms) / 1000
    return {
      elapsed: Math.floor((now_ms - since_ms) / 1000),
      age: Math.floor(age_s),
      count,
      packets: count,
      remote: age_s <= maxAge_s ? `station ${stationId}` : '',
      dist: 0,
    }
  }
}
