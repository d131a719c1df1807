/**
 * Compares received with expected signals, and counts losses of lock. It uses the MSM of the receiver itself, or
 * its satellite reports if it sends none.
 */
import { bandOf, constellationOf, decodeMsm, msmSignalName } from 'rtk-base/gnss'
import type { ConstellationName, SatelliteEpoch } from 'rtk-base/services'

/** The signals of the worldwide constellations that a receiver is set to track. */
export type ExpectedSignals = ReadonlyMap<ConstellationName, readonly string[]>

/** A signal that was received so lately is seen. */
const seen_ms = 10_000
/** An expected constellation, or a whole band, that is not received for this long is missed. */
const missed_ms = 300_000
/** No satellite at all for this long. */
const nothing_ms = 60_000
/** Breaks of lock are counted over this time, in parts. */
const window_ms = 300_000
const part_ms = 10_000
/** Weak signals lose lock without a fault. */
const strong_dbhz = 35
/** Share of phases in which the lock breaks: many, and no longer many. Real stations have 1 % at most. */
const manySlips = 0.03
const fewSlips = 0.015
/** Minimum observations for a share: a start is not a fault. */
const leastObservations = 500
const leastJudged = 3000

export interface ConstellationReport {
  name: string
  /** Signals that the receiver is set to track; empty while that is not known. */
  expected: string[]
  seen: string[]
  /** Satellites that are received. */
  satellites: number
}

interface Part {
  at_ms: number
  observations: number
  slips: number
}

export class SignalWatch {
  /** When each signal was received last, by constellation. */
  readonly #signals = new Map<ConstellationName, Map<string, number>>()
  /** By number of the message, satellite and signal. */
  readonly #locks = new Map<string, { lock: number; at_ms: number }>()
  #parts: Part[] = []
  #expected: ExpectedState = { signals: new Map(), since_ms: 0 }
  #satellites = new Map<ConstellationName, number>()
  #anyAt_ms: number | undefined
  #slipping: boolean = false

  /** The signals the receiver is configured to track, as read from it. */
  expect(signals: ExpectedSignals, now_ms: number): void {
    const isSame = JSON.stringify([...signals]) === JSON.stringify([...this.#expected.signals])
    if (!isSame) this.#expected = { signals, since_ms: now_ms }
  }

  /** The receiver starts: missing signals are counted from now on. */
  begin(now_ms: number): void {
    this.#expected.since_ms = now_ms
    this.#anyAt_ms = now_ms
    this.#locks.clear()
    this.#parts = []
    this.#slipping = false
  }

  satellites({ satellites, arrival_ms }: SatelliteEpoch): void {
    this.#satellites = new Map()
    for (const { constellation, cno_dbhz, locked, signals } of satellites) {
      if (cno_dbhz <= 0) continue
      this.#satellites.set(constellation, (this.#satellites.get(constellation) ?? 0) + 1)
      this.#heard(arrival_ms)
      if (locked && signals.length === 0) this.#see(constellation, '', arrival_ms)
      for (const { signal, locked } of signals) if (locked) this.#see(constellation, signal, arrival_ms)
    }
  }

  /** A verified RTCM frame of the receiver. */
  rtcm(type: number, frame: Uint8Array, now_ms: number): void {
    const constellation = constellationOf(type)?.toLowerCase() as ConstellationName | undefined
    const msm = constellation && decodeMsm(frame)
    if (!constellation || !msm) return
    const part = this.#part(now_ms)
    this.#heard(now_ms)
    for (const { satellite, signal, lock, cnr_dbhz } of msm.observations) {
      const name = msmSignalName(constellation, signal)
      if (name === undefined) continue
      this.#see(constellation, name, now_ms)
      if (lock === undefined || (cnr_dbhz ?? 0) < strong_dbhz) continue
      // MSM4 and MSM7 count lock times differently.
      const id = `${type} ${satellite} ${signal}`
      const before = this.#locks.get(id)
      this.#locks.set(id, { lock, at_ms: now_ms })
      // A satellite that rises again has no lock to lose.
      if (!before || now_ms - before.at_ms > seen_ms) continue
      part.observations++
      if (lock < before.lock) part.slips++
    }
  }

  report(now_ms: number): ConstellationReport[] {
    const seen = this.#seen(now_ms)
    const names = new Set([...this.#expected.signals.keys(), ...seen.keys()])
    return [...names].map((name) => ({
      name,
      expected: [...(this.#expected.signals.get(name) ?? [])],
      seen: (seen.get(name) ?? []).filter((signal) => signal !== '').sort(),
      satellites: seen.has(name) ? (this.#satellites.get(name) ?? 0) : 0,
    }))
  }

  /** Share of the phases in the last minutes in which the lock broke. */
  slips(now_ms: number): number {
    const { observations, slips } = this.#counted(now_ms)
    return observations < leastObservations ? 0 : slips / observations
  }

  /** The faults, as texts; empty: none. */
  troubles(now_ms: number): string[] {
    const { observations, slips } = this.#counted(now_ms)
    this.#slipping = observations >= leastJudged && slips > observations * (this.#slipping ? fewSlips : manySlips)
    if (this.#anyAt_ms !== undefined && now_ms - this.#anyAt_ms >= nothing_ms) {
      return ['no satellite is received: check the antenna, its cable and its view of the sky']
    }
    const troubles = this.#missing(now_ms)
    if (this.#slipping)
      troubles.push('many signals lose lock repeatedly: check for interference, a loose connector, a shaking mast')
    return troubles
  }

  #counted(now_ms: number): { observations: number; slips: number } {
    this.#forget(now_ms)
    const sum = (of: 'observations' | 'slips') => this.#parts.reduce((total, part) => total + part[of], 0)
    return { observations: sum('observations'), slips: sum('slips') }
  }

  #missing(now_ms: number): string[] {
    const { signals, since_ms } = this.#expected
    const isMissed = (at_ms: number | undefined) => now_ms - Math.max(at_ms ?? since_ms, since_ms) >= missed_ms
    const lastOf = (constellation: ConstellationName) =>
      Math.max(...(this.#signals.get(constellation)?.values() ?? []), Number.NEGATIVE_INFINITY)
    const lost = [...signals.keys()].filter((constellation) => isMissed(lastOf(constellation)))
    const troubles = lost.map(
      (constellation) => `no satellite of ${properName(constellation)} for minutes, although it is enabled`,
    )
    const expected = new Set([...signals].flatMap(([, names]) => names.map(bandOf)))
    for (const band of expected) {
      const at_ms = this.#bandAt_ms(band)
      // Only a receiver that reports signals can miss a band.
      if (at_ms !== undefined && isMissed(at_ms))
        troubles.push(
          `no signal of the ${band} band for minutes: check that antenna and splitter pass it, and look for interference`,
        )
    }
    return troubles
  }

  /** When a signal of a band was received last; undefined while no names of signals come. */
  #bandAt_ms(band: string): number | undefined {
    const named = [...this.#signals.values()].flatMap((signals) => [...signals].filter(([name]) => name !== ''))
    if (named.length === 0) return undefined
    const times = named.filter(([name]) => bandOf(name) === band).map(([, at_ms]) => at_ms)
    return Math.max(...times, Number.NEGATIVE_INFINITY)
  }

  /** Something is received: after a time without anything all that is expected has its time to come back. */
  #heard(now_ms: number): void {
    if (this.#anyAt_ms !== undefined && now_ms - this.#anyAt_ms >= seen_ms) this.#expected.since_ms = now_ms
    this.#anyAt_ms = now_ms
  }

  #see(constellation: ConstellationName, signal: string, now_ms: number): void {
    let signals = this.#signals.get(constellation)
    if (!signals) {
      signals = new Map()
      this.#signals.set(constellation, signals)
    }
    signals.set(signal, now_ms)
  }

  #seen(now_ms: number): Map<ConstellationName, string[]> {
    const seen = new Map<ConstellationName, string[]>()
    for (const [constellation, signals] of this.#signals) {
      const fresh = [...signals].filter(([, at_ms]) => now_ms - at_ms < seen_ms).map(([name]) => name)
      if (fresh.length > 0) seen.set(constellation, fresh)
    }
    return seen
  }

  #part(now_ms: number): Part {
    const newest = this.#parts.at(-1)
    if (newest && now_ms - newest.at_ms < part_ms) return newest
    this.#forget(now_ms)
    const part = { at_ms: now_ms, observations: 0, slips: 0 }
    this.#parts.push(part)
    return part
  }

  #forget(now_ms: number): void {
    this.#parts = this.#parts.filter(({ at_ms }) => now_ms - at_ms < window_ms)
    for (const [id, { at_ms }] of this.#locks) if (now_ms - at_ms > window_ms) this.#locks.delete(id)
  }
}

interface ExpectedState {
  signals: ExpectedSignals
  /** Since when it is expected. */
  since_ms: number
}

const properNames: Partial<Record<ConstellationName, string>> = {
  gps: 'GPS',
  glonass: 'GLONASS',
  galileo: 'Galileo',
  beidou: 'BeiDou',
}
const properName = (constellation: ConstellationName) => properNames[constellation] ?? constellation
