import {
  asLast,
  decodeMsm,
  encodeMsm,
  isMsm,
  isObservation,
  isReferencePoint,
  LegacyEncoder,
  legacyConstellation,
  lockTime,
  messageNumber,
} from '../gnss/index.js'

/** The part of the stream that is sent to a mountpoint. */
export interface Selection {
  /** Message numbers besides the position, which is always sent; default: all. */
  messages?: readonly number[] | undefined
  /** Observation interval in seconds; default: each epoch. */
  interval_s?: number | undefined
  /** MSM5–7 are sent as MSM4, which saves about a third of the bytes of MSM7. */
  msm4?: boolean | undefined
  /**
   * For rovers that do not know MSM: observations are sent as 1004 and 1012, and by default no messages above 1039.
   * `beside`: MSM and the other messages are sent too.
   */
  legacy?: boolean | 'beside' | undefined
}

/** Numbers from here on came with or after MSM. */
const firstModern = 1040

/**
 * Why a selection is not allowed, as a sentence for people; undefined if it is allowed. For example, MSM is
 * not sent together with 1004, because some old rovers fail on it, unless `legacy` is `beside`.
 */
export function selectionTrouble({ messages = [], msm4, legacy }: Selection): string | undefined {
  const msm = messages.find(isMsm)
  const old = messages.find((type) => legacyConstellation(type) !== undefined)
  if (legacy === 'beside') return undefined
  if (legacy && msm4) return 'cannot send both msm4 and legacy: remove one of them'
  if (legacy && msm !== undefined) return `cannot send ${msm} with legacy: list 1004 and 1012 instead, or remove legacy`
  if (msm !== undefined && old !== undefined)
    return `cannot send both ${msm} and ${old}: use one output for each, or legacy: "beside"`
  return undefined
}

/**
 * Converts the extended lock time indicator of MSM6–7 (DF407) to that of MSM4 (DF402): both encode the minimum lock
 * time.
 */
function shortLock(extended: number): number {
  const { from_ms } = lockTime(1077, extended)
  return from_ms < 32 ? 0 : Math.min(15, Math.floor(Math.log2(from_ms)) - 4)
}

/** A frame and its message number. */
export interface Numbered {
  readonly type: number
  readonly bytes: Uint8Array
}

/** The largest C/N0 that MSM4 has (DF403). */
const mostCnr_dbhz = 63

/**
 * Encodes the observations of a frame as MSM4 (RTCM 10403.3, table 3.5-78): no Doppler, phases to 0.5 mm, no GLONASS channels. A
 * frame other than MSM5–7 is returned unchanged. A range that does not fit into MSM4 is sent as invalid.
 */
export function asMsm4(frame: Numbered): Numbered {
  const { type, bytes } = frame
  if (!isMsm(type) || type % 10 < 5) return frame
  const msm = decodeMsm(bytes)
  if (!msm) return frame
  const { info: _info, observations, ...head } = msm
  const plain = observations.map(({ rate_mps: _rate, ...observation }) => ({
    ...observation,
    ...(type % 10 > 5 && { lock: shortLock(observation.lock ?? 0) }),
    ...(observation.cnr_dbhz !== undefined && { cnr_dbhz: Math.min(mostCnr_dbhz, observation.cnr_dbhz) }),
  }))
  const msm4 = type - (type % 10) + 4
  return { type: msm4, bytes: encodeMsm({ ...head, type: msm4, observations: plain }, { outOfRange: 'invalid' }) }
}

/**
 * Marks the last of these frames as the last of its epoch (multiple-message bit 0). Needed if the original last
 * message is left out, because rovers would wait for it.
 */
export function withLastMarked(frames: readonly Numbered[]): readonly Numbered[] {
  const last = frames.at(-1)
  // The bit of 1012 is in another place, and no message follows it.
  if (!last || !(isMsm(last.type) || legacyConstellation(last.type) === 'GPS')) return frames
  return [...frames.slice(0, -1), { type: last.type, bytes: asLast(last.bytes) }]
}

/** Allowed jitter of epochs. */
export const jitter_ms = 300

/** Selects epochs at an average interval, for example every fifth epoch of a 5 Hz stream for an interval of 1 s. */
export class Pace {
  /** When the last one was due. */
  #slot_ms = Number.NEGATIVE_INFINITY
  #seen_ms = Number.NEGATIVE_INFINITY
  /** At most half of the time between two epochs. */
  #tolerated_ms = jitter_ms

  /** Whether to send this epoch. Call it for every epoch, so that the nearest epoch is selected. */
  isDue(now_ms: number, interval_ms: number): boolean {
    this.#tolerated_ms = Math.min(jitter_ms, (now_ms - this.#seen_ms) / 2)
    this.#seen_ms = now_ms
    return now_ms >= this.#slot_ms + interval_ms - this.#tolerated_ms
  }

  took(now_ms: number, interval_ms: number): void {
    const due_ms = this.#slot_ms + interval_ms
    this.#slot_ms = Math.abs(now_ms - due_ms) <= this.#tolerated_ms ? due_ms : now_ms
  }
}

/** Selects frames and epochs. Whole epochs are skipped, so a rover never gets a part of one. */
export class Selector {
  readonly #wanted: Selection
  readonly #numbers: ReadonlySet<number> | undefined
  readonly #legacy: LegacyEncoder | undefined
  /** MSM are sent too. */
  readonly #isBeside: boolean
  #pace = new Pace()

  constructor(wanted: Selection) {
    this.#wanted = wanted
    this.#numbers = wanted.messages && new Set(wanted.messages)
    this.#legacy = wanted.legacy ? new LegacyEncoder() : undefined
    this.#isBeside = wanted.legacy === 'beside'
  }

  /** Makes the next epoch due. The lock times of the signals continue, so that rovers keep their ambiguities. */
  reset(): void {
    this.#pace = new Pace()
  }

  /** Takes a frame that belongs to no epoch. @returns whether it is sent */
  frame({ type, bytes }: Numbered): boolean {
    this.#legacy?.learn(bytes)
    return this.wantsFrame(type)
  }

  wantsFrame(type: number): boolean {
    // The observations are made here: those of the receiver would be a second set.
    if (this.#legacy && (this.#isBeside ? legacyConstellation(type) : isObservation(type))) return false
    return this.#wants(type)
  }

  #wants(type: number): boolean {
    if (isReferencePoint(type)) return true
    return this.#numbers ? this.#numbers.has(type) : !this.#legacy || this.#isBeside || type < firstModern
  }

  /** The frames of an epoch that are sent; none if the epoch is skipped. @param now_ms monotonic */
  epoch(frames: readonly Numbered[], now_ms: number): readonly Numbered[] {
    const { interval_s = 0, msm4 } = this.#wanted
    if (!this.#pace.isDue(now_ms, interval_s * 1_000)) return []
    const old = this.#legacyOf(frames)
    if (this.#legacy && !this.#isBeside) {
      if (old.length > 0) this.#pace.took(now_ms, interval_s * 1_000)
      return old
    }
    const chosen = frames.filter(
      ({ type }) => this.wantsFrame(type) || (msm4 && this.wantsFrame(type - (type % 10) + 4)),
    )
    if (chosen.length + old.length > 0) this.#pace.took(now_ms, interval_s * 1_000)
    const converted = msm4 ? chosen.map(asMsm4) : chosen
    return [...old, ...(chosen.length < frames.length ? withLastMarked(converted) : converted)]
  }

  #legacyOf(frames: readonly Numbered[]): Numbered[] {
    const all = frames.map(({ bytes }) => bytes)
    const made = this.#legacy?.epoch(all, (type) => this.#wants(type), this.#isBeside) ?? []
    return made.map((bytes) => ({ type: messageNumber(bytes), bytes }))
  }
}
