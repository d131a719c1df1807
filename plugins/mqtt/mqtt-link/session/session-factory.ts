import type { PluginContext } from 'rtk-base/plugin'
import type { Identity } from '../identity/identity.js'
import type { Broker, DialledBroker, LinkOptions } from '../settings.js'
import { Session, type SessionEnd, type SessionEvents } from './session.js'

/** Makes sessions by the options: with or without TLS, with MQTT 5 or 3.1.1. */
export class SessionFactory {
  readonly oldBrokers: OldBrokers
  readonly #net: PluginContext['net']
  readonly #serial: string
  readonly #options: LinkOptions

  constructor(ctx: PluginContext, options: LinkOptions) {
    this.oldBrokers = new OldBrokers(() => ctx.clock.monotonic())
    this.#net = ctx.net
    this.#serial = ctx.serial
    this.#options = options
  }

  usesTls({ ca, cert }: Partial<Identity>): boolean {
    return !this.#options.insecure || ca !== undefined || cert !== undefined
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
    const [net, serial] = [this.#net, this.#serial]
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
