import type { PluginContext } from 'rtk-base/plugin'
import type { ModemIdentity, ModemRegistration, ModemSignal, ModemSim } from 'rtk-base/services'
import type {
  BoardFacts,
  IpBlock,
  ModemCount,
  PingReboot,
  RouterAccessPoint,
  SystemState,
} from '../operations/operations.js'

/** The known values of the router. */
export interface Known {
  version: string
  board: BoardFacts
  deviceName: string
  system: SystemState
  accessPoint: RouterAccessPoint
  modem: ModemIdentity
  modems: ModemCount
  signal: ModemSignal
  registration: ModemRegistration
  sim: ModemSim
  pingReboot: PingReboot
  ipBlock: IpBlock
}
export type FactOf = keyof Known

/** The newest of every kind, and when it was read. It stays while the router is away. */
export class RouterFacts {
  readonly #clock: Pick<PluginContext['clock'], 'monotonic'>
  readonly #known: Partial<Known> = {}
  readonly #at_ms = new Map<FactOf, number>()
  /** A constant value became known or changed. */
  onChange: () => void = () => {}

  constructor(clock: Pick<PluginContext['clock'], 'monotonic'>) {
    this.#clock = clock
  }

  get<K extends FactOf>(name: K): Known[K] | undefined {
    return this.#known[name]
  }

  /** Milliseconds since it was read; infinite when it never was. */
  age_ms(name: FactOf): number {
    return this.#clock.monotonic() - (this.#at_ms.get(name) ?? Number.NEGATIVE_INFINITY)
  }

  set<K extends FactOf>(name: K, value: Known[K]): void {
    const before = JSON.stringify(this.#known[name])
    this.#known[name] = value as Partial<Known>[K]
    this.#at_ms.set(name, this.#clock.monotonic())
    if (before !== JSON.stringify(value)) this.onChange()
  }

  /** It is read again soon. */
  outdate(name: FactOf): void {
    this.#at_ms.delete(name)
  }

  /** Another router. */
  clear(): void {
    for (const name of Object.keys(this.#known) as FactOf[]) delete this.#known[name]
    this.#at_ms.clear()
    this.onChange()
  }
}
