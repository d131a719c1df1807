import { createHash } from 'node:crypto'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { StationState } from 'rtk-base/schemas'
import { device, type Ecef, rtcmStream, verdict } from 'rtk-base/services'

/** Several changes at once are one publication. */
const settle_ms = 200
/** The whole text stays below 300 bytes. */
const mostText = 60

/** Publishes `base/{SN}/state`, the verdict in few bytes, on connect and at every change. Retained: a fleet sees it at once. */
export class StationStateTopic {
  readonly #ctx: PluginContext
  #published = ''
  #soon: Dispose | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  start(): void {
    const { services } = this.#ctx
    services.watch(verdict, (given) => {
      if (given) this.#ctx.on(given.onChange, () => this.#changed())
      this.#changed()
    })
    services.watch(rtcmStream, (given) => {
      if (given) this.#ctx.on(given.onState, () => this.#changed())
    })
  }

  onConnect(): void {
    this.#published = ''
    this.#publish()
  }

  /** The plugin is removed: the broker must not keep a state that never changes. */
  remove(): void {
    this.#ctx.mqtt.publish(`base/${this.#ctx.serial}/state`, '', { retain: true })
  }

  #changed(): void {
    this.#soon ??= this.#ctx.timers.after(settle_ms, () => this.#publish())
  }

  #publish(): void {
    this.#soon = undefined
    const state = this.#state()
    if (state === undefined) return
    const text = JSON.stringify(state)
    if (text === this.#published) return
    if (this.#ctx.mqtt.publish(`base/${this.#ctx.serial}/state`, text, { retain: true }) === 'sent')
      this.#published = text
  }

  /** Undefined: this station has no verdict. */
  #state(): StationState | undefined {
    const { services } = this.#ctx
    const given = services.find(verdict)?.verdict
    if (given === undefined) return undefined
    const reference = services.find(rtcmStream)?.station
    return {
      verdict: given.fitness,
      cause: given.code.slice(0, mostText),
      since: given.since,
      reference: reference ? referenceId(reference) : '',
      ...(reference && { arp: tenths(reference.arp).map((tenth_mm) => tenth_mm / 10_000) }),
      version: services.use(device).version.slice(0, mostText),
    }
  }
}

/** In 0.1 mm, as RTCM has it. */
const tenths = ({ x, y, z }: Ecef) => [x, y, z].map((metres) => Math.round(metres * 10_000))

/** Changes with the announced position, at 0.1 mm, and with the station ID. */
function referenceId({ id, arp }: { id: number; arp: Ecef }): string {
  return createHash('sha256')
    .update([id, ...tenths(arp)].join(' '))
    .digest('hex')
    .slice(0, 8)
}
