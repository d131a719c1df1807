import { type Link, links } from '../../../../schemas/services.js'
import { normalAddress } from '../../../platform/address/address.js'
import type { Resolve, Socket } from '../../../platform/ports/network.js'
import type { PluginContext } from '../../../plugin.js'
import {
  addressesFor,
  type DialState,
  failed,
  remembered,
  resolved,
  stepOf,
  succeeded,
  untriedPeer,
} from './dial-steps.js'
import { isLocal, ownAddresses, type UplinkEvents, UplinkWatch } from './uplink-watch.js'

const longestReason = 200

/** Socket errors of a peer that was reached, and does not want to. */
const answered = /^(ECONNREFUSED|ERR_SSL|ERR_TLS|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|HOSTNAME_|ERR_OSSL)/

/** Whether a socket error shows that the peer was reached, so the station's own network works. */
export const isAnswer = (error: unknown): boolean => answered.test(String((error as { code?: unknown })?.code ?? ''))

/**
 * For the owner of a connection to an outside peer. Selects the address of the next attempt, follows the uplinks, and
 * reports the state of the connection to the service `links`, which the plugin `recovery` uses.
 */
export class Outbound {
  readonly #ctx: PluginContext
  readonly #uplinks: UplinkWatch
  readonly #names: Resolve
  #dial: DialState
  #link: Link
  #family: 0 | 4 | 6 = 0
  readonly #ends: (() => unknown)[] = []

  /**
   * @param name unique in the station, without user or password @param options.names resolves the name of the peer;
   *   default: `ctx.net.resolve`
   */
  constructor(
    ctx: PluginContext,
    name: string,
    peer: string,
    { carries = 'out', names = ctx.net.resolve }: { carries?: Link['carries']; names?: Resolve } = {},
  ) {
    this.#ctx = ctx
    this.#names = names
    this.#uplinks = new UplinkWatch(ctx, name)
    this.#dial = untriedPeer(peer)
    const since_ms = ctx.clock.monotonic()
    this.#link = {
      name,
      peer,
      carries,
      state: 'idle',
      local: false,
      since_ms,
      reason: '',
      attempts: 0,
      step: 'reconnect',
      family: 0,
      next_ms: 0,
    }
  }

  get uplinks(): UplinkWatch {
    return this.#uplinks
  }

  /** Call it in `start` of the plugin or later. @param events callbacks for changes of the uplinks */
  start(events?: UplinkEvents): void {
    this.#ends.push(this.#ctx.services.watch(links, (service) => service?.report(this.#link)))
    if (events) this.#ends.push(this.#uplinks.follow(events))
  }

  /** Sets another peer: the state of the previous one is reset. */
  retarget(peer: string): void {
    if (peer === this.#link.peer) return
    this.#dial = untriedPeer(peer)
    this.#family = 0
    this.#report({ peer, reason: '', local: false })
  }

  /** Ends the reports about this connection. */
  close(): void {
    for (const end of this.#ends.splice(0)) void end()
    this.#ctx.services.find(links)?.remove(this.#link.name)
  }

  /** Selects the addresses of this attempt. */
  readonly resolve: Resolve = async (host) => {
    const found = await this.#names(host).catch((error: Error) => error)
    const now_ms = this.#ctx.clock.monotonic()
    const isAnswered = !(found instanceof Error) && found.length > 0
    if (isAnswered) this.#dial = resolved(this.#dial, found, now_ms)
    const answer = isAnswered ? found : remembered(this.#dial, now_ms)
    if (answer) return addressesFor(this.#dial, answer)
    throw found instanceof Error ? found : new Error(`${host} has no address`)
  }

  /** An attempt begins. */
  tries(socket?: Socket): void {
    this.#family = 0
    socket?.once('connect', () => {
      this.#family = socket.remoteFamily === 'IPv6' ? 6 : 4
    })
    this.#report({ next_ms: 0 })
  }

  /** The peer accepted the connection: this address and uplink work. */
  up(socket?: { localAddress?: string | undefined; remoteAddress?: string | undefined }): void {
    const remote = normalAddress(socket?.remoteAddress)
    if (remote !== '') this.#family = remote.includes(':') ? 6 : 4
    const good = remote === '' || this.#family === 0 ? undefined : { address: remote, family: this.#family }
    this.#dial = succeeded(this.#dial, good)
    if (socket)
      this.#uplinks.reached(
        { localAddress: socket.localAddress, remoteAddress: socket.remoteAddress },
        'the peer answers',
      )
    const local = remote !== '' && isLocal(remote, ownAddresses(normalAddress(socket?.localAddress)))
    this.#report({ state: 'up', reason: '', next_ms: 0, local })
  }

  /**
   * The attempt failed, or the connection was lost.
   * @param wait_ms until the next attempt
   * @param options.answered the peer was reached: only it can change that
   * @param options.evidence whether it is reported as a failure of the uplink; default: where the peer was not reached
   */
  failed(reason: string, wait_ms: number, options: { answered?: boolean; evidence?: boolean } = {}): void {
    const { answered = false, evidence = !answered } = options
    if (evidence) this.#uplinks.failed(reason)
    this.#dial = failed(this.#dial, this.#family === 0 ? undefined : this.#family)
    const next_ms = this.#ctx.clock.monotonic() + wait_ms
    this.#report({ state: answered ? 'refused' : 'down', reason, next_ms })
  }

  /** No connection is wanted now. @param reason why not */
  idle(reason: string): void {
    this.#report({ state: 'idle', reason, next_ms: 0 })
  }

  #report(change: Partial<Link>): void {
    const before = this.#link
    const now = {
      ...before,
      ...change,
      reason: (change.reason ?? before.reason).slice(0, longestReason),
      attempts: this.#dial.failures,
      step: stepOf(this.#dial),
      family: this.#family,
    }
    const since_ms = now.state === before.state ? before.since_ms : this.#ctx.clock.monotonic()
    this.#link = { ...now, since_ms }
    this.#ctx.services.find(links)?.report(this.#link)
  }
}
