import { randomUUID } from 'node:crypto'
import { Mutex } from 'async-mutex'
import { type PluginContext, RtkError, unavailable } from 'rtk-base/plugin'
import { type Alert, alertSource, device, fleetDatabase } from 'rtk-base/services'
import type { Channel, Message } from './channels/channel.js'
import { Outbox, type StoredNotice } from './channels/outbox.js'
import { Keeper } from './keeper.js'
import { type AlertRows, acknowledgedChannel } from './rows.js'
import { type Batch, Batches, type BatchOptions } from './rules/batches.js'
import { type AlertFilter, type Entry, Ledger, type LedgerOptions } from './rules/ledger.js'
import { harmless, type NoticeContent, noticeOf, overflowNotice, testNotice } from './rules/notice.js'
import { isQuiet, minuteOf } from './rules/quiet-hours.js'
import type { AlertSettings } from './settings.js'
import { StationSource } from './sources/station-source.js'

const evaluate_ms = 5_000
/** A disk or a database that takes no writes is tried again after so long. */
const saveAgain_ms = 30_000
/** After a start, an alert that is not reported may only be not known yet. */
const settle_ms = 180_000
const longestText = 400
const noChannel =
  'no channel is set up: set alerts-mail-host, alerts-mail-from and alerts-mail-to for e-mails, or alerts-hooks for webhooks'

export interface AlertsOptions extends LedgerOptions, BatchOptions {}

/**
 * `own`: a station, or the only program of its kind. `leads`: the instance of a fleet that sends. `alone`: it led until the database
 * was lost, and tells only that. `follows`: another instance sends.
 */
type Part = 'own' | 'leads' | 'alone' | 'follows'

/** From what sources report to notices in the outbox. */
export class Alerts {
  readonly outbox: Outbox
  readonly #ctx: PluginContext
  readonly #settings: AlertSettings
  readonly #options: AlertsOptions
  readonly #source: StationSource
  readonly #keeper: Keeper
  #ledger: Ledger
  #batches: Batches
  #part: Part = 'follows'
  #begun_ms = 0
  /** Newest alerts of the service: they count while its plugin is being replaced. */
  #fleet: readonly Alert[] = []
  #saveAgainAt_ms = Number.POSITIVE_INFINITY
  readonly #saving = new Mutex()
  #isLoading = false

  constructor(ctx: PluginContext, settings: AlertSettings, options: AlertsOptions) {
    this.#ctx = ctx
    this.#settings = settings
    this.#options = options
    this.#source = new StationSource(ctx)
    this.#keeper = new Keeper(ctx, () => this.#utc_ms())
    this.#ledger = new Ledger(options)
    this.#batches = new Batches(options)
    this.outbox = new Outbox({ ctx, save: () => this.#save(), maySend: () => this.#part !== 'follows' })
  }

  async start(): Promise<void> {
    const { services, timers, on } = this.#ctx
    this.#source.start(() => this.#evaluate())
    this.apply()
    services.watch(alertSource, (found) => found && on(found.onChange, () => this.#evaluate()))
    let hadDatabase = false
    services.watch(fleetDatabase, (database) => {
      if (!database) return undefined
      hadDatabase = true
      on(database.onLeads, () => this.#evaluate())
      return database.listen(acknowledgedChannel, (key) => this.#acknowledged(key))
    })
    if (!hadDatabase) await this.#begin('own')
    timers.every(evaluate_ms, () => this.#evaluate())
    this.#evaluate()
  }

  /** The settings have changed. */
  apply(): void {
    const channels = this.#settings.channels()
    this.outbox.apply(channels)
    const names = channels.map(({ name }) => name).join(', ')
    this.#ctx.status(channels.length === 0 ? 'no mail server or webhook is set' : `by ${names}`)
    this.outbox.work()
  }

  async stop(): Promise<void> {
    await this.outbox.stop()
    await this.#save()
  }

  get entries(): readonly Entry[] {
    return this.#ledger.entries
  }

  // ── which instance ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Reads what was told before, and begins to follow. */
  async #begin(part: 'own' | 'leads'): Promise<void> {
    this.#isLoading = true
    try {
      const state = await this.#keeper.load()
      const now_ms = this.#ctx.clock.monotonic()
      const wasAlone = this.#part === 'alone'
      const kept = wasAlone ? this.entries.filter(({ alert }) => alert.kind === 'database') : []
      const own = new Map(wasAlone ? this.outbox.notices.map((notice) => [notice.id, notice]) : [])
      this.#ledger = new Ledger(this.#options)
      this.#batches = new Batches(this.#options)
      if (state) {
        const { batches, entries, notices } = state
        this.#ledger.restore([...entries, ...kept])
        this.#batches.restore(batches)
        for (const notice of notices) if (!own.has(notice.id)) own.set(notice.id, notice)
        this.outbox.restore([...own.values()].sort((one, other) => one.made_ms - other.made_ms))
      } else this.#ledger.restore(kept)
      this.#begun_ms = now_ms
      this.#part = part
      // Channels may be other ones than before.
      this.apply()
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'the stored alerts cannot be read yet: it is tried again')
    } finally {
      this.#isLoading = false
    }
  }

  #updatePart(): void {
    const database = this.#ctx.services.find(fleetDatabase)
    if (!database) return
    if (database.leads) {
      // Where it did not begin, it is tried again at the next evaluation: not at once, or nothing else would run.
      if (this.#part !== 'leads' && !this.#isLoading)
        void this.#begin('leads').then(() => this.#part === 'leads' && this.#evaluate())
    } else if (this.#part === 'own') this.#part = 'follows'
    else if (this.#part !== 'follows') this.#part = database.connected ? 'follows' : 'alone'
  }

  // ── alerts ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #reported(): readonly Alert[] {
    const found = this.#ctx.services.find(alertSource)
    if (found) this.#fleet = found.active()
    const all = [...this.#source.active(), ...this.#fleet].map(clean)
    return this.#part === 'alone' ? all.filter(({ kind }) => kind === 'database') : all
  }

  #evaluate(): void {
    this.#updatePart()
    if (this.#part === 'follows' || this.#isLoading || this.#ctx.signal.aborted) return
    const now_ms = this.#ctx.clock.monotonic()
    const isSettled = now_ms - this.#begun_ms >= settle_ms
    const fleet = this.#ctx.services.find(alertSource)
    const mayEnd = (alert: Alert) => {
      if (this.#part === 'alone') return alert.kind === 'database'
      if (!isSettled) return false
      if (alert.serial === this.#ctx.serial) return !this.#source.isUndecided(alert)
      return fleet ? !fleet.isUndecided?.(alert) : this.#fleet.length === 0
    }
    const hears = (severity: Alert['severity']) => this.#settings.recipients(severity).length > 0
    const changes = this.#ledger.step(this.#reported(), now_ms, mayEnd, hears)
    for (const change of changes) this.#batches.add(change, now_ms)
    this.#batches.revise(this.#ledger, now_ms)
    const told = this.#batches.due(now_ms, this.#isQuiet(), (batch) => this.#contentOf(batch).subject)
    for (const one of told) {
      if (!('listed' in one)) this.#add(overflowNotice(one))
      else {
        this.#add(this.#contentOf(one))
        const { kind, listed, severity } = one
        const isIn = (alert: Alert) => alert.kind === kind && listed.some(({ serial }) => serial === alert.serial)
        if (!hears(severity)) this.#ledger.unheard(isIn)
      }
    }
    // Other instances show the rows, so they follow each difference; where there is none, nothing is written.
    const isFollowed = this.#part === 'leads' && this.#saveAgainAt_ms === Number.POSITIVE_INFINITY
    if (changes.length > 0 || told.length > 0 || isFollowed || now_ms >= this.#saveAgainAt_ms)
      void this.#save().then(() => this.outbox.work())
    else this.outbox.work()
  }

  #contentOf = (batch: Batch): NoticeContent => noticeOf(batch, this.#settings.zone())

  #isQuiet(): boolean {
    const quiet = this.#settings.quiet()
    const utc_ms = this.#utc_ms()
    // Without a clock nobody knows the hour: nothing waits.
    return quiet !== undefined && utc_ms > 0 && isQuiet(quiet, minuteOf(utc_ms, this.#settings.zone()))
  }

  #add(content: NoticeContent): void {
    const { log, clock } = this.#ctx
    const to = this.#settings.recipients(content.severity)
    this.outbox.add({ ...this.#message(content), made_ms: clock.monotonic() }, to)
    log.info({ what: content.what, kind: content.kind, count: content.count }, `alert: ${content.subject}`)
  }

  #message(content: NoticeContent): Message {
    const t_s = Math.floor(this.#utc_ms() / 1_000)
    return { ...content, id: randomUUID(), t_s, from: this.#ctx.serial }
  }

  #utc_ms(): number {
    const { clock, services } = this.#ctx
    return services.use(device).utc_ms() || clock.now()
  }

  get #stores(): boolean {
    return this.#part === 'own' || this.#part === 'leads'
  }

  async #save(): Promise<void> {
    if (!this.#stores) return
    const { clock, errors, log } = this.#ctx
    try {
      await this.#saving.runExclusive(async () => {
        // While it waited for a database that did not answer, another instance may have begun to lead.
        if (!this.#stores) return
        const batches = this.#batches.stored()
        await this.#keeper.save({ entries: this.entries, batches, notices: this.outbox.notices })
      })
      this.#saveAgainAt_ms = Number.POSITIVE_INFINITY
      errors.while('alerts-not-kept', false)
    } catch (error) {
      this.#saveAgainAt_ms = clock.monotonic() + saveAgain_ms
      log.debug({ err: error }, 'the state of the alerts was not stored')
      errors.while('alerts-not-kept', true)
    }
  }

  // ── people ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Critical alerts that somebody knows of are not repeated. @returns false: there is no such alert */
  async acknowledge(key: string, by: string): Promise<boolean> {
    const acknowledged = { by, t_s: Math.floor(this.#utc_ms() / 1_000) }
    if (this.#part === 'follows') return (await this.#keeper.rows())?.acknowledge(key, acknowledged) ?? false
    if (!this.#ledger.acknowledge(key, acknowledged)) return false
    await this.#save()
    return true
  }

  /** Another instance has stored an acknowledgement. @param key undefined: after a lost connection all rows are read anyway */
  async #acknowledged(key: string | undefined): Promise<void> {
    if (this.#part !== 'leads' || !key) return
    try {
      const acknowledged = await (await this.#keeper.rows())?.acknowledged(key)
      if (acknowledged) this.#ledger.acknowledge(key, acknowledged)
    } catch (error) {
      this.#ctx.log.debug(
        { err: error },
        'an acknowledgement cannot be read: it is read by the next instance that leads',
      )
    }
  }

  /** All instances of a fleet answer from the rows, but for one that has only its memory now. */
  async page(filter: AlertFilter): Promise<Entry[]> {
    const rows = await this.#sharedRows()
    return rows ? rows.page(filter, this.#ctx.clock.monotonic()) : this.#ledger.page(filter)
  }

  /** The oldest first. */
  async notices(): Promise<readonly StoredNotice[]> {
    const rows = await this.#sharedRows()
    return rows ? rows.notices(this.#ctx.clock.monotonic()) : this.outbox.notices
  }

  async #sharedRows(): Promise<AlertRows | undefined> {
    const isConnected = this.#ctx.services.find(fleetDatabase)?.connected
    return this.#part === 'follows' || (this.#part === 'leads' && isConnected) ? this.#keeper.rows() : undefined
  }

  #isTesting = false

  /** @throws RTK_ERR_UNAVAILABLE */
  async test(): Promise<{ channel: string; reason: string }[]> {
    if (this.#isTesting) throw unavailable('another test is running: try again in a minute')
    // Waiting mends nothing here, so it is not "unavailable".
    if (this.outbox.channels.length === 0) throw new RtkError('RTK_ERR_CONFLICT', noChannel)
    this.#isTesting = true
    try {
      return await this.outbox.test(this.#message(testNotice(this.#source.name || this.#ctx.serial)))
    } finally {
      this.#isTesting = false
    }
  }

  get channels(): readonly Channel[] {
    return this.outbox.channels
  }
}

/** Texts from outside, bounded, as every channel and every database takes them. */
const clean = ({ key, serial, name, group, kind, severity, text, advice, since_s }: Alert): Alert => ({
  ...{ key: key.slice(0, 120), serial: serial.slice(0, 64), name: harmless(name, 64), group: harmless(group, 64) },
  ...{ kind: kind.slice(0, 64), severity, since_s },
  ...{ text: harmless(text, longestText), advice: harmless(advice, longestText) },
})
