import type { PluginContext } from 'rtk-base/plugin'
import type { RecordMinute } from 'rtk-base/schemas'
import {
  correctionStatus,
  links,
  type ReceiverFix,
  type RtcmEpoch,
  receiver,
  reception,
  rtcmStream,
} from 'rtk-base/services'

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

/** Counts what one minute has. */
export class Minutes {
  readonly #ctx: PluginContext
  #epochs = 0
  #gap_ms = 0
  #isInterrupted = false
  /** The limit of the stream, while it was there last: a plugin that failed has none. */
  #limit_ms = 0
  #lastEpoch_ms: number
  #frames: Record<string, number> = {}
  #fixes = 0
  #corrections = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#lastEpoch_ms = ctx.clock.monotonic()
  }

  frame(type: number): void {
    this.#frames[type] = (this.#frames[type] ?? 0) + 1
  }

  epoch(_epoch: RtcmEpoch): void {
    const now_ms = this.#ctx.clock.monotonic()
    this.#gap(now_ms)
    this.#lastEpoch_ms = now_ms
    this.#epochs += 1
  }

  #gap(now_ms: number): void {
    const gap_ms = now_ms - this.#lastEpoch_ms
    const stream = this.#ctx.services.find(rtcmStream)
    if (stream) this.#limit_ms = 1000 * stream.flowLimit_s
    this.#gap_ms = Math.max(this.#gap_ms, gap_ms)
    if (gap_ms > this.#limit_ms) this.#isInterrupted = true
  }

  fix(_fix: ReceiverFix): void {
    this.#fixes += 1
  }

  /** Returns the finished minute and starts the next. */
  take(): RecordMinute {
    const { services, clock } = this.#ctx
    const fix = services.find(receiver)?.fix
    const received = services.find(reception)
    const place = fix?.ok && fix.fix !== 'none' ? fix : undefined
    this.#gap(clock.monotonic())
    const counted = services.find(correctionStatus)?.count ?? 0
    const minute: RecordMinute = {
      epochs: this.#epochs,
      gap: round(Math.min(86_400, this.#gap_ms / 1000), 1),
      interrupted: this.#isInterrupted,
      frames: this.#frames,
      rovers: services.find(rtcmStream)?.rovers ?? 0,
      links: services.find(links)?.list.filter((one) => one.state === 'up').length ?? 0,
      fixes: this.#fixes,
      fix: fix?.fix ?? 'none',
      used: received?.satellitesUsed ?? 0,
      visible: received?.satellitesVisible ?? 0,
      acc: place && Number.isFinite(place.acc_m) ? round(place.acc_m, 3) : 0,
      pos: place ? [place.position.x, place.position.y, place.position.z].map((metres) => round(metres, 2)) : [],
      jam: received?.jamming ?? 'unknown',
      corrections: Math.max(0, counted - this.#corrections),
    }
    this.#corrections = counted
    this.#epochs = 0
    this.#gap_ms = 0
    this.#isInterrupted = false
    this.#frames = {}
    this.#fixes = 0
    return minute
  }
}

/** Omits values unchanged since the previous minute. The epochs are always kept: they are the main question to the record. */
export function shortened(minute: RecordMinute, before: RecordMinute | undefined): Partial<RecordMinute> {
  if (!before) return minute
  const short = Object.entries(minute).filter(
    ([name, value]) =>
      name === 'epochs' || JSON.stringify(value) !== JSON.stringify(before[name as keyof RecordMinute]),
  )
  return Object.fromEntries(short)
}
