/** Everything that the procedure knows and uses, made once: the conductor reads it for events, the actions change it. */
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, RtcmJudge } from 'rtk-base/services'
import { BaseWatch } from './base-watch.js'
import { Ledger } from './ledger.js'
import { Memory } from './memory.js'
import type { SurveyInOptions } from './options.js'
import type { Parameters } from './parameters.js'
import { ReceiverSetup } from './receiver-setup.js'
import { References, signature } from './references.js'
import { Reports } from './reports.js'
import { StartCheck } from './start-check.js'
import { Surroundings } from './surroundings.js'
import { Surveyor } from './surveyor.js'
import { TrustKeeper } from './trust-keeper.js'

/** What there is once the plugin has started, unless the receiver is only listened to. */
export interface Hardware {
  readonly receiver: Receiver
  readonly setup: ReceiverSetup
  readonly judge: RtcmJudge
}

export class Parts {
  readonly ctx: PluginContext
  readonly memory: Memory
  readonly surroundings: Surroundings
  readonly reports: Reports
  readonly ledger: Ledger
  readonly surveyor: Surveyor
  readonly references: References
  readonly check: StartCheck
  readonly base = new BaseWatch()
  readonly trusted: TrustKeeper
  hardware: Hardware | undefined
  /** A survey-in was asked for, and by whom. */
  asked: string | undefined
  /** Why the antenna is suspected to have moved. */
  evidence = ''
  #signature = ''

  constructor(ctx: PluginContext, options: SurveyInOptions, parameters: Parameters) {
    this.ctx = ctx
    this.memory = new Memory(ctx)
    this.surroundings = new Surroundings(ctx)
    this.reports = new Reports(ctx.errors)
    this.ledger = new Ledger(options.history)
    this.surveyor = new Surveyor({
      models: { plain: options.plain, corrected: options.corrected },
      limits: () => parameters.limits(),
      corrections: () => this.surroundings.corrections(),
      now_ms: () => this.surroundings.now_ms(),
      utc_s: () => this.surroundings.utc_s(),
      save: (record) => void this.memory.set('survey', record),
    })
    this.references = new References(parameters, this.surveyor, this.memory)
    this.check = new StartCheck(this.references, this.memory, this.surroundings, options.initial_s)
    this.trusted = new TrustKeeper(this.memory, this.surroundings)
  }

  meet(receiver: Receiver, judge: RtcmJudge): void {
    this.hardware = { receiver, judge, setup: new ReceiverSetup(this.ctx, receiver) }
    const { stationId, intervals_s = this.base.expected.intervals_s } = receiver
    this.base.expected = { stationId, intervals_s }
  }

  get uid(): string {
    return this.hardware?.receiver.identity.serial ?? ''
  }

  /** The chosen reference is known as it is now. @returns whether it is another one than before */
  noteReference(): boolean {
    const before = this.#signature
    this.#signature = signature(this.references.chosen)
    return this.#signature !== before
  }

  /** The last trusted moment, for a warm start. @param atOnce else once a minute */
  async remember(atOnce: boolean): Promise<void> {
    const { target, movement } = this.base
    if (!target || !this.hardware) return
    const live = this.check.live?.position
    const now = [this.hardware.receiver, target, live, movement?.baselines ?? {}] as const
    if (atOnce) await this.trusted.remember(...now)
    else this.trusted.tick(...now)
  }

  /** A suspicion is over. */
  settle(): Promise<void> {
    return this.memory.set('suspicion', undefined)
  }
}
