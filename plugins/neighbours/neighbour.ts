/** One neighbouring base: what its stream says about it, and the vectors that were measured to it. */
import { Recording } from 'rtk-base/baseline'
import { isEphemeris, isMsm, messageNumber, referencePoint, sameReference, stationId } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { describesAntenna } from './own-base.js'
import { mostVectors, type Vector, valid_ms } from './vector.js'

/** Its stream has stopped, if nothing came for so long. */
export const silent_ms = 30_000

export class Neighbour {
  readonly name: string
  readonly recording = new Recording()
  /** Announced position, ECEF metres; undefined: none came yet. */
  arp: Ecef | undefined
  /** Oldest first. */
  vectors: Vector[] = []
  /** Monotonic milliseconds of the newest frame; undefined: none yet. */
  heard_ms: number | undefined
  /** Why the last comparison gave no vector; '': it did, or there was none. */
  failure = ''
  /** Changes when all that was recorded is void. */
  generation = 0
  #stationId: number | undefined
  readonly #restarted: (text: string) => void

  /** @param restarted it announces to be another base, or elsewhere: its evidence is void */
  constructor(name: string, restarted: (text: string) => void) {
    this.name = name
    this.#restarted = restarted
  }

  /** Takes a verified RTCM frame. @param now_s `gpsSeconds`; undefined: the time is not known */
  take(bytes: Uint8Array, now_ms: number, now_s: number | undefined): void {
    this.heard_ms = now_ms
    const type = messageNumber(bytes)
    const point = referencePoint(bytes)
    if (!isMsm(type) && !isEphemeris(type) && !describesAntenna(type) && !point) return
    const id = stationId(bytes)
    if (id !== undefined && id !== this.#stationId) {
      const before = this.#stationId
      this.#stationId = id
      if (before !== undefined) {
        this.arp = undefined
        this.restart(`its station ID changed from ${before} to ${id}`)
      }
    }
    if (point && !(this.arp && sameReference(this.arp, point.arp))) {
      const isOther = this.arp !== undefined
      this.arp = point.arp
      if (isOther) this.restart('its announced position changed')
    }
    // A copy: frames are views of larger buffers, which would stay in memory.
    if (now_s !== undefined && !point) this.recording.take(Uint8Array.from(bytes), now_s)
  }

  /** The evidence so far is void. @param text why; '' the reason is not the neighbour's */
  restart(text: string): void {
    const isLoss = this.vectors.length > 0 || this.recording.epochs > 0
    this.recording.clear()
    this.vectors = []
    this.failure = ''
    this.generation += 1
    if (text !== '' && isLoss) this.#restarted(text)
  }

  /** Takes over the evidence of an earlier instance for this announced position. */
  resume(arp: Ecef, vectors: readonly Vector[]): void {
    this.arp = arp
    this.vectors = [...vectors]
  }

  get newest(): Vector | undefined {
    return this.vectors.at(-1)
  }

  add(vector: Vector): void {
    this.vectors = [...this.vectors, vector].slice(-mostVectors)
  }

  /** Forgets what no longer counts. @returns whether there was any */
  expire(now_ms: number): boolean {
    const before = this.vectors.length
    this.vectors = this.vectors.filter(({ at_ms }) => now_ms - at_ms < valid_ms)
    return this.vectors.length < before
  }

  isSilent(now_ms: number): boolean {
    return this.heard_ms === undefined || now_ms - this.heard_ms > silent_ms
  }
}
