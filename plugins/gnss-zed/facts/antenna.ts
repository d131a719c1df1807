/** The antenna supervisor over time: what it says now, how often it failed, when it was last seen well or not. */
import * as ubx from '../ubx/index.js'

export type AntennaStatus = (typeof ubx.antennaStatusNames)[number]

export interface AntennaReport {
  /** 0 off, 1 on, 2 unknown. */
  power: number
  status: AntennaStatus
  /** How often it went over into `short` or `open`. */
  failcnt: number
  /** UTC seconds at which it was last seen in `short` or `open`; 0 never. */
  failtime: number
  /** UTC seconds at which it was last seen `ok`; 0 never. */
  oktime: number
}

const fails = (status: AntennaStatus) => status === 'short' || status === 'open'
const unknownPower = 2
/** A receiver has a block per band: the worst one counts. */
const severity: readonly AntennaStatus[] = ['short', 'open', 'ok', 'unknown', 'init']
/** MON-HW is only believed while no MON-RF comes. */
const preferRf_ms = 10_000

export class AntennaWatch {
  #report: AntennaReport = { power: unknownPower, status: 'unknown', failcnt: 0, failtime: 0, oktime: 0 }
  #rfAt_ms = Number.NEGATIVE_INFINITY
  /** As it was seen last: a fault that is still there when the receiver is back is the same one. */
  #seen: AntennaStatus = 'unknown'

  get report(): AntennaReport {
    return this.#report
  }

  /** It is short or open. */
  get fails(): boolean {
    return fails(this.#report.status)
  }

  /** Counters of the instance before. */
  restore(report: AntennaReport): void {
    this.#report = { ...report }
    this.#seen = report.status
  }

  /** The receiver is away: how the antenna is now is not known. */
  absent(): void {
    this.#report = { ...this.#report, power: unknownPower, status: 'unknown' }
  }

  monRf(payload: Uint8Array, now_ms: number, utc_s: number): void {
    const rf = ubx.decode(ubx.monRf, payload)
    if (!rf || rf.blocks.length === 0) return
    this.#rfAt_ms = now_ms
    const seen = rf.blocks.map(({ antStatus, antPower }) => ({ status: statusOf(antStatus), power: antPower }))
    seen.sort((p, q) => severity.indexOf(p.status) - severity.indexOf(q.status))
    this.#update(seen[0].status, seen[0].power, utc_s)
  }

  monHw(payload: Uint8Array, now_ms: number, utc_s: number): void {
    const hw = ubx.decode(ubx.monHw, payload)
    if (!hw || now_ms - this.#rfAt_ms < preferRf_ms) return
    this.#update(statusOf(hw.antStatus), hw.antPower, utc_s)
  }

  #update(status: AntennaStatus, power: number, utc_s: number): void {
    const before = this.#report
    const failing = fails(status)
    const isNew = failing && status !== this.#seen
    this.#seen = status
    this.#report = {
      power,
      status,
      failcnt: before.failcnt + (isNew ? 1 : 0),
      failtime: failing ? utc_s : before.failtime,
      oktime: status === 'ok' ? utc_s : before.oktime,
    }
  }
}

function statusOf(code: number): AntennaStatus {
  return ubx.antennaStatusNames[code] ?? 'unknown'
}
