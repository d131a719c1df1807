/**
 * The air around the antenna by the receiver: interference for each band (MON-RF, MON-HW), feigned satellites (NAV-STATUS).
 * A state is believed when it lasts, and is over some time after its last sign.
 */
import * as ubx from '../ubx/index.js'

export const jammingNames = ['unknown', 'ok', 'warning', 'critical'] as const
export type Jamming = (typeof jammingNames)[number]
export const spoofingNames = ['unknown', 'none', 'indicated', 'multiple'] as const
export type Spoofing = (typeof spoofingNames)[number]

export interface BandReport {
  band: string
  jamming: Jamming
  /** Tones in the band, 0 to 255. */
  indicator: number
  /** Gain of the input amplifier, %. */
  agc: number
  noise: number
}

/** Full scale of agcCnt. */
const agcFull = 8191
/** MON-HW is only believed while no MON-RF comes. */
const preferRf_ms = 10_000
/** Nothing came for this long: nothing is known. */
const stale_ms = 10_000

/** A state that counts once it lasted, and until it was away for long enough. Pure. */
export class Lasting {
  readonly #lasts_ms: number
  readonly #over_ms: number
  #since_ms: number | undefined
  #seen_ms = Number.NEGATIVE_INFINITY
  #on: boolean = false

  constructor(lasts_ms: number, over_ms: number) {
    this.#lasts_ms = lasts_ms
    this.#over_ms = over_ms
  }

  get on(): boolean {
    return this.#on
  }

  /** What is seen now. @returns whether it counts */
  see(is: boolean, now_ms: number): boolean {
    if (is) {
      this.#since_ms ??= now_ms
      this.#seen_ms = now_ms
      if (now_ms - this.#since_ms >= this.#lasts_ms) this.#on = true
    } else {
      this.#since_ms = undefined
      if (now_ms - this.#seen_ms >= this.#over_ms) this.#on = false
    }
    return this.#on
  }
}

const jammedAfter_ms = 5000
const jammedOver_ms = 30_000
const spoofedAfter_ms = 3000
const spoofedOver_ms = 60_000

export class RadioWatch {
  readonly #jammed = new Lasting(jammedAfter_ms, jammedOver_ms)
  readonly #spoofed = new Lasting(spoofedAfter_ms, spoofedOver_ms)
  #bands: readonly BandReport[] = []
  #bandsAt_ms = Number.NEGATIVE_INFINITY
  #rfAt_ms = Number.NEGATIVE_INFINITY
  #spoofing: Spoofing = 'unknown'
  #spoofingAt_ms = Number.NEGATIVE_INFINITY
  /** Of the bands that were critical when `jammed` was last seen to be true. */
  #worst: readonly BandReport[] = []

  /** Interference is critical, for some seconds or until a moment ago. */
  get jammed(): boolean {
    return this.#jammed.on
  }

  get spoofed(): boolean {
    return this.#spoofed.on
  }

  /** The bands that are jammed. */
  get worst(): readonly BandReport[] {
    return this.#worst
  }

  /** Empty while nothing is known. */
  bands(now_ms: number): readonly BandReport[] {
    return now_ms - this.#bandsAt_ms < stale_ms ? this.#bands : []
  }

  spoofing(now_ms: number): Spoofing {
    return now_ms - this.#spoofingAt_ms < stale_ms ? this.#spoofing : 'unknown'
  }

  monRf(payload: Uint8Array, now_ms: number): void {
    const rf = ubx.decode(ubx.monRf, payload)
    if (!rf || rf.blocks.length === 0) return
    this.#rfAt_ms = now_ms
    this.#take(
      rf.blocks.map((block) => reportOf(ubx.rfBands[block.blockId] ?? `band ${block.blockId}`, block)),
      now_ms,
    )
  }

  monHw(payload: Uint8Array, now_ms: number): void {
    const hw = ubx.decode(ubx.monHw, payload)
    if (hw && now_ms - this.#rfAt_ms >= preferRf_ms) this.#take([reportOf(ubx.rfBands[0], hw)], now_ms)
  }

  /** @param state spoofDetState of NAV-STATUS */
  status(state: number, now_ms: number): void {
    this.#spoofing = spoofingNames[state] ?? 'unknown'
    this.#spoofingAt_ms = now_ms
    this.#spoofed.see(state >= 2, now_ms)
  }

  /** Called a few times a second: what is no longer reported comes to its end too. */
  tick(now_ms: number): void {
    if (now_ms - this.#bandsAt_ms >= stale_ms) this.#jammed.see(false, now_ms)
    if (now_ms - this.#spoofingAt_ms >= stale_ms) this.#spoofed.see(false, now_ms)
  }

  #take(bands: readonly BandReport[], now_ms: number): void {
    this.#bands = bands
    this.#bandsAt_ms = now_ms
    const critical = bands.filter(({ jamming }) => jamming === 'critical')
    if (critical.length > 0) this.#worst = critical
    this.#jammed.see(critical.length > 0, now_ms)
  }
}

interface Values {
  jammingState: number
  jamInd: number
  agcCnt: number
  noisePerMs: number
}

function reportOf(band: string, { jammingState, jamInd, agcCnt, noisePerMs }: Values): BandReport {
  return {
    band,
    jamming: jammingNames[jammingState] ?? 'unknown',
    indicator: jamInd,
    agc: Math.min(100, Math.round((100 * agcCnt) / agcFull)),
    noise: noisePerMs,
  }
}

/** The worst of the bands. */
export function worstJamming(bands: readonly BandReport[]): Jamming {
  const worst = bands.reduce((most, { jamming }) => Math.max(most, jammingNames.indexOf(jamming)), 0)
  return jammingNames[worst]
}
