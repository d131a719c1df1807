/** Satellites and messages that a person chose (service `receiver-settings`), as far as this receiver takes them. */
import type { PluginContext } from 'rtk-base/plugin'
import { type Receiver, type ReceiverOutput, receiverSettings } from 'rtk-base/services'
import type { Event } from './table.js'

type Member = keyof ReceiverOutput

export class ChosenSignals {
  readonly #ctx: PluginContext
  readonly #can: ReadonlySet<Member>
  /** The last known, also while the plugin that has them is reloaded. */
  #wanted: ReceiverOutput | undefined

  constructor(ctx: PluginContext, { can }: Pick<Receiver, 'can'>) {
    this.#ctx = ctx
    this.#can = can?.output ?? new Set()
    this.#wanted = this.#read()
  }

  /** @param changed the receiver has to be configured again */
  start(changed: (event: Event) => void): void {
    const { on, services } = this.#ctx
    const look = () => {
      const before = this.#wanted
      this.#wanted = this.#read()
      const event = changeOf(before, this.#wanted)
      if (event) changed(event)
    }
    services.watch(receiverSettings, (settings) => {
      if (!settings) return undefined
      look()
      return on(settings.onChange, look)
    })
  }

  /** Undefined: nothing was chosen, or nothing that this receiver takes. */
  get wanted(): ReceiverOutput | undefined {
    return this.#wanted
  }

  #read(): ReceiverOutput | undefined {
    const settings = this.#ctx.services.find(receiverSettings)
    if (!settings) return this.#wanted
    const members = Object.entries(settings.output ?? {}).filter(([name]) => this.#can.has(name as Member))
    return members.length > 0 ? Object.fromEntries(members) : undefined
  }
}

/** A change of constellations makes the receiver start its signals afresh, which breaks the evidence that the antenna stayed in place. */
export function changeOf(before: ReceiverOutput = {}, now: ReceiverOutput = {}): Event | undefined {
  const differs = (name: Member) => JSON.stringify(before[name]) !== JSON.stringify(now[name])
  if (differs('constellations')) return 'constellations changed'
  const names = new Set([...Object.keys(before), ...Object.keys(now)]) as Set<Member>
  return [...names].some(differs) ? 'messages changed' : undefined
}
