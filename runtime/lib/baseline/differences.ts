/** Single differences: the observations of two stations of the same satellites at the same time, one minus the other. */
import {
  carrier_hz,
  type LockTime,
  lockBroken,
  median,
  type ObservedConstellation,
  observedConstellations,
} from '../gnss/index.js'
import type { Computed, Place, Sent, SentEpoch } from './geometry.js'
import type { Steps } from './steps.js'

const light_mps = 299_792_458

/** Below this elevation a baseline is better without. */
export const mask_deg = 10
/** Stations that mean the same epoch may write times that differ by this. */
const sameTime_s = 0.1
/** Two frequencies show the ionosphere if they are this far apart. */
const apart_hz = 200e6
/** A phase that jumps by more than this from epoch to epoch has slipped: less than half a cycle of any signal. */
const slip_m = 0.07
/** After a longer gap a slip might not show. */
const longestGap_ms = 130_000

/** One frequency of a satellite: observed minus computed, `to` minus `from`, metres. */
export interface DifferencedSignal {
  readonly wavelength_m: number
  readonly code_m: number
  readonly phase_m: number | undefined
  /** Number of the uninterrupted run of phases, which has one ambiguity; −1: no phase. */
  readonly arc: number
}

export interface DifferencedSatellite {
  readonly constellation: ObservedConstellation
  readonly satellite: number
  readonly from: Computed
  readonly to: Computed
  /** By frequency: the first and the second of its constellation. */
  readonly signals: readonly [DifferencedSignal | undefined, DifferencedSignal | undefined]
}

export interface DifferencedEpoch {
  readonly at_s: number
  readonly satellites: readonly DifferencedSatellite[]
}

/** An uninterrupted run of phases of one signal. */
export interface Arc {
  readonly constellation: ObservedConstellation
  readonly frequency: 0 | 1
  readonly wavelength_m: number
}

export interface Differences {
  readonly epochs: readonly DifferencedEpoch[]
  readonly arcs: readonly Arc[]
}

interface Pair {
  readonly at_s: number
  readonly satellites: readonly (readonly [from: Sent, to: Sent])[]
}

/** @param places assumed, right to some metres, or slips are not found */
export function* differencesOf(
  from: readonly SentEpoch[],
  to: readonly SentEpoch[],
  places: { readonly from: Place; readonly to: Place },
): Steps<Differences> {
  const pairs = pairsOf(from, to)
  const choices = new Map(observedConstellations.map((one) => [one, signalsOf(pairs, one)]))
  const arcs = new Arcs()
  const epochs: DifferencedEpoch[] = []
  for (const { at_s, satellites } of pairs) {
    const seen = satellites.flatMap((pair) => {
      const [own, other] = pair
      const [here, there] = [places.from.computed(own, mask_deg), places.to.computed(other, mask_deg)]
      const chosen = choices.get(own.observed.constellation) ?? []
      if (!here || !there || chosen.length === 0) return []
      const range_m = there.range_m - here.range_m
      const measured = [0, 1].map((frequency) => chosen[frequency] && measure(pair, range_m, chosen[frequency]))
      return [{ own, here, there, measured }]
    })
    const signals = arcs.take(
      at_s,
      seen.flatMap(({ measured }) => measured),
    )
    epochs.push({
      at_s,
      satellites: seen.map(({ own: { observed }, here, there }, n) => ({
        constellation: observed.constellation,
        satellite: observed.satellite,
        from: here,
        to: there,
        signals: [signals[2 * n], signals[2 * n + 1]],
      })),
    })
    yield
  }
  return { epochs, arcs: arcs.all }
}

function pairsOf(from: readonly SentEpoch[], to: readonly SentEpoch[]): Pair[] {
  const others = new Map(to.map((epoch) => [Math.round(epoch.at_s), epoch]))
  return from.flatMap((epoch) => {
    const other = others.get(Math.round(epoch.at_s))
    if (!other || Math.abs(other.at_s - epoch.at_s) > sameTime_s) return []
    const byId = new Map(other.satellites.map((sent) => [idOf(sent), sent]))
    const satellites = epoch.satellites.flatMap((own) => {
      const same = byId.get(idOf(own))
      return same ? [[own, same] as const] : []
    })
    return [{ at_s: epoch.at_s, satellites }]
  })
}

const idOf = ({ observed: { constellation, satellite } }: Sent) => `${constellation} ${satellite}`

/** How a frequency is tracked at both stations. */
interface SignalChoice {
  readonly frequency: 0 | 1
  readonly band: string
  readonly from: number
  readonly to: number
}

/** The two frequencies that most satellites have at both stations, each tracked in one way. */
function signalsOf(pairs: readonly Pair[], constellation: ObservedConstellation): (SignalChoice | undefined)[] {
  const counts = new Map<string, { band: string; from: number; to: number; count: number }>()
  for (const { satellites } of pairs) {
    for (const [own, other] of satellites) {
      if (own.observed.constellation !== constellation) continue
      for (const { band, signal } of own.observed.signals) {
        for (const same of other.observed.signals) {
          if (same.band !== band) continue
          const key = `${signal} ${same.signal}`
          const counted = counts.get(key) ?? { band, from: signal, to: same.signal, count: 0 }
          counted.count += 1
          counts.set(key, counted)
        }
      }
    }
  }
  const most = [...counts.values()].sort((p, q) => q.count - p.count)
  const carrier = ({ band }: { band: string }) => carrier_hz(constellation, band) ?? 0
  const [first] = most
  const second = first && most.find((one) => Math.abs(carrier(one) - carrier(first)) >= apart_hz)
  // The higher frequency first, so that stations of different makes get the same order.
  const chosen = [first, second].filter((one) => one !== undefined).sort((p, q) => carrier(q) - carrier(p))
  return chosen.map(({ band, from, to }, index) => ({ frequency: index as 0 | 1, band, from, to }))
}

/** The last phase of a signal, before which an arc may continue. */
interface Last {
  readonly arc: number
  readonly at_s: number
  readonly phase_m: number
  readonly locks: readonly [from: LockTime, to: LockTime]
}

interface Measured {
  readonly id: string
  readonly choice: SignalChoice
  readonly constellation: ObservedConstellation
  readonly wavelength_m: number
  readonly code_m: number
  readonly phase_m: number | undefined
  readonly locks: readonly [from: LockTime, to: LockTime]
}

/** Gives each phase the number of its arc. */
class Arcs {
  readonly all: Arc[] = []
  readonly #last = new Map<string, Last>()

  /** The signals of one epoch, in their order. */
  take(at_s: number, measured: readonly (Measured | undefined)[]): (DifferencedSignal | undefined)[] {
    const unbroken = measured.map((one) => one && this.#unbroken(one, at_s))
    const changes = measured.map((one, n) =>
      unbroken[n] && one ? (one.phase_m ?? 0) - unbroken[n].phase_m : undefined,
    )
    const middle = middles(measured, changes)
    return measured.map((one, n) => {
      if (!one) return undefined
      const { id, constellation, choice, wavelength_m, code_m, phase_m, locks } = one
      const last = unbroken[n]
      if (phase_m === undefined) {
        this.#last.delete(id)
        return { wavelength_m, code_m, phase_m, arc: -1 }
      }
      // Receivers do not report each slip: it shows against the other satellites.
      const hasSlipped = Math.abs((changes[n] ?? 0) - (middle.get(groupOf(one)) ?? 0)) > slip_m
      const arc =
        last && !hasSlipped ? last.arc : this.all.push({ constellation, frequency: choice.frequency, wavelength_m }) - 1
      this.#last.set(id, { arc, at_s, phase_m, locks })
      return { wavelength_m, code_m, phase_m, arc }
    })
  }

  /** The last phase of the signal, if both receivers have kept its lock since. */
  #unbroken({ id, phase_m, locks }: Measured, at_s: number): Last | undefined {
    const last = this.#last.get(id)
    if (!last || phase_m === undefined) return undefined
    const interval_ms = 1_000 * (at_s - last.at_s)
    const isBroken = locks.some((lock, side) => lockBroken(last.locks[side], lock, interval_ms))
    return isBroken || interval_ms > longestGap_ms ? undefined : last
  }
}

const groupOf = ({ constellation, choice }: Measured) => `${constellation} ${choice.frequency}`

/** Share of the clocks in the change of each signal since the last epoch: the median over its satellites. */
function middles(measured: readonly (Measured | undefined)[], changes: readonly (number | undefined)[]) {
  const groups = new Map<string, number[]>()
  for (const [n, one] of measured.entries()) {
    const change = changes[n]
    if (!one || change === undefined) continue
    const group = groups.get(groupOf(one)) ?? []
    group.push(change)
    groups.set(groupOf(one), group)
  }
  return new Map([...groups].map(([name, all]) => [name, median(all)]))
}

/** Measures one signal of a satellite that both stations have. */
function measure(
  [from, to]: Pair['satellites'][number],
  computed_m: number,
  choice: SignalChoice,
): Measured | undefined {
  const { constellation, satellite } = from.observed
  const [own, other] = [signalIn(from, choice.from), signalIn(to, choice.to)]
  const frequency_hz = carrier_hz(constellation, choice.band, from.channel)
  if (!own || !other || !frequency_hz) return undefined
  const hasPhases = own.phase_m !== undefined && other.phase_m !== undefined
  return {
    id: `${constellation} ${satellite} ${choice.frequency}`,
    choice,
    constellation,
    wavelength_m: light_mps / frequency_hz,
    code_m: other.code_m - own.code_m - computed_m,
    phase_m: hasPhases ? (other.phase_m as number) - (own.phase_m as number) - computed_m : undefined,
    locks: [own.lock, other.lock],
  }
}

const signalIn = ({ observed: { signals } }: Sent, id: number) => signals.find(({ signal }) => signal === id)
