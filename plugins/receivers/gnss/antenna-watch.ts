import { type AntennaReading, type AntennaStatus, antennaStatuses } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

const count = Type.Integer({ minimum: 0 })

/** `gnss.state.antenna`, also handed over to the next instance. */
export const AntennaReport = Type.Object({
  /** 0 off, 1 on, 2 unknown. */
  power: Type.Integer({ minimum: 0, maximum: 2 }),
  status: Type.Unsafe<AntennaStatus>(Type.Enum([...antennaStatuses])),
  /** How often it went over into `short` or `open`. */
  failcnt: count,
  /** UTC seconds at which it was last seen in `short` or `open`; 0 never. */
  failtime: count,
  /** UTC seconds at which it was last seen `ok`; 0 never. */
  oktime: count,
})
export type AntennaReport = Static<typeof AntennaReport>

const fails = (status: AntennaStatus) => status === 'short' || status === 'open'
const unknownPower = 2

/** The antenna over time: current status, failure count, times of the last failure and the last good status. */
export class AntennaWatch {
  #report: AntennaReport = { power: unknownPower, status: 'unknown', failcnt: 0, failtime: 0, oktime: 0 }
  /** The last known status: a fault that persists over an absence of the receiver is the same fault. */
  #seen: AntennaStatus = 'unknown'

  get report(): AntennaReport {
    return this.#report
  }

  /** The antenna input is short or open. */
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

  read({ status, isPowered }: AntennaReading, utc_s: number): void {
    const before = this.#report
    const failing = fails(status)
    const isNew = failing && status !== this.#seen
    this.#seen = status
    this.#report = {
      power: isPowered === undefined ? unknownPower : Number(isPowered),
      status,
      failcnt: before.failcnt + (isNew ? 1 : 0),
      failtime: failing ? utc_s : before.failtime,
      oktime: status === 'ok' ? utc_s : before.oktime,
    }
  }
}
