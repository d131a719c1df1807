/** One neighbouring base: what its stream says about it, and the vectors that were measured to it. */
import { Recording } from 'rtk-base/baseline'
import {
  decodeRtcm,
  flowLimit_ms,
  isEphemeris,
  isMsm,
  isObservation,
  messageNumber,
  ObservationInterval,
  referencePoint,
  sameReference,
  stationId,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { describesAntenna } from './own-base.js'
import { mostVectors, type Vector, valid_ms } from './vector.js'

/** A neighbour's stream has stopped if nothing came for so long, or for three intervals of its observations. */
const silent_ms = 30_000
/** Observations of a full half minute must have come by then. */
const useful_ms = 120_000
/** One whose evidence starts again so often in this time is ignored until it is steady. */
const unsteady = { times: 3, within_ms: 600_000 }

export class Neighbour {
  /** As set. */
  name = ''
  readonly recording = new Recording()
  /** Announced position, ECEF metres; undefined: none came yet. */
  arp: Ecef | undefined
  /** Oldest first. */
  vectors: Vector[] = []
  /** A network computes its observations for some place. */
  isVirtual = false
  /** Monotonic milliseconds of the newest frame; undefined: none yet. */
  heard_ms: number | undefined
  readonly #interval = new ObservationInterval()
  /** Why the last comparison gave no vector; '': it did, or there was none. */
  failure = ''
  /** Changes when all that was recorded is void. */
  generation = 0
  #stationId: number | undefined
  /** Since when observations should have been recorded, monotonic milliseconds, and whether any came as MSM. */
  #since_ms: number | undefined
  #hasMsm = false
  /** Monotonic milliseconds of the newest changes of its position or station ID. */
  #changes: number[] = []
  readonly #restarted: (text: string) => void

  /** @param restarted it announces to be another base, or elsewhere: its evidence is void */
  constructor(restarted: (text: string) => void) {
    this.#restarted = restarted
  }

  /** Takes a verified RTCM frame. @param now_s `gpsSeconds`; undefined: the time is not known */
  receive(bytes: Uint8Array, now_ms: number, now_s: number | undefined): void {
    this.heard_ms = now_ms
    const type = messageNumber(bytes)
    if (isObservation(type)) this.#interval.heard(now_ms)
    if (now_s !== undefined) this.#since_ms ??= now_ms
    if (isMsm(type)) this.#hasMsm = true
    const point = referencePoint(bytes)
    if (!isMsm(type) && !isEphemeris(type) && !describesAntenna(type) && !point) return
    // Casters insert reference messages of their own, with another ID.
    const id = isMsm(type) ? stationId(bytes) : undefined
    if (id !== undefined && id !== this.#stationId) {
      const before = this.#stationId
      this.#stationId = id
      if (before !== undefined) {
        this.arp = undefined
        this.#change(`its station ID changed from ${before} to ${id}`, now_ms)
      }
    }
    const message = point && decodeRtcm(bytes)
    if (message && 'virtual' in message) this.isVirtual = message.virtual
    if (point && !(this.arp && sameReference(this.arp, point.arp))) {
      const isOther = this.arp !== undefined
      this.arp = point.arp
      if (isOther) this.#change('its announced position changed', now_ms)
    }
    if (now_s !== undefined && !point && !this.isUnsteady(now_ms)) this.recording.take(bytes, now_s)
  }

  #change(text: string, now_ms: number): void {
    const isLoss = this.vectors.length > 0 || this.recording.epochs > 0
    this.#changes = [...this.#changes, now_ms].slice(-unsteady.times)
    this.restart()
    if (isLoss) this.#restarted(text)
  }

  /** The neighbour's station ID or position keeps changing: two bases share the stream, or somebody plays. */
  isUnsteady(now_ms: number): boolean {
    const [first] = this.#changes
    return this.#changes.length === unsteady.times && first !== undefined && now_ms - first < unsteady.within_ms
  }

  /** Why a stream that arrives can never be compared; `''`: it can, or it is too early to say. */
  uselessness(now_ms: number): string {
    if (this.recording.epochs > 0 || this.#since_ms === undefined || now_ms - this.#since_ms < useful_ms) return ''
    return this.#hasMsm
      ? 'it sends no observations at full half minutes of GPS time, or its clock is wrong'
      : 'it sends no observations as MSM (1074 to 1137): choose another mountpoint'
  }

  /** The evidence so far is void. */
  restart(): void {
    this.recording.clear()
    this.#since_ms = undefined
    this.vectors = []
    this.failure = ''
    this.generation += 1
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
    return this.heard_ms === undefined || now_ms - this.heard_ms > flowLimit_ms(this.#interval.interval_ms, silent_ms)
  }
}
