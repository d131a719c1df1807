import type { PluginContext } from 'rtk-base/plugin'
import type { ApnSettings } from 'rtk-base/services'
import { type Access, reasonOf } from '../access.js'
import type { Jobs } from '../jobs.js'
import type { Readings } from '../state/readings.js'
import { automatic, isSame, keptAtFirst, stepsFor } from './ladder.js'
import { apnsOf, authOf, type Candidate, type Carriers } from './lookup.js'
import { ApnMemory } from './memory.js'

/** How long a registered modem may be without a data connection before the next APN is tried. */
const patience_ms = 180_000
const longestGap_ms = 60_000
/** Delay before rewriting settings that the router lost: each write restarts the connection. */
const rewrite_ms = 600_000
/** Minimum retry delay after a failed write. */
const retry_ms = 60_000
const mostAlternatives = 8

export interface ApnDeps {
  access: Access
  jobs: Jobs
  readings: Readings
  carriers: Carriers
  /** `mob-apn`, `mob-user`, `mob-pswd`; undefined while no APN is set. */
  own(): { apn: string; user: string; pswd: string } | undefined
}

/** Where the present APN comes from: `modem.cfg.apn_choice`. */
type From = 'user' | 'table' | 'router' | ''

/**
 * Sets the APN that the SIM needs: the user's own, otherwise from the table, chosen when a SIM is first
 * seen. If the modem is registered without a connection, the next match is tried, finally the router's previous settings.
 */
export class ApnKeeper {
  readonly #ctx: PluginContext
  readonly #deps: ApnDeps
  readonly #memory: ApnMemory
  #waiting_ms = 0
  #seen_ms: number | undefined
  /** The last attempted write, and the time of the next allowed one. */
  #attempt: { wanted: ApnSettings; again_ms: number } | undefined

  constructor(ctx: PluginContext, deps: ApnDeps) {
    this.#ctx = ctx
    this.#deps = deps
    this.#memory = new ApnMemory(ctx)
  }

  start(): Promise<void> {
    return this.#memory.load()
  }

  /** `modem.cfg.apn_choice` */
  get choice(): { from: From; carrier: string; alternatives: { apn: string; user: string; carrier: string }[] } {
    const candidates = this.#candidates
    const { actual } = this
    const present = candidates.find((one) => actual && isSame(actual, one))
    const alternatives = candidates
      .filter((one) => one !== present)
      .slice(0, mostAlternatives)
      .map(({ apn, user, carrier }) => ({ apn, user, carrier }))
    return { from: this.#from(present), carrier: (present ?? candidates[0])?.carrier ?? '', alternatives }
  }

  get actual(): ApnSettings | undefined {
    return this.#deps.readings.get('apn')
  }

  /** `mob-apn`, `mob-user` or `mob-pswd` were changed. */
  async onChange(): Promise<void> {
    this.#ctx.errors.while('modem-apn', false)
    this.#attempt = undefined
    this.#restartWaiting()
    // Without an own APN the SIM is looked at as if it were new.
    await this.#memory.setSim(undefined)
    await this.settle()
  }

  /** SIM and the router's own settings were read. */
  async settle(): Promise<void> {
    const { access, jobs, own } = this.#deps
    const { actual } = this
    if (!actual || access.absence !== '' || jobs.has('apn')) return
    const mine = own()
    if (mine) this.#write(this.#withAuth(mine))
    else if (this.#sim) await this.#settleSim(actual)
  }

  /** The registration was read. */
  async observe(): Promise<void> {
    const { readings, own, jobs } = this.#deps
    const now_ms = this.#ctx.clock.monotonic()
    const since_ms = this.#seen_ms === undefined ? 0 : Math.min(longestGap_ms, now_ms - this.#seen_ms)
    this.#seen_ms = now_ms
    const { connected, registered } = readings
    if (connected === true) {
      this.#restartWaiting()
      this.#ctx.errors.while('modem-apn', false)
      await this.#settled()
    }
    if (connected === true || registered !== true || jobs.has('apn')) return
    this.#waiting_ms += since_ms
    if (this.#waiting_ms < patience_ms) return
    this.#restartWaiting()
    // Whether a connection stands is not known: nothing shows that another one is better.
    if (connected === undefined) await this.#settled()
    else if (own()) this.#ctx.errors.while('modem-apn', { cause: 'own' })
    else await this.#next()
  }

  /** The SIM while it can be read. */
  get #sim(): { id: string; imsi: string; iccid: string } | undefined {
    const { state, imsi, iccid } = this.#deps.readings.get('sim') ?? { state: 'absent', imsi: '', iccid: '' }
    const id = iccid === '' ? imsi : iccid
    return state === 'ready' && id !== '' ? { id, imsi, iccid } : undefined
  }

  get #candidates(): Candidate[] {
    const sim = this.#sim
    if (!sim) return []
    const { homePlmn } = this.#deps.readings
    return apnsOf({ ...sim, ...(homePlmn !== undefined && { homePlmn }) }, this.#deps.carriers)
  }

  #from(present: Candidate | undefined): From {
    if (this.#deps.own()) return 'user'
    if (!this.actual || !this.#sim) return ''
    return present ? 'table' : 'router'
  }

  async #settleSim(actual: ApnSettings): Promise<void> {
    const { id, isKnown } = this.#recognised()
    if (!isKnown) await this.#begin(id, actual)
    const { sim } = this.#memory
    const imei = this.#deps.readings.get('modemIdentity')?.imei ?? ''
    if (sim?.imei === '' && imei !== '') await this.#memory.setSim({ ...sim, imei })
    if (!sim || sim.settled) return
    const step = stepsFor(this.#candidates, sim)[sim.step]
    if (step) this.#write(step)
  }

  #recognised(): { id: string; isKnown: boolean } {
    const id = this.#sim?.id ?? ''
    const imei = this.#deps.readings.get('modemIdentity')?.imei ?? ''
    const { sim } = this.#memory
    return { id, isKnown: sim?.sim === id && (imei === '' || sim.imei === '' || sim.imei === imei) }
  }

  /** A SIM that was not seen before, or in another modem. */
  async #begin(id: string, actual: ApnSettings): Promise<void> {
    const { readings } = this.#deps
    const candidates = this.#candidates
    const { written } = this.#memory
    // Settings for an earlier SIM, or by the user, are not restored.
    const before = written && isSame(actual, written) ? automatic : actual
    const first = keptAtFirst(candidates, { actual, connected: readings.connected === true })
    this.#restartWaiting()
    this.#attempt = undefined
    const imei = readings.get('modemIdentity')?.imei ?? ''
    await this.#memory.setSim({ sim: id, imei, before, ...(first && { first }), step: 0, settled: false })
    const [best] = candidates
    this.#ctx.log.info(
      {
        carrier: best?.carrier,
        apn: stepsFor(candidates, { before, ...(first && { first }) })[0]?.apn,
        known: candidates.length,
      },
      best
        ? 'new SIM: its APN was looked up'
        : 'new SIM: its operator is not in the table of APNs, the router chooses the APN; mob-apn sets another one',
    )
  }

  async #settled(): Promise<void> {
    const { sim } = this.#memory
    if (!sim || sim.settled || this.#deps.own() || !this.actual) return
    const step = stepsFor(this.#candidates, sim)[sim.step]
    if (step && isSame(this.actual, step)) await this.#memory.setSim({ ...sim, settled: true })
  }

  /** No connection with the last attempt. */
  async #next(): Promise<void> {
    const { sim } = this.#memory
    if (!sim || !this.#recognised().isKnown) return
    const candidates = this.#candidates
    const steps = stepsFor(candidates, sim)
    if (!sim.settled && sim.step + 1 < steps.length) {
      await this.#memory.setSim({ ...sim, step: sim.step + 1 })
      this.#ctx.log.warn(
        { apn: steps[sim.step]?.apn },
        'no data connection with this APN: trying the next match for the SIM',
      )
      await this.settle()
      return
    }
    if (!sim.settled) await this.#memory.setSim({ ...sim, settled: true })
    this.#ctx.errors.while('modem-apn', { cause: candidates.length > 0 ? 'router' : 'unlisted' })
  }

  /** Unless the router has them already. */
  #write(wanted: ApnSettings): void {
    const { actual } = this
    const { written } = this.#memory
    if (!actual || isSame(actual, wanted)) return
    // A router that shows no password has it all the same.
    const isHidden = actual.pswd === '' && written?.pswd === wanted.pswd && isSame(written, wanted)
    if (isHidden && isSame({ ...actual, pswd: wanted.pswd }, wanted)) return
    const attempt = this.#attempt
    if (attempt && isSame(attempt.wanted, wanted) && this.#ctx.clock.monotonic() < attempt.again_ms) return
    this.#deps.jobs.begin('apn', 'the mobile connection restarts with another APN', () => this.#set(wanted))
  }

  async #set(wanted: ApnSettings): Promise<void> {
    const { access } = this.#deps
    const { signal } = this.#ctx
    try {
      await access.modem.setApn(wanted, signal)
      await this.#memory.setWritten(wanted)
      const actual = await access.modem.read('apn', signal)
      this.#ctx.log.info({ apn: wanted.apn || 'automatic' }, 'the APN was written to the router')
      const isKept = isSame({ ...actual, pswd: wanted.pswd }, wanted)
      this.#attempt = isKept ? undefined : { wanted, again_ms: this.#ctx.clock.monotonic() + rewrite_ms }
      if (isKept) return
      const { apn } = wanted
      this.#ctx.errors.while('modem-apn', { cause: 'not kept', apn, _apn: apn || '(automatic)' })
    } catch (error) {
      this.#attempt = { wanted, again_ms: this.#ctx.clock.monotonic() + retry_ms }
      this.#ctx.log.warn(
        { apn: wanted.apn || 'automatic' },
        `the APN could not be written, it is tried again: ${reasonOf(error)}`,
      )
    }
    this.#restartWaiting()
    // Another one may be wanted by now.
    this.#ctx.timers.after(0, () => this.settle())
  }

  #withAuth({ apn, user, pswd }: { apn: string; user: string; pswd: string }): ApnSettings {
    const known = this.#candidates.find((one) => one.apn === apn)
    return { apn, user, pswd, auth: authOf(user, known?.auth) }
  }

  #restartWaiting(): void {
    this.#waiting_ms = 0
    this.#seen_ms = undefined
  }
}
