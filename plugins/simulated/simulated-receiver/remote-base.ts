/** A second base station under the same sky: the correction source of a corrected survey-in. */
import { offsetEnu } from 'rtk-base/gnss'
import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import { type Enu, Model, rtcmMessages } from 'rtk-base/simulation'
import type { SimulatedZed } from './receiver.js'

const period_ms = 1000
/** Unlike that of the station itself. */
const usualStationId = 42
const sent = new Set([1005, 1074, 1084, 1094, 1124, 1230])

export class RemoteBase {
  readonly #neighbour: SimulatedZed
  readonly #edges: Edges
  readonly #deliver: (packet: Uint8Array) => void
  #stop: Dispose = () => {}
  #away_m: number | undefined

  /**
   * @param neighbour the station that defines its position and time
   * @param deliver called with one packet of whole frames per second
   */
  constructor(neighbour: SimulatedZed, edges: Edges, deliver: (packet: Uint8Array) => void) {
    this.#neighbour = neighbour
    this.#edges = edges
    this.#deliver = deliver
  }

  /** Distance of the base that sends; undefined: none sends. */
  get away_m(): number | undefined {
    return this.#away_m
  }

  /**
   * @param away_m metres north of the installed position of the station; undefined: the base stops
   * @param wrong error of the announced position
   */
  send(away_m: number | undefined, wrong: Enu = { east: 0, north: 0, up: 0 }, stationId = usualStationId): void {
    void this.#stop()
    this.#away_m = away_m
    if (away_m === undefined) return
    const { options, bases } = this.#neighbour
    const model = new Model({ ...options, seed: options.seed + 1 })
    model.move(0, away_m, 0)
    const { truth } = model
    bases.set(stationId, truth)
    const arp = offsetEnu(truth, wrong)
    this.#stop = this.#edges.timers.every(period_ms, () => {
      const utc_ms = Math.round(this.#neighbour.utc_ms / period_ms) * period_ms
      const epoch = model.epoch(utc_ms, period_ms / 1000, true)
      this.#deliver(Buffer.concat(rtcmMessages({ epoch, stationId, arp, due: (type) => sent.has(type) })))
    })
  }
}
