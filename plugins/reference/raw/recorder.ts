import type { PluginContext } from 'rtk-base/plugin'
import {
  type AntennaReading,
  type AntennaStatus,
  device,
  procedureStatus,
  type Receiver,
  type RtcmFrame,
  receiver,
} from 'rtk-base/services'
import type { Archive } from './archive.js'
import { epochTime_ms } from './contents.js'
import type { NoteName } from './notes.js'

/** An ephemeris that was not sent again for so long is left out of the next file. */
const stale_ms = 7_200_000
const hour_ms = 3_600_000
/** Observations have ended after three intervals, and not before. */
const fewest_ms = 10_000
const longestInterval_ms = 300_000
const clock_ms = 60_000
/** Times since the last start are not exact. */
const restart_ms = 3_000

/**
 * Writes what the receiver sends, before the gate, and its ephemerides as RTCM, into the archive: only while the time is known, and no
 * file begins before an observation.
 */
export class RawRecorder {
  readonly #ctx: PluginContext
  readonly #archive: Archive
  #isOn = false
  /** Since the last observation. */
  #observedAt_ms = Number.NEGATIVE_INFINITY
  epochs = 0
  #lastEpoch_ms: number | undefined
  #interval_ms = 1_000
  /** The newest of each ephemeris message and satellite, and when it was heard. They begin each file. */
  readonly #ephemerides = new Map<
    string,
    { readonly bytes: Uint8Array; readonly text: string; readonly at_ms: number }
  >()
  /** The hour whose file has begun. */
  #begun_ms = Number.NaN
  #isSynchronised = false
  #askedClockAt_ms = Number.NEGATIVE_INFINITY

  constructor(ctx: PluginContext, archive: Archive) {
    this.#ctx = ctx
    this.#archive = archive
  }

  start(): void {
    this.#ctx.services.watch(receiver, (found) => this.#follow(found))
    this.#ctx.services.watch(procedureStatus, (found) => {
      let isMoved = found?.status === 'moved'
      found?.onState(() => {
        if (found.status === 'moved' && !isMoved) this.#note('moved')
        isMoved = found.status === 'moved'
      })
    })
  }

  set isOn(isOn: boolean) {
    this.#isOn = isOn
    if (!isOn) void this.#archive.close()
  }

  /** Observations come. */
  get isRecording(): boolean {
    return this.#isOn && this.#isObserving(this.#ctx.clock.monotonic())
  }

  #isObserving(now_ms: number): boolean {
    return now_ms - this.#observedAt_ms < Math.max(fewest_ms, 3 * this.#interval_ms)
  }

  #follow(found: Receiver | undefined): void {
    if (!found) return
    found.onRtcm((frame: RtcmFrame) => this.#take(frame.bytes, found))
    found.onEphemeris?.((frame: Uint8Array) => this.#ephemeris(frame, found))
    let status: AntennaStatus | undefined
    found.onAntenna?.((reading: AntennaReading) => {
      const isBad = reading.status === 'open' || reading.status === 'short'
      if (isBad && reading.status !== status) this.#note(`antenna-${reading.status as 'open' | 'short'}`)
      status = reading.status
    })
    let startedAt_ms: number | undefined
    found.onState(() => {
      if (found.sinceReset_ms === undefined) return
      const at_ms = this.#ctx.clock.monotonic() - found.sinceReset_ms
      if (startedAt_ms !== undefined && at_ms > startedAt_ms + restart_ms) this.#note('receiver-restarted')
      startedAt_ms = at_ms
    })
  }

  #note(what: NoteName): void {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    if (this.#isOn && utc_ms > 0) void this.#archive.note(what, utc_ms)
  }

  #take(bytes: Uint8Array, { recording }: Receiver): void {
    // The time of a recording is not that of the clock.
    if (!this.#isOn || recording) return
    const now_ms = this.#ctx.clock.monotonic()
    const time_ms = epochTime_ms(bytes)
    const utc_ms = this.#utc_ms(now_ms)
    if (time_ms !== undefined && time_ms !== this.#lastEpoch_ms) {
      const elapsed_ms = now_ms - this.#observedAt_ms
      if (elapsed_ms < longestInterval_ms) this.#interval_ms = elapsed_ms
      this.#observedAt_ms = now_ms
      this.#lastEpoch_ms = time_ms
      if (utc_ms > 0) this.epochs++
    }
    if (utc_ms === 0 || !this.#isObserving(now_ms)) return
    const hour = Math.floor(utc_ms / hour_ms)
    if (hour !== this.#begun_ms) {
      this.#begun_ms = hour
      for (const kept of this.#ephemerides.values()) {
        if (now_ms - kept.at_ms < stale_ms) this.#archive.append(kept.bytes, utc_ms)
      }
    }
    this.#archive.append(bytes, utc_ms)
  }

  /** Ephemerides are repeated every 30 s by each satellite. */
  #ephemeris(bytes: Uint8Array, { recording }: Receiver): void {
    if (!this.#isOn || recording) return
    const now_ms = this.#ctx.clock.monotonic()
    const id = Buffer.from(bytes.subarray(3, 6)).toString('hex')
    const text = Buffer.from(bytes).toString('latin1')
    const isNew = this.#ephemerides.get(id)?.text !== text
    if (this.#ephemerides.size >= 1_024) this.#ephemerides.clear()
    this.#ephemerides.set(id, { bytes: Uint8Array.from(bytes), text, at_ms: now_ms })
    const utc_ms = this.#utc_ms(now_ms)
    if (isNew && utc_ms > 0 && Math.floor(utc_ms / hour_ms) === this.#begun_ms) this.#archive.append(bytes, utc_ms)
  }

  /** 0: not known. The clock of a machine without a battery is hours late until somebody sets it. */
  #utc_ms(now_ms: number): number {
    const unit = this.#ctx.services.use(device)
    if (!unit.knowsUtc && now_ms - this.#askedClockAt_ms > clock_ms) {
      this.#askedClockAt_ms = now_ms
      void unit.isClockSynchronised().then(
        (isSynchronised) => {
          this.#isSynchronised = isSynchronised
        },
        () => {},
      )
    }
    return unit.knowsUtc || this.#isSynchronised ? unit.utc_ms() : 0
  }
}
