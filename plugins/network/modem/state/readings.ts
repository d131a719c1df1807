import type { ModemFact, ModemFacts } from 'rtk-base/services'
import type { Access } from '../access.js'

/** Live values are unknown if older than this; other values are constant, or settings. */
const valid_ms: Partial<Record<ModemFact, number>> = { registration: 90_000, signal: 90_000, temperature: 300_000 }

/** Current values of the modem, as far as they are known. */
export class Readings {
  readonly #access: Access

  constructor(access: Access) {
    this.#access = access
  }

  /** Undefined while it was not read, and when it is too old. */
  get<K extends ModemFact>(name: K): ModemFacts[K] | undefined {
    const { source } = this.#access
    return source && source.age_ms(name) <= (valid_ms[name] ?? Number.POSITIVE_INFINITY) ? source.fact(name) : undefined
  }

  get registered(): boolean | undefined {
    const network = this.get('registration')?.network
    return network === undefined || network === 'unknown' ? undefined : network === 'home' || network === 'roaming'
  }

  /** A data connection stands. Without packet service there is none. */
  get connected(): boolean | undefined {
    const { connected, packetService } = this.get('registration') ?? {}
    return connected ?? (packetService === 'detached' ? false : undefined)
  }

  /** MCC and MNC of the SIM's own network in written form, while the modem is registered there. */
  get homePlmn(): string | undefined {
    const { network, plmn = 0 } = this.get('registration') ?? {}
    return network === 'home' && plmn > 0 ? String(plmn).padStart(5, '0') : undefined
  }
}
