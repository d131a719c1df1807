/** Another base station under the same sky: its RTCM is what a corrected survey-in lives on. */

import type { Edges } from 'rtk-base/link'
import type { Dispose } from 'rtk-base/plugin'
import { rtcmMessages } from './output/rtcm-output.js'
import { Model } from './physics/model.js'
import type { SimulatedZed } from './receiver.js'

const period_ms = 1000
/** Unlike that of the station itself. */
const stationId = 42
const sent = new Set([1005, 1074, 1084, 1094, 1124, 1230])

export class RemoteBase {
  readonly #neighbour: SimulatedZed
  readonly #edges: Edges
  readonly #deliver: (packet: Uint8Array) => void
  #stop: Dispose = () => {}
  #away_m: number | undefined

  /**
   * @param neighbour where it is counted from, and whose time it has
   * @param deliver one packet of whole frames a second
   */
  constructor(neighbour: SimulatedZed, edges: Edges, deliver: (packet: Uint8Array) => void) {
    this.#neighbour = neighbour
    this.#edges = edges
    this.#deliver = deliver
  }

  /** How far away the base is that sends; undefined: none does. */
  get away_m(): number | undefined {
    return this.#away_m
  }

  /** @param away_m to the north of where the station was installed; undefined: it stops */
  send(away_m: number | undefined): void {
    void this.#stop()
    this.#away_m = away_m
    if (away_m === undefined) return
    const { options } = this.#neighbour
    const model = new Model({ ...options, seed: options.seed + 1 })
    model.move(0, away_m, 0)
    this.#stop = this.#edges.timers.every(period_ms, () => {
      const utc_ms = Math.round(this.#neighbour.utc_ms / period_ms) * period_ms
      const epoch = model.epoch(utc_ms, period_ms / 1000, true)
      this.#deliver(Buffer.concat(rtcmMessages({ epoch, stationId, arp: model.truth, due: (type) => sent.has(type) })))
    })
  }
}
