import type { ApnSettings, ModemIdentity, ModemRegistration, ModemSignal, ModemSim } from 'rtk-base/services'

/** A value that was read, and when. */
export class Reading<T> {
  readonly #now_ms: () => number
  readonly #valid_ms: number
  #value: T | undefined
  #at_ms = Number.NEGATIVE_INFINITY

  /** @param valid_ms lifetime; infinite for constant values */
  constructor(now_ms: () => number, valid_ms: number) {
    this.#now_ms = now_ms
    this.#valid_ms = valid_ms
  }

  /** Undefined while it was not read, and when it is too old. */
  get value(): T | undefined {
    return this.#now_ms() - this.#at_ms <= this.#valid_ms ? this.#value : undefined
  }

  set(value: T): void {
    this.#value = value
    this.#at_ms = this.#now_ms()
  }

  clear(): void {
    this.#value = undefined
  }
}

/** Live values are unknown if older than this. */
const live_ms = 90_000
const slow_ms = 300_000

/** The known values of the modem. */
export class Readings {
  readonly identity: Reading<ModemIdentity>
  readonly sim: Reading<ModemSim>
  readonly registration: Reading<ModemRegistration>
  readonly signal: Reading<ModemSignal>
  readonly traffic: Reading<{ sent: number; recvd: number }>
  readonly temperature_c: Reading<number | undefined>
  readonly pingHost: Reading<string>
  readonly apn: Reading<ApnSettings>
  /** As the modem has it; undefined as the value of the reading: automatic. */
  readonly operator: Reading<{ plmn: string | undefined }>

  constructor(now_ms: () => number) {
    const lasting = <T>() => new Reading<T>(now_ms, Number.POSITIVE_INFINITY)
    this.identity = lasting()
    this.sim = lasting()
    this.registration = new Reading(now_ms, live_ms)
    this.signal = new Reading(now_ms, live_ms)
    this.traffic = lasting()
    this.temperature_c = new Reading(now_ms, slow_ms)
    this.pingHost = lasting()
    this.apn = lasting()
    this.operator = lasting()
  }

  get registered(): boolean | undefined {
    const network = this.registration.value?.network
    return network === undefined || network === 'unknown' ? undefined : network === 'home' || network === 'roaming'
  }

  /** A data connection stands. Without packet service there is none. */
  get connected(): boolean | undefined {
    const { connected, packetService } = this.registration.value ?? {}
    return connected ?? (packetService === 'detached' ? false : undefined)
  }

  /** MCC and MNC of the SIM's own network in written form, while the modem is registered there. */
  get homePlmn(): string | undefined {
    const { network, plmn = 0 } = this.registration.value ?? {}
    return network === 'home' && plmn > 0 ? String(plmn).padStart(5, '0') : undefined
  }
}
