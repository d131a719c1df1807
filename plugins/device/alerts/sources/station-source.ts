import { disk } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import { type Alert, device, mqttLink, station, verdict } from 'rtk-base/services'
import { isUndecided, type LinkFacts, type StationFacts, stationAlerts } from './conditions.js'

const disk_ms = 600_000
/** The link is down on purpose, or not wanted. */
const notAFailure = new Set<string>(['', 'config', 'held'])

/** The alerts of this station. What a service said last counts while the service is being replaced. */
export class StationSource {
  readonly #ctx: PluginContext
  #up_ms: number
  #verdict: StationFacts['verdict']
  #disk: StationFacts['disk']

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#up_ms = ctx.clock.monotonic()
  }

  /** @param changed something may have changed */
  start(changed: () => void): void {
    const { services, timers, on } = this.#ctx
    services.watch(verdict, (found) => found && on(found.onChange, changed))
    const measure = () => this.#measureDisk()
    timers.every(disk_ms, measure)
    void measure()
  }

  async #measureDisk(): Promise<void> {
    try {
      const { bavail, blocks, bsize } = await disk.statfs(this.#ctx.dataDir().path)
      this.#disk = { free: bavail * bsize, size: blocks * bsize }
    } catch {
      this.#disk = undefined
    }
  }

  get name(): string {
    const parameters = this.#ctx.services.find(station)?.parameters() ?? []
    const named = parameters.find(({ name }) => name === 'station-name')?.value
    return typeof named === 'string' ? named : ''
  }

  active(): readonly Alert[] {
    const facts = this.#facts()
    // Only a station has a verdict: the program of a fleet has none.
    return facts.verdict ? stationAlerts(facts) : []
  }

  isUndecided({ kind }: Alert): boolean {
    return isUndecided(this.#facts(), kind)
  }

  #facts(): StationFacts {
    const { serial, services } = this.#ctx
    this.#verdict = services.find(verdict)?.verdict ?? this.#verdict
    const own = services.use(device)
    return {
      ...{ serial, name: this.name, utc_s: Math.floor(own.utc_ms() / 1_000) },
      ...{ verdict: this.#verdict, link: this.#link(), errors: own.errors(), disk: this.#disk },
    }
  }

  #link(): LinkFacts | undefined {
    const link = this.#ctx.services.find(mqttLink)
    if (!link) return undefined
    const now_ms = this.#ctx.clock.monotonic()
    const cause = link.failure?.cause ?? ''
    const isWanted = link.enabled && !notAFailure.has(cause)
    if (link.up || !isWanted) this.#up_ms = now_ms
    return {
      ...{ isWanted, down_s: link.up ? 0 : (now_ms - this.#up_ms) / 1_000 },
      ...{ reason: link.failure?.text ?? '', certificateUntil_s: link.certificateUntil_s ?? 0 },
    }
  }
}
