import type { EventSource, PluginContext } from 'rtk-base/plugin'
import type { ModemFact } from 'rtk-base/services'
import type { Output } from '../operations/operations.js'

/** Facts of the router have the names of the operations that read them. */
export type FactOf = ModemFact | 'version' | 'board' | 'deviceName' | 'system' | 'accessPoint' | 'modems' | 'ipBlock'

/** Facts of the modem, in the order in which they are read: settings belong to the SIM that was read before them. */
export const modemFacts = [
  'modemIdentity',
  'registration',
  'signal',
  'apn',
  'sim',
  'operatorSelection',
  'traffic',
  'temperature',
  'pingReboot',
] as const satisfies readonly ModemFact[]
const isOfModem = (name: FactOf): name is ModemFact => (modemFacts as readonly FactOf[]).includes(name)

/** The newest of every kind, and when it was read. It stays while the router is away. */
export class RouterFacts {
  readonly #clock: Pick<PluginContext['clock'], 'monotonic'>
  readonly #known = new Map<FactOf, unknown>()
  readonly #at_ms = new Map<FactOf, number>()
  /** A fact of the modem was read, or is not known any more. */
  readonly onModemFact: EventSource<ModemFact>
  /** A constant value became known or changed. */
  onChange: () => void = () => {}

  constructor({ clock, event }: Pick<PluginContext, 'clock' | 'event'>) {
    this.#clock = clock
    this.onModemFact = event<ModemFact>()
  }

  get<K extends FactOf>(name: K): Output<K> | undefined {
    return this.#known.get(name) as Output<K> | undefined
  }

  /** Milliseconds since it was read; infinite when it never was. */
  age_ms(name: FactOf): number {
    return this.#clock.monotonic() - (this.#at_ms.get(name) ?? Number.NEGATIVE_INFINITY)
  }

  set<K extends FactOf>(name: K, value: Output<K>): void {
    const before = JSON.stringify(this.#known.get(name))
    this.#known.set(name, value)
    this.#at_ms.set(name, this.#clock.monotonic())
    if (before !== JSON.stringify(value)) this.onChange()
    if (isOfModem(name)) this.onModemFact.emit(name)
  }

  /** The fact is read again soon. */
  outdate(name: FactOf): void {
    this.#at_ms.delete(name)
  }

  /** The router or its SIM was replaced. */
  clear(names: readonly FactOf[] = [...this.#known.keys()]): void {
    for (const name of names) {
      this.#known.delete(name)
      this.#at_ms.delete(name)
    }
    this.onChange()
    for (const name of names) if (isOfModem(name)) this.onModemFact.emit(name)
  }
}
