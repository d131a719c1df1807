import type { PluginContext } from 'rtk-base/plugin'
import type { BaseStateName } from 'rtk-base/schemas'
import { device, procedureStatus, type Receiver, receiver, rtcmStream } from 'rtk-base/services'

/** A station has this long after its start, and after a survey-in, before missing RTCM means `degraded`. */
const startTime_ms = 120_000

export interface BaseFacts {
  /** A restart was asked for. */
  stopping: boolean
  /** Of the procedure; undefined where nobody runs one. */
  status: string | undefined
  /** RTCM goes out of a receiver that is up. */
  sending: boolean
  /** Since the start, or since the survey-in. */
  elapsed_ms: number
}

export function baseState({ stopping, status, sending, elapsed_ms }: BaseFacts): BaseStateName {
  if (stopping) return 'stopping'
  if (status === 'survey') return 'surveying'
  if (sending) return 'ready'
  // These two wait for a person or for something to change, not for time to pass.
  const stuck = status === 'moved' || status === 'fault'
  return elapsed_ms < startTime_ms && !stuck ? 'starting' : 'degraded'
}

/** `base.state.base`, from what the station does and not from what it was told. */
export class BaseState {
  stopping = false
  readonly #ctx: PluginContext
  /** Uptime when what is waited for began. */
  #begun_ms = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Sees survey-ins that nobody asks about: what follows one is a start. */
  watch(): void {
    const { on, services } = this.#ctx
    services.watch(procedureStatus, (procedure) => procedure && on(procedure.onState, () => void this.now()))
  }

  now(): BaseStateName {
    const { services } = this.#ctx
    const uptime_ms = services.use(device).uptime_ms()
    const status = services.find(procedureStatus)?.status
    if (status === 'survey') this.#begun_ms = uptime_ms
    return baseState({
      stopping: this.stopping,
      status,
      sending: services.find(rtcmStream)?.open === true && isSending(services.find(receiver), status),
      elapsed_ms: uptime_ms - this.#begun_ms,
    })
  }
}

/** The gate of a receiver that is only listened to stands open all the time: its status tells whether RTCM comes. */
function isSending(source: Receiver | undefined, status: string | undefined): boolean {
  if (source?.link !== 'up') return false
  return source.mode !== 'listening' || status === undefined || status === 'fixed'
}
