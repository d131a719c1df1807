import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { BaseStateName, UpdateStateName } from 'rtk-base/schemas'
import {
  device,
  firmwareInstaller,
  type GateReason,
  type ProcedureWish,
  procedureStatus,
  receiver,
  rtcmStream,
} from 'rtk-base/services'
import { silentCode } from './rules.js'

/** A station has this long after its start, a survey-in, a move and a person's wish before missing RTCM means `degraded`. */
const startTime_ms = 120_000
/** A plugin that is reloaded, or stopped with the whole service, is no fault. */
const reload_ms = 5_000

export interface BaseFacts {
  /** A restart was requested. */
  stopping: boolean
  /** An update is fetched or installed. */
  updating: boolean
  /** The status of the GNSS procedure; undefined while no plugin runs it. */
  status: string | undefined
  /** RTCM goes out of a receiver that is up. */
  sending: boolean
  /** Since the start, or what was waited for last. */
  elapsed_ms: number
}

export function baseState({ stopping, updating, status, sending, elapsed_ms }: BaseFacts): BaseStateName {
  if (stopping) return 'stopping'
  if (updating) return 'updating'
  if (status === 'survey') return 'surveying'
  if (sending) return 'ready'
  // These two wait for a person or for something to change, not for time to pass.
  const stuck = status === 'moved' || status === 'fault'
  return elapsed_ms < startTime_ms && !stuck ? 'starting' : 'degraded'
}

export interface SummaryFacts {
  base: BaseStateName
  /** The status of the GNSS procedure; `''` unknown. */
  status: string
  update: UpdateStateName
  /** The version that runs is on trial. */
  onTrial: boolean
  /** Number of outputs of the RTCM stream. */
  outputs: number
  /** Why no RTCM goes out. */
  reason: string
}

const texts: Readonly<Record<BaseStateName, (facts: SummaryFacts) => string>> = {
  starting: ({ status }) => `starting${status === '' ? '' : ` (${status})`}`,
  surveying: () => 'surveying in',
  ready: ({ outputs }) => `fixed, ${outputs} ${outputs === 1 ? 'output' : 'outputs'}`,
  degraded: ({ reason }) => `no RTCM goes out: ${reason}`,
  updating: ({ update }) => `update: ${update}`,
  stopping: () => 'stopping',
}

/** One-line summary of the station. */
export function summaryOf(facts: SummaryFacts): string {
  const text = texts[facts.base](facts)
  return facts.onTrial ? `update on trial; ${text}` : text
}

/** `base.state.base`, from the actual behaviour and not from the configuration. `VerdictWatch` looks whenever something may have changed. */
export class BaseState {
  readonly #ctx: PluginContext
  /** Uptime at the start of the current wait. */
  #begun_ms = 0
  #asked: ProcedureWish | undefined
  /** Since when no plugin provides a receiver or the stream. */
  #missing_ms: number | undefined
  #look: Dispose = () => {}

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Not while a new version is on trial: it does its work. */
  #isUpdating(): boolean {
    const { services } = this.#ctx
    const { state = 'idle', onTrial = false } = services.find(firmwareInstaller) ?? {}
    return state !== 'idle' && state !== 'failed' && !onTrial
  }

  /** The state now. `degraded` has its reason in `base.state.errors`. */
  look(): BaseStateName {
    const { services } = this.#ctx
    const uptime_ms = services.use(device).uptime_ms()
    const { asked, status } = services.find(procedureStatus) ?? {}
    const isAsked = asked !== undefined && asked !== this.#asked
    this.#asked = asked
    if (status === 'survey' || status === 'moved' || isAsked) this.#begun_ms = uptime_ms
    const { isSending } = this
    // Once ready, missing RTCM is a fault and not a start, unless a person asked for what stops it.
    if (isSending) this.#begun_ms = Number.NEGATIVE_INFINITY
    const elapsed_ms = uptime_ms - this.#begun_ms
    const { stopping } = services.use(device)
    const state = baseState({ stopping, updating: this.#isUpdating(), status, sending: isSending, elapsed_ms })
    this.#explain(state, status)
    this.#describe(state, status)
    void this.#look()
    if (state === 'starting') this.#look = this.#ctx.timers.after(startTime_ms - elapsed_ms, () => this.look())
    return state
  }

  #describe(base: BaseStateName, status = ''): void {
    const { services } = this.#ctx
    const { state: update = 'idle', onTrial = false } = services.find(firmwareInstaller) ?? {}
    const outputs = services.find(rtcmStream)?.outputs ?? 0
    services.use(device).describe(summaryOf({ base, status, update, onTrial, outputs, reason: this.#reason().text }))
  }

  #explain(state: BaseStateName, status: string | undefined): void {
    const { clock, errors, services } = this.#ctx
    const isMissing = !services.find(receiver) || !services.find(rtcmStream)
    this.#missing_ms = isMissing ? (this.#missing_ms ?? clock.monotonic()) : undefined
    const isBrief = isMissing && clock.monotonic() - (this.#missing_ms ?? 0) < reload_ms
    const isExplained = services
      .use(device)
      .errors()
      .some(({ severity }) => severity === 'silences')
    const stands = state === 'degraded' && !isExplained && !isBrief
    const { code, values, text } = this.#reason()
    const ofGate = code === undefined ? {} : { reason_code: `gate.${code}`, ...values }
    errors.while(silentCode, stands && { ...ofGate, status: status ?? '', reason: text })
  }

  #reason(): Partial<GateReason> & { readonly text: string } {
    const { services } = this.#ctx
    const stream = services.find(rtcmStream)
    const source = services.find(receiver)
    if (!source) return { text: 'no plugin has a receiver' }
    if (source.link !== 'up') return { text: `the receiver is ${source.link}` }
    if (!stream) return { text: 'the plugin rtcm is not running' }
    return stream.reason ?? { text: 'the receiver sends no observations' }
  }

  /** RTCM is really sent: the gate stays open for a while after observations end, and always for a receiver in listening mode. */
  get isSending(): boolean {
    const { services } = this.#ctx
    const status = services.find(procedureStatus)?.status
    const source = services.find(receiver)
    const stream = services.find(rtcmStream)
    // A gate that has just opened is not behind in time yet.
    if (!stream?.open || stream.flows === false || source?.link !== 'up') return false
    return source.mode !== 'listening' || status === undefined || status === 'fixed'
  }
}
