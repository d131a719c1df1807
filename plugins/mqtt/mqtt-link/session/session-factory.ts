import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import type { Failure } from '../failure.js'
import type { Identity } from '../identity/identity.js'
import type { Broker, DialledBroker, LinkOptions } from '../settings.js'
import { Session, type SessionEnd, type SessionEvents } from './session.js'

/** After this uptime TLS is tried although the time is not known. */
const longestTimeWait_ms = 60_000

/** Makes sessions by the options: with or without TLS, with MQTT 5 or 3.1.1. */
export class SessionFactory {
  readonly oldBrokers: OldBrokers
  readonly #ctx: PluginContext
  readonly #options: LinkOptions

  constructor(ctx: PluginContext, options: LinkOptions) {
    this.oldBrokers = new OldBrokers(() => ctx.clock.monotonic())
    this.#ctx = ctx
    this.#options = options
  }

  usesTls({ ca, cert }: Partial<Identity>): boolean {
    return !this.#options.insecure || ca !== undefined || cert !== undefined
  }

  /** Whether an attempt waits: a station often boots without a clock, and TLS rejects certificates that are not valid yet. */
  awaitsTime(identity: Partial<Identity>): boolean {
    if (!this.usesTls(identity) || this.#isTimeKnown) return false
    return this.#ctx.services.use(device).uptime_ms() < longestTimeWait_ms
  }

  /** Adds to a TLS failure that the unknown time may be the cause. */
  explained(failure: Failure): Failure {
    if (failure.cause !== 'tls' || this.#isTimeKnown) return failure
    return { ...failure, text: `${failure.text} (the time is not known yet, which may be the cause)` }
  }

  get #isTimeKnown(): boolean {
    return this.#ctx.services.use(device).utc_ms() > 0
  }

  /** The version of the first attempt. */
  version(broker: Broker): 4 | 5 {
    const { protocol } = this.#options
    if (protocol !== 'auto') return protocol === '4' ? 4 : 5
    return this.oldBrokers.has(broker) ? 4 : 5
  }

  /** Begins an attempt. @throws when TLS rejects the identity */
  begin(broker: DialledBroker, identity: Identity, version: 4 | 5, events: SessionEvents): Session {
    const { clientId } = this.#options
    const tls = this.usesTls(identity)
    const { net, serial } = this.#ctx
    return new Session({ ...broker, net, serial, clientId, identity, tls, version }, events)
  }

  /** The broker accepted this version. */
  accepted(broker: Broker, version: 4 | 5): void {
    if (version === 4 && this.#options.protocol === 'auto') this.oldBrokers.add(broker)
  }

  /** Whether an attempt that ended is repeated with 3.1.1 at once. */
  fallsBack(version: 4 | 5, { otherVersion }: SessionEnd): boolean {
    return version === 5 && otherVersion && this.#options.protocol === 'auto'
  }
}

const memory_ms = 24 * 3_600_000

/** The brokers that speak MQTT 3.1.1 only. Each is remembered for 24 hours, because it may be updated. */
export class OldBrokers {
  readonly #monotonic: () => number
  readonly #until_ms = new Map<string, number>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  get entries(): [string, number][] {
    return [...this.#until_ms]
  }

  load(entries: Iterable<readonly [string, number]>): void {
    for (const [key, until_ms] of entries) this.#until_ms.set(key, until_ms)
  }

  add({ host, port }: Broker): void {
    this.#until_ms.set(`${host}:${port}`, this.#monotonic() + memory_ms)
  }

  has({ host, port }: Broker): boolean {
    return (this.#until_ms.get(`${host}:${port}`) ?? 0) > this.#monotonic()
  }
}
