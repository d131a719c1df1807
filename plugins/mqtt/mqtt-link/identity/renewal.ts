import { readRecord } from 'rtk-base/files'
import { type PluginContext, Undelivered, unavailable } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { waitAfter_ms } from 'rtk-base/time'
import { failureOf } from '../failure.js'
import type { CertificateRequest } from './certificate-request.js'
import { notYet, reEnrol } from './est.js'
import { certificateInfo, type Identity, requireCertificate } from './identity.js'
import type { StationIdentity } from './station-identity.js'

const look_ms = 600_000
const retry_ms = 3_600_000
const waitSpread = [0.5, 1.5] as const
/** A certificate is renewed in the last third of its life; up to a twentieth earlier, so that a fleet spreads. */
const lastPart = 1 / 3
const spread = 1 / 20

export interface RenewalOptions {
  /** EST server; without one nothing is renewed. */
  est?: string | undefined
  /** PEM file of its authority; the broker's when left out. */
  estCa?: string | undefined
}

/** Watches when the certificate expires, and gets a new one in time. */
export class Renewal {
  readonly #ctx: PluginContext
  readonly #options: RenewalOptions
  readonly #identities: StationIdentity
  readonly #reconnect: () => void
  readonly #early = Math.random()
  #running = false
  #notBefore_ms = 0
  /** The request that the server wants to see again, because a person has to approve it. */
  #open: CertificateRequest | undefined

  /** @param reconnect makes the link connect with the renewed identity */
  constructor(ctx: PluginContext, options: RenewalOptions, identities: StationIdentity, reconnect: () => void) {
    this.#ctx = ctx
    this.#options = options
    this.#identities = identities
    this.#reconnect = reconnect
  }

  start(): void {
    this.#ctx.timers.every(look_ms, () => this.watch())
    void this.watch()
  }

  /** Renews when it is time. Never rejects. */
  async watch(): Promise<void> {
    const utc_s = this.#ctx.services.use(device).utc_ms() / 1000
    const { info } = await this.#identities.current().catch(() => ({ info: { from: 0, until: 0, serial: '' } }))
    if (utc_s === 0 || info.until === 0 || this.#ctx.signal.aborted) return
    const life_s = info.until - info.from
    const left_s = info.until - utc_s
    this.#reportExpiry(left_s, life_s, info.until)
    if (this.#options.est === undefined || this.#ctx.clock.monotonic() < this.#notBefore_ms) return
    if (left_s > life_s * (lastPart + spread * this.#early)) return
    await this.renew().catch(() => {})
  }

  #reportExpiry(left_s: number, life_s: number, until_s: number): void {
    const renews = this.#options.est !== undefined
    const _then = renews ? 'it is being renewed' : 'replace it manually, or set mqtt-link.est'
    const isNear = left_s < (life_s * lastPart) / 2
    this.#ctx.errors.while('mqtt-cert', isNear && { expired: left_s <= 0, until: day(until_s), renews, _then })
  }

  /**
   * Gets a certificate for a new key, stores both next to the current identity, and reconnects with them. Resolves with a text for
   * the caller. @throws RTK_ERR_UNAVAILABLE with the reason; the old identity stays in use, and an error is raised.
   */
  async renew(): Promise<string> {
    const { est } = this.#options
    if (est === undefined) throw unavailable('no EST server is set: mqtt-link.est')
    if (this.#running) throw unavailable('a renewal is in progress')
    this.#running = true
    try {
      const { serial, until } = await this.#reEnrolled(est)
      this.#notBefore_ms = this.#ctx.clock.monotonic() + retry_ms
      this.#ctx.log.info({ serial }, 'a new certificate was issued; reconnecting with it')
      // In a later turn: a caller over MQTT gets the answer over the session that this ends.
      setImmediate(() => this.#reconnect())
      return `certificate ${serial} is valid until ${day(until)}; reconnecting with it`
    } catch (error) {
      throw unavailable(this.#failed(error as Error))
    } finally {
      this.#running = false
    }
  }

  async #reEnrolled(url: string): Promise<{ serial: string; until: number }> {
    const identity = await this.#identities.current()
    const { cert: old, key: oldKey } = identity
    if (old === undefined || oldKey === undefined)
      throw new Error('no certificate to renew: set mqtt-link.cert and key')
    const { requestLike, issuedFor } = await import('./certificate-request.js')
    this.#open ??= await requestLike(old)
    const { request, key } = this.#open
    const answer = await reEnrol(
      this.#ctx.fetch,
      { url, ca: await this.#authority(identity) },
      { cert: old, key: oldKey },
      request,
    )
    this.#open = undefined
    const cert = issuedFor(key, old, answer)
    const info = certificateInfo(cert)
    const utc_s = this.#ctx.services.use(device).utc_ms() / 1000
    if (utc_s > 0 && info.until <= utc_s) throw new Error(`the new certificate expired on ${day(info.until)} already`)
    await this.#identities.propose(cert, key)
    return info
  }

  async #authority(identity: Identity): Promise<string | undefined> {
    const { estCa } = this.#options
    if (estCa === undefined) return identity.ca
    const pem = await readRecord(estCa)
    requireCertificate(pem, estCa)
    return pem
  }

  #failed(error: Error): string {
    const isOpen = error instanceof Undelivered && error.status === notYet
    if (!isOpen) this.#open = undefined
    const asked_ms = error instanceof Undelivered ? error.wait_ms : 0
    const least_ms = isOpen && asked_ms > 0 ? 0 : retry_ms
    const waits = { first_ms: least_ms, longest_ms: least_ms, spread: waitSpread }
    this.#notBefore_ms = this.#ctx.clock.monotonic() + waitAfter_ms(1, waits, asked_ms)
    const reason = failureOf(error).text
    return this.#ctx.errors.while('mqtt-renew', { stage: 'request', reason })?.why ?? reason
  }
}

/** `2026-11-21`, for texts that a person reads. */
const day = (utc_s: number): string => new Date(utc_s * 1000).toISOString().slice(0, 10)
