/** What is known of the antenna over an outage: by phases that stayed in lock, else by the code of the same satellites. */
import { type MsmEpoch, moveText, type ObservedEpoch, observedIn, sameEcef } from 'rtk-base/gnss'
import type { AntennaMove, ReferencePosition } from 'rtk-base/services'
import { stale_ms } from '../limits.js'
import type { OrbitSky } from '../orbit-sky.js'
import { type Anchor, type Carried, carry, type Open } from './carry.js'
import { type CodeLevel, CodeLevels, compareLevels } from './code-levels.js'
import type { Fitted } from './fit.js'
import { type Bridging, bridging, type EphemerisOf } from './observed.js'
import type { OutageFile, Remains } from './outage-file.js'

/** A move shows some seconds after it began: only an epoch with this long without evidence behind it is one of the reference. */
const settled_s = 10
/** How often the file is written: u-blox receivers count lock times to 64 s. */
const write_ms = 15_000
/** Epochs closer together than this are left out. */
const spacing_ms = 950
/** One epoch may be damaged: this number in a row must have the same result. */
const inRow = 3
/** Observations of a receiver that kept running come within this: one that was off is silent until it is configured. */
const wait_ms = 5_000
/** Samples of code after an outage, every 5 s, at which it is compared: after 5, 10 and 15 min. */
const looks = [60, 120, 180] as const
/** A displacement by code beyond this many sigmas, and beyond the least, is a move. */
const codeMove = { sigmas: 5, level_m: 2.5, up_m: 3.5 } as const

/** A move from the reference. */
export interface Found {
  /** For people. */
  readonly text: string
  readonly move: Omit<AntennaMove, 't'>
}

/** `pending`: an answer may come with the next epochs. */
export type Bridged =
  | { readonly answer: true | undefined | 'pending' }
  | { readonly answer: false; readonly found: Found }
const unknown: Bridged = { answer: undefined }

/** What an epoch is heard with. */
export interface Heard {
  readonly epoch: MsmEpoch
  readonly now_ms: number
  /** The receiver: maker, model and serial number. */
  readonly who: string
  /** The trusted base, as long as nothing speaks against it. */
  readonly base: ReferencePosition | undefined
  /** The carrier phases show that the antenna stands still. */
  readonly isStill: boolean
}

export class Outages {
  readonly #orbits: OrbitSky
  readonly #file: OutageFile
  /** Before the outage, or of the base in use. */
  #remains: Remains | undefined
  #candidate: Anchor | undefined
  /** The last results, the newest last; one for each epoch since the outage. */
  #results: Carried[] = []
  #resultAt_ms = Number.NEGATIVE_INFINITY
  #heardAt_ms = Number.NEGATIVE_INFINITY
  #wroteAt_ms = Number.NEGATIVE_INFINITY
  /** Since when an answer is asked for without an epoch. */
  #waitsSince_ms: number | undefined
  /** Of the base in use: what outages left open that phases bridged. */
  #open: Open | undefined
  /** Of the last outage, since it was answered that the antenna stayed. */
  #bridged: Open | undefined
  /** Code of the base in use. */
  #levels = new CodeLevels()
  /** Where an outage broke the phases: the levels from before, until those of now are compared. */
  #before: readonly CodeLevel[] = []
  #looked = 0

  constructor(orbits: OrbitSky, file: OutageFile) {
    this.#orbits = orbits
    this.#file = file
  }

  /** A new process, or a new instance of the plugin. */
  start(): void {
    this.#remains = this.#file.read()
  }

  /** Takes an epoch. @returns a move that the code of the same satellites shows */
  hear({ epoch, now_ms, who, base, isStill }: Heard): Found | undefined {
    const at_s = this.#orbits.timeOf(epoch.time_ms)
    if (at_s === undefined || now_ms - this.#heardAt_ms < spacing_ms) return undefined
    this.#heardAt_ms = now_ms
    const newest: EphemerisOf = (constellation, satellite) => this.#orbits.ephemeris(constellation, satellite, at_s)
    if (!base) {
      this.#candidate = undefined
      if (!this.#remains) return undefined
      const found = carry(this.#remains.anchor, observedIn(epoch, at_s, bridging), newest)
      this.#results = [...this.#results, found].slice(-inRow)
      this.#resultAt_ms = now_ms
      this.#waitsSince_ms = undefined
      return undefined
    }
    const age_s = at_s - (this.#candidate?.at_s ?? Number.NEGATIVE_INFINITY)
    if (!isStill) this.#candidate = undefined
    else if (this.#candidate && age_s >= settled_s) this.#keep(who, this.#candidate, now_ms)
    const isCandidate = isStill && !(age_s >= 0 && age_s < settled_s)
    if (!isCandidate && !this.#levels.isDue(at_s)) return undefined
    const observed = observedIn(epoch, at_s, bridging)
    if (isCandidate) this.#candidate = this.#anchorOf(observed, base)
    this.#levels.take(observed, base.arp, newest)
    return this.#compared()
  }

  /** Undefined without ephemerides. */
  #anchorOf(observed: ObservedEpoch<Bridging>, { acc_m, arp }: ReferencePosition): Anchor | undefined {
    const ephemerides = this.#fresh(observed.at_s).map(({ ephemeris }) => ephemeris)
    if (ephemerides.length === 0) return undefined
    return { ...observed, arp, acc_m, ephemerides, ...(this.#open && { open: this.#open }) }
  }

  #keep(who: string, anchor: Anchor, now_ms: number): void {
    const levels = this.#levels.settled
    this.#remains = { who, anchor, levels: levels.length > 0 ? levels : this.#before }
    if (now_ms - this.#wroteAt_ms < write_ms) return
    this.#wroteAt_ms = now_ms
    const frames = this.#fresh(anchor.at_s).map(({ frame }) => frame)
    void this.#file.write({ ...this.#remains, levels: structuredClone(levels) }, frames)
  }

  #fresh(at_s: number) {
    return this.#orbits.fresh(at_s).filter(({ ephemeris }) => bridging.some((name) => name === ephemeris.constellation))
  }

  #compared(): Found | undefined {
    if (this.#before.length === 0 || this.#levels.samples < (looks[this.#looked] ?? Number.POSITIVE_INFINITY))
      return undefined
    this.#looked++
    const fitted = compareLevels(this.#before, this.#levels.settled)
    if (this.#looked === looks.length) this.#before = []
    if (!fitted) return undefined
    const { level_m, up_m } = fitted.sigma
    const isMoved =
      Math.hypot(fitted.east, fitted.north) > Math.max(codeMove.level_m, codeMove.sigmas * level_m) ||
      Math.abs(fitted.up) > Math.max(codeMove.up_m, codeMove.sigmas * up_m)
    return isMoved
      ? foundOf('code', 'the ranges of the same satellites before and after an outage show', fitted)
      : undefined
  }

  /** Whether the antenna stayed at this reference over the outage, as the newest epochs show. */
  answer(reference: Pick<ReferencePosition, 'arp'>, who: string, now_ms: number): Bridged {
    const remains = this.#of(reference, who)
    if (!remains) return unknown
    if (now_ms - this.#resultAt_ms > stale_ms || this.#results.length < inRow) {
      this.#waitsSince_ms ??= now_ms
      return now_ms - this.#waitsSince_ms <= wait_ms ? { answer: 'pending' } : unknown
    }
    const all = (stayed: boolean) => this.#results.every((one) => one.stayed === stayed)
    const { fitted, open } = this.#results.at(-1) ?? {}
    if (all(true)) {
      this.#bridged = open
      return { answer: true }
    }
    if (!all(false) || !fitted)
      return this.#results.some(({ stayed }) => stayed === undefined) ? unknown : { answer: 'pending' }
    return {
      answer: false,
      found: foundOf('phases', 'over an outage, carrier phases that stayed in lock show', fitted),
    }
  }

  #of({ arp }: Pick<ReferencePosition, 'arp'>, who: string): Remains | undefined {
    const remains = this.#remains
    return remains && remains.who === who && sameEcef(remains.anchor.arp, arp) ? remains : undefined
  }

  /** The base is no longer in use: what was known last counts. */
  pause(): void {
    this.#candidate = undefined
    this.#results = []
    this.#resultAt_ms = Number.NEGATIVE_INFINITY
  }

  /**
   * A base is trusted from now on.
   * @param by how it is known where the antenna is: it was in use all the time, this bridged an outage, other evidence of a quick restart
   * did, or positions were compared
   */
  trusted(reference: ReferencePosition, who: string, by: 'in use' | 'bridged' | 'resumed' | 'checked'): void {
    const remains = this.#of(reference, who)
    // Only positions settle what earlier outages left open. In use without it: a new instance of the plugin.
    if (by === 'in use') this.#open ??= remains?.anchor.open
    else if (by === 'resumed') this.#open = this.#bridged ?? this.#results.at(-1)?.open ?? remains?.anchor.open
    else this.#open = remains && this.#bridged
    if (by === 'resumed' || by === 'checked') {
      // Levels that were still to be compared are those of the last long stay.
      this.#before = remains?.levels ?? []
      this.#levels = new CodeLevels()
      this.#looked = 0
    }
    this.#drop()
  }

  /** The antenna may be elsewhere, or is to be: nothing is carried on. */
  forget(): void {
    this.#drop()
    this.#open = undefined
    this.#before = []
    this.#levels = new CodeLevels()
  }

  #drop(): void {
    this.pause()
    this.#bridged = undefined
    this.#remains = undefined
    this.#wroteAt_ms = Number.NEGATIVE_INFINITY
    void this.#file.remove()
  }
}

function foundOf(by: AntennaMove['by'], what: string, { east, north, up, sigma: { level_m, up_m } }: Fitted): Found {
  const covariance = [level_m ** 2, 0, 0, level_m ** 2, 0, up_m ** 2] as const
  const vector = { east_m: east, north_m: north, up_m: up, covariance }
  const move = { by, size_m: Math.hypot(east, north, up), isLeast: false, moves: 1, vector }
  return { text: `${what} a move of ${moveText({ ...move, t: 0 })}`, move }
}
