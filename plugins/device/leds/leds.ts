import type { Dispose, Event, PluginContext } from 'rtk-base/plugin'
import { device, links, mqttLink, procedureStatus, simulatedLeds, verdict } from 'rtk-base/services'
import { findLeds, show } from './led.js'
import { type Facts, type LedName, ledNames, type Pattern, patternOf } from './patterns.js'

/** udev hands the files of a new trigger to our group a moment after they appear. */
const retry_ms = [250, 500, 1_000, 2_000, 5_000]
/** Between later attempts: somebody may have removed the cause. */
const again_ms = 60_000

/** The LEDs of this box show the state of the station. */
export class Leds {
  readonly #ctx: PluginContext
  #folder: string
  readonly #given: Partial<Record<LedName, string>>
  #there: Partial<Record<LedName, string>> = {}
  readonly #shown = new Map<LedName, Pattern>()
  readonly #failed = new Set<LedName>()
  /** Writes to one LED never overlap. */
  #work: Promise<void> = Promise.resolve()
  #soon: Dispose | undefined

  constructor(ctx: PluginContext, folder: string, given: Partial<Record<LedName, string>>) {
    this.#ctx = ctx
    this.#folder = folder
    this.#given = given
  }

  /** Empty without such an LED. */
  patternOf(led: LedName): Pattern {
    return this.#there[led] === undefined ? [] : (this.#shown.get(led) ?? [])
  }

  async start(): Promise<void> {
    if (this.#folder === 'simulator') await this.#whenSimulated()
    else await this.#begin()
  }

  /** Begins as soon as there are simulated LEDs, once: their files stay where they are. */
  async #whenSimulated(): Promise<void> {
    const { errors, log, services, signal, status } = this.#ctx
    let begun: Promise<void> | undefined
    services.watch(simulatedLeds, (simulated) => {
      if (simulated) {
        errors.while('leds-simulator', false)
        begun ??= simulated.folder().then((folder) => {
          this.#folder = folder
          return this.#begin()
        })
        // A station that stops meanwhile takes its folders away.
        begun.catch((error: unknown) => {
          if (!signal.aborted) log.error({ err: error }, 'the simulated LEDs cannot be used')
        })
      } else if (!begun) {
        status(errors.while('leds-simulator', true)?.why ?? '')
      }
    })
    await begun
  }

  async #begin(): Promise<void> {
    this.#there = await findLeds(this.#folder, this.#given)
    const names = Object.values(this.#there)
    const missing = ledNames.filter((led) => this.#given[led] !== undefined && this.#there[led] === undefined)
    for (const led of missing)
      this.#ctx.errors.while(`leds-${led}`, { led: this.#given[led] ?? '', folder: this.#folder })
    this.#ctx.status(names.length === 0 ? `no LEDs in ${this.#folder}` : names.join(', '))
    if (names.length === 0) return
    const { on, services } = this.#ctx
    const follow = (event: Event<unknown> | undefined) => {
      this.#updateSoon()
      return event && on(event, () => this.#updateSoon())
    }
    follow(services.use(device).onErrors)
    services.watch(verdict, (said) => follow(said?.onChange))
    services.watch(procedureStatus, (procedure) => follow(procedure?.onState))
    services.watch(links, (all) => follow(all?.onChange))
    // Changes by time alone (RTCM that stops) have no event.
    this.#ctx.timers.every(5_000, () => this.#update())
    this.#update()
  }

  /** Once for many changes. */
  #updateSoon(): void {
    this.#soon ??= this.#ctx.timers.after(500, () => this.#update())
  }

  #update(): void {
    void this.#soon?.()
    this.#soon = undefined
    const facts = this.#facts()
    for (const led of ledNames) {
      const pattern = patternOf(led, facts)
      if (this.#there[led] === undefined || this.#shown.get(led) === pattern) continue
      this.#shown.set(led, pattern)
      this.#work = this.#work.then(() => this.#show(led, pattern))
    }
  }

  #facts(): Facts {
    const { services } = this.#ctx
    const link = services.find(mqttLink)
    return {
      base: services.find(verdict)?.base,
      status: services.find(procedureStatus)?.status,
      errors: services.use(device).errors().length,
      link: link?.state,
      via: link?.via ?? '',
    }
  }

  async #show(led: LedName, pattern: Pattern, attempt = 0): Promise<void> {
    // Another one is wanted meanwhile.
    if (this.#shown.get(led) !== pattern || this.#ctx.signal.aborted) return
    const { errors, timers } = this.#ctx
    try {
      await show(this.#folder, this.#there[led] as string, pattern)
      if (this.#failed.delete(led)) errors.while(`leds-${led}`, false)
    } catch (error) {
      const wait_ms = retry_ms[attempt]
      if (wait_ms !== undefined) {
        timers.after(wait_ms, () => {
          this.#work = this.#work.then(() => this.#show(led, pattern, attempt + 1))
        })
        return
      }
      const reason = (error as Error).message
      this.#failed.add(led)
      const _full = (error as { code?: string }).code === 'ENOSPC'
      errors.while(`leds-${led}`, { led: this.#there[led] ?? '', reason, _full })
      timers.after(again_ms, () => {
        this.#work = this.#work.then(() => this.#show(led, pattern, retry_ms.length))
      })
    }
  }
}
