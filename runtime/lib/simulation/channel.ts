/** One tracked satellite: the lock of each of its signals, their ambiguities, and the causes of cycle slips. */
import { type Static, Type } from 'typebox'
import { GaussMarkov, type Random } from './random.js'

/** The observation of one signal of a satellite in an epoch. */
export interface SignalTrack {
  readonly cno_dbhz: number
  /** Seconds since the signal was locked. */
  readonly lock_s: number
  /** Phase ambiguity in cycles, possibly with half a cycle. Constant while the lock holds. */
  readonly ambiguity: number
  /** The receiver does not know yet whether half a cycle is missing. */
  readonly halfCycle: boolean
  readonly phaseNoise_m: number
}

const Lock = Type.Object({
  ambiguity: Type.Number(),
  since_gps_s: Type.Number(),
  /** Half a cycle is missing until then. */
  half_gps_s: Type.Number(),
})
type Lock = Static<typeof Lock>

/** State of a channel, plain data: the simulated receiver keeps its lock when its plugin is reloaded. */
export const ChannelSnapshot = Type.Object({ multipath: Type.Number(), locks: Type.Array(Lock) })
export type ChannelSnapshot = Static<typeof ChannelSnapshot>

/** Multipath forgets with this. */
const multipath_s = 60
/** A half cycle is resolved after this long. */
const halfCycle_s = 15
/** Half-cycle slips, and slips that the lock indicator does not show. */
const halfShare = 0.1
const silentShare = 0.1
const mostCycles = 20

export class Channel {
  readonly multipath: GaussMarkov
  /** Multipath of the signals other than the first, which is independent of that of the first. */
  readonly otherMultipath: GaussMarkov
  readonly #random: Random
  readonly #firstAmbiguity: number
  readonly #locks: Lock[] = []

  /**
   * @param random source of the code errors @param fine source of the phase errors
   */
  constructor(random: Random, fine: Random) {
    this.#firstAmbiguity = Math.round((random.uniform() - 0.5) * 200)
    this.multipath = new GaussMarkov(random, multipath_s)
    this.otherMultipath = new GaussMarkov(fine, multipath_s)
    this.#random = fine
  }

  /**
   * The observations of the next epoch.
   * @param cno_dbhz C/N0 of each received signal; a missing signal has lost its lock
   * @param phase_m phase noise, 1 sigma, metres @param slips probability of a cycle slip of a signal at 45 dB-Hz
   */
  step(cno_dbhz: readonly number[], gps_s: number, phase_m: number, slips: number): SignalTrack[] {
    this.#locks.length = Math.min(this.#locks.length, cno_dbhz.length)
    return cno_dbhz.map((cno, i) => {
      this.#locks[i] ??= { ambiguity: this.#firstAmbiguity, since_gps_s: gps_s, half_gps_s: 0 }
      const lock = this.#locks[i]
      if (slips > 0 && this.#random.uniform() < slips * slipFactor(cno)) this.#slip(lock, gps_s)
      if (lock.half_gps_s !== 0 && gps_s >= lock.half_gps_s) this.#resolve(lock)
      return {
        cno_dbhz: cno,
        lock_s: gps_s - lock.since_gps_s,
        ambiguity: lock.ambiguity,
        halfCycle: lock.half_gps_s !== 0,
        phaseNoise_m: phase_m * this.#random.normal(),
      }
    })
  }

  /** The phases of the satellite jump. @param silent the lock indicators do not show it */
  slip(cycles: number, gps_s: number, silent: boolean): void {
    for (const lock of this.#locks) {
      lock.ambiguity += cycles
      if (silent) continue
      lock.since_gps_s = gps_s
      lock.half_gps_s = cycles % 1 === 0 ? 0 : gps_s + halfCycle_s
    }
  }

  snapshot(): ChannelSnapshot {
    return { multipath: this.multipath.value, locks: structuredClone(this.#locks) }
  }

  restore({ multipath, locks }: ChannelSnapshot): void {
    this.multipath.value = multipath
    this.#locks.splice(0, this.#locks.length, ...structuredClone(locks))
  }

  #slip(lock: Lock, gps_s: number): void {
    const kind = this.#random.uniform()
    const sign = this.#random.uniform() < 0.5 ? -1 : 1
    const cycles = 1 + Math.floor(this.#random.uniform() * mostCycles)
    if (kind < halfShare) {
      lock.ambiguity += sign / 2
      lock.half_gps_s = gps_s + halfCycle_s
    } else lock.ambiguity += sign * cycles
    if (kind < 1 - silentShare) lock.since_gps_s = gps_s
  }

  /** The missing half cycle is put right: the phase jumps back, and the lock is told to have begun again. */
  #resolve(lock: Lock): void {
    lock.ambiguity = Math.round(lock.ambiguity)
    lock.since_gps_s = lock.half_gps_s
    lock.half_gps_s = 0
  }
}

/** Ten times as many at 25 dB-Hz as at 45. */
const slipFactor = (cno_dbhz: number) => 10 ** ((45 - cno_dbhz) / 20)
