import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import type { Broker, DialledBroker } from '../broker.js'
import type { Failure } from '../failure.js'
import type { Identity } from '../identity/identity.js'
import { Session, type SessionEnd, type SessionEvents } from './session.js'

/** After this uptime TLS is tried although the time is not known. */
const longestTimeWait_ms = 60_000
/** A broker that speaks MQTT 3.1.1 only is remembered for so long, because it may be updated. */
const memory_ms = 24 * 3_600_000

export interface LinkOptions {
  clientId: string
  protocol: 'auto' | '4' | '5'
  /** Plain TCP, unless an identity is given. */
  insecure: boolean
}

/** Makes sessions by the options: with or without TLS, with MQTT 5 or 3.1.1. */
export class SessionFactory {
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  /** Brokers that speak MQTT 3.1.1 only, `HOST:PORT`, and until when that is remembered. */
  readonly #old = new Map<string, number>()

  constructor(ctx: PluginContext, options: LinkOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  /** Brokers that speak MQTT 3.1.1 only, for the next instance. */
  get oldBrokers(): [string, number][] {
    return [...this.#old]
  }

  /** @param oldBrokers of the previous instance */
  remember(oldBrokers: Iterable<readonly [string, number]>): void {
    for (const [broker, until_ms] of oldBrokers) this.#old.set(broker, until_ms)
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
    return (this.#old.get(nameOf(broker)) ?? 0) > this.#ctx.clock.monotonic() ? 4 : 5
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
    if (version === 4 && this.#options.protocol === 'auto')
      this.#old.set(nameOf(broker), this.#ctx.clock.monotonic() + memory_ms)
  }

  /** Whether an attempt that ended is repeated with 3.1.1 at once. */
  fallsBack(version: 4 | 5, { otherVersion }: SessionEnd): boolean {
    return version === 5 && otherVersion && this.#options.protocol === 'auto'
  }
}

const nameOf = ({ host, port }: Broker) => `${host}:${port}`
