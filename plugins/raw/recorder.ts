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
import type { Archive, NoteName } from './archive.js'
import { epochTime_ms } from './contents.js'

/** An ephemeris is kept again after so long at the latest, so that each file has all of them. */
const again_ms = 900_000
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
  /** Newest of each ephemeris message and satellite: its bytes, and when they were written. */
  readonly #ephemerides = new Map<string, { readonly text: string; readonly at_ms: number }>()

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

  /** An observation came within the last 10 s. */
  get isRecording(): boolean {
    return this.#isOn && this.#ctx.clock.monotonic() - this.#observedAt_ms < 10_000
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
    if (time_ms !== undefined) {
      this.#observedAt_ms = now_ms
      if (time_ms !== this.#lastEpoch_ms) this.epochs++
      this.#lastEpoch_ms = time_ms
    }
    this.#append(bytes, now_ms)
  }

  /** The same comes every 30 s from each satellite. */
  #ephemeris(bytes: Uint8Array, { recording }: Receiver): void {
    if (!this.#isOn || recording) return
    const now_ms = this.#ctx.clock.monotonic()
    const id = Buffer.from(bytes.subarray(3, 6)).toString('hex')
    const text = Buffer.from(bytes).toString('latin1')
    const before = this.#ephemerides.get(id)
    if (before && before.text === text && now_ms - before.at_ms < again_ms) return
    if (this.#ephemerides.size >= 1_024) this.#ephemerides.clear()
    this.#ephemerides.set(id, { text, at_ms: now_ms })
    this.#append(bytes, now_ms)
  }

  #append(bytes: Uint8Array, now_ms: number): void {
    const utc_ms = this.#ctx.services.use(device).utc_ms()
    if (utc_ms === 0 || now_ms - this.#observedAt_ms > 10_000) return
    this.#archive.append(bytes, utc_ms)
  }
}
