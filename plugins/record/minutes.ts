import type { PluginContext } from 'rtk-base/plugin'
import type { GnssInfo, RecordMinute } from 'rtk-base/schemas'
import { correctionStatus, links, type ReceiverFix, type RtcmEpoch, station } from 'rtk-base/services'

const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits

interface Document {
  gnss?: Partial<GnssInfo>
  ntrip?: { caster?: { connected?: number } }
}

/** The others are outputs of the station itself, which count as links; the rovers of its caster are in another list. */
const isRover = ({ via }: { via: string }) => via !== 'mqtt' && via !== 'ntrip'

/** Counts what one minute has. */
export class Minutes {
  readonly #ctx: PluginContext
  #epochs = 0
  #gap_ms = 0
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
    this.#gap_ms = Math.max(this.#gap_ms, now_ms - this.#lastEpoch_ms)
    this.#lastEpoch_ms = now_ms
    this.#epochs += 1
  }

  fix(_fix: ReceiverFix): void {
    this.#fixes += 1
  }

  /** What the minute that is over had; the next one begins. */
  take(): RecordMinute {
    const { services, clock } = this.#ctx
    const document = services.use(station).document() as Document
    const { state, pos, rtcm } = document.gnss ?? {}
    const counted = services.find(correctionStatus)?.count ?? 0
    const minute: RecordMinute = {
      epochs: this.#epochs,
      gap: round(Math.min(86_400, Math.max(this.#gap_ms, clock.monotonic() - this.#lastEpoch_ms) / 1000), 1),
      frames: this.#frames,
      rovers: (rtcm?.subscribers.filter(isRover).length ?? 0) + (document.ntrip?.caster?.connected ?? 0),
      links: services.find(links)?.list.filter((one) => one.state === 'up').length ?? 0,
      fixes: this.#fixes,
      fix: state?.gps_fix ?? 'none',
      used: state?.satuse ?? 0,
      visible: state?.satvis ?? 0,
      acc: round(pos?.acc ?? 0, 1),
      pos: pos && pos.t > 0 ? [round(pos.x, 2), round(pos.y, 2), round(pos.z, 2)] : [],
      jam: state?.rf.jamming ?? 'unknown',
      corrections: Math.max(0, counted - this.#corrections),
    }
    this.#corrections = counted
    this.#epochs = 0
    this.#gap_ms = 0
    this.#frames = {}
    this.#fixes = 0
    return minute
  }
}

/** Without what is as in the minute before. The epochs are always there: they are what the record is asked for. */
export function shortened(minute: RecordMinute, before: RecordMinute | undefined): Partial<RecordMinute> {
  if (!before) return minute
  const short = Object.entries(minute).filter(
    ([name, value]) =>
      name === 'epochs' || JSON.stringify(value) !== JSON.stringify(before[name as keyof RecordMinute]),
  )
  return Object.fromEntries(short)
}
