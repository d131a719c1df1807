import { portFrom } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { integrity, receiver, standbyPlugins } from 'rtk-base/services'
import { serialDevices } from './devices.js'
import { families } from './families.js'
import { type FoundReceiver, probe } from './probe.js'

const again_ms = 10_000
/** A receiver that is offline, or does not identify itself, for this long may have been replaced by another one. */
const replaced_ms = { away: 60_000, unnamed: 300_000 }
const check_ms = 5_000

/** Looks for a receiver until the driver of one is loaded, and again when this receiver stays away. */
export class Search {
  readonly #ctx: PluginContext
  readonly #ports: readonly string[]
  /** When its receiver was there last. */
  #thereAt_ms = 0
  /** The port of the loaded driver; undefined: another instance loaded it and did not tell. */
  #port: string | undefined

  constructor(ctx: PluginContext, ports: readonly string[]) {
    this.#ctx = ctx
    this.#ports = ports
  }

  /** @param port of the driver that the previous instance has loaded */
  begin(port: string | undefined): void {
    this.#port = port
    // Loaded before this plugin was replaced.
    if (this.#ctx.services.find(receiver)) this.#loaded()
    else void this.#search()
  }

  #later(ms: number, run: () => void): void {
    this.#ctx.timers.after(ms, run)
  }

  async #search(): Promise<void> {
    const ports = this.#places()
    this.#ctx.status(`looks for a receiver at ${ports.length} ports`)
    const { receivers, reasons } = await this.#probe(ports)
    if (this.#ctx.signal.aborted) return
    const isLoaded = await this.#decide(receivers, ports, reasons)
    if (isLoaded) this.#loaded()
    else this.#later(again_ms, () => void this.#search())
  }

  #places(): readonly string[] {
    return this.#ports.length > 0 ? this.#ports : serialDevices()
  }

  async #probe(ports: readonly string[]): Promise<{ receivers: FoundReceiver[]; reasons: string[] }> {
    const ctx = this.#ctx
    const reasons: string[] = []
    const probed = await Promise.all(
      ports.map(async (name) => {
        try {
          return await probe(portFrom(name, { pace: 0, loop: false, delay: 0 }, ctx), ctx, () => !ctx.signal.aborted)
        } catch (error) {
          reasons.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
          return undefined
        }
      }),
    )
    return { receivers: probed.filter((one) => one !== undefined), reasons }
  }

  /** @returns whether the driver of the only receiver is loaded */
  async #decide(
    receivers: readonly FoundReceiver[],
    ports: readonly string[],
    reasons: readonly string[],
  ): Promise<boolean> {
    const { errors, services, log, status } = this.#ctx
    for (const code of ['receiver-not-found', 'receivers-found', 'receiver-driver']) errors.while(code, false)
    const [first, ...more] = receivers
    if (!first) {
      const where = ports.length === 0 ? 'there is no serial device' : `none answers at ${ports.join(', ')}`
      const tried = [...ports, ...reasons].join('; ') || '-'
      errors.while('receiver-not-found', { tried, _finding: [where, ...reasons].join('; ') })
      return false
    }
    if (more.length > 0) {
      const all = receivers.map(({ family, port }) => `${family.maker} at ${port}`).join(', ')
      errors.while('receivers-found', { all })
      return false
    }
    const { family, port, baud } = first
    const { plugin, maker } = family
    log.info({ port, baud, plugin }, `a receiver of ${maker}`)
    try {
      await this.#unload()
      await services.use(standbyPlugins).load(plugin, { port, ...(baud > 0 && { baud }) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      errors.while('receiver-driver', { maker, port, plugin, reason })
      return false
    }
    status(`${maker} at ${port}`)
    this.#port = port
    return true
  }

  #loaded(): void {
    this.#thereAt_ms = this.#ctx.clock.monotonic()
    this.#watch()
  }

  #watch(): void {
    this.#later(check_ms, () => {
      const now_ms = this.#ctx.clock.monotonic()
      const patience_ms = this.#patience_ms()
      if (patience_ms === Number.POSITIVE_INFINITY) this.#thereAt_ms = now_ms
      const away_ms = now_ms - this.#thereAt_ms
      if (away_ms >= patience_ms) void this.#forget()
      else if (away_ms >= replaced_ms.away && this.#isAway) void this.#lookBeside()
      else this.#watch()
    })
  }

  get #isAway(): boolean {
    const source = this.#ctx.services.find(receiver)
    return !source || source.link === 'offline'
  }

  /** The driver stays, with all that integrity knows of the antenna, unless a receiver names itself at another port. */
  async #lookBeside(): Promise<void> {
    const ports = this.#places().filter((port) => port !== this.#port)
    const { receivers, reasons } = await this.#probe(ports)
    if (this.#ctx.signal.aborted) return
    // Of several none takes its place: only a person knows which, and its own may come back.
    if (receivers.length !== 1 || !this.#isAway) return this.#watch()
    if (await this.#decide(receivers, ports, reasons)) this.#loaded()
    else this.#later(again_ms, () => void this.#search())
  }

  /** How long its present state may last before the search begins again. */
  #patience_ms(): number {
    const { services } = this.#ctx
    const source = services.find(receiver)
    if (!source) return replaced_ms.away
    if (source.link === 'offline')
      return Math.max(replaced_ms.away, 1000 * (services.find(integrity)?.longestAbsence_s ?? 0))
    return source.identity.module === '' ? replaced_ms.unnamed : Number.POSITIVE_INFINITY
  }

  get port(): string | undefined {
    return this.#port
  }

  async #forget(): Promise<void> {
    this.#port = undefined
    await this.#unload()
    await this.#search()
  }

  /** Whichever driver is loaded, also one that failed. */
  async #unload(): Promise<void> {
    const standby = this.#ctx.services.use(standbyPlugins)
    for (const { plugin } of families) {
      if (standby.names.includes(plugin)) await standby.unload(plugin).catch(() => {})
    }
  }
}
