import { isIP } from 'rtk-base/link'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { neighbourMac } from '../credentials/lookup.js'
import type { LoginNote } from '../credentials/note.js'
import type { IpBlock, OperationName, PingReboot } from '../operations/operations.js'
import type { Performer } from '../operations/performer.js'
import type { RouterFacts } from './facts.js'

/** IP blocking: enabled, 20 attempts, cleared at a restart of the router. */
const blockAttempts = 20
const stored = { mac: 'router-mac', blockingSet: 'ip-blocking-set' }

export interface ArrivalDeps {
  readonly ctx: Pick<PluginContext, 'log' | 'store' | 'process'>
  readonly url: string
  readonly logins: LoginNote
  readonly facts: RouterFacts
  /** How the ping reboot is to be. */
  pingReboot(): PingReboot
  /** A router with another MAC address answers. */
  replaced(): void
}

/** Handles a router that answers: identifies and configures it. */
export class Arrival {
  readonly #deps: ArrivalDeps
  /** Where the address of the option is an IP address. */
  readonly address: string
  /** MAC of the last router, or of the currently answering device by the kernel. */
  #mac = ''

  constructor(deps: ArrivalDeps) {
    this.#deps = deps
    const { hostname } = new URL(deps.url)
    const address = hostname.replace(/^\[|\]$/g, '')
    this.address = isIP(address) === 0 ? '' : address
  }

  /** `''` until it is known. */
  get mac(): string {
    return this.#mac
  }

  async load(): Promise<void> {
    const known = await this.#deps.ctx.store.get(stored.mac)
    this.#mac = typeof known === 'string' ? known : ''
  }

  /** Before a login: another MAC address is another router, which has seen none of the failed logins. */
  readonly meet = async (signal: AbortSignal): Promise<void> => {
    const seen = await neighbourMac(this.#deps.ctx.process, this.address, signal)
    if (seen === '' || seen === this.#mac) return
    if (this.#mac !== '') this.#changed(seen)
    await this.#keep(seen)
  }

  /** After a login. @throws RTK_ERR_ROUTER_OFFLINE when it went away meanwhile, RTK_ERR_ROUTER_LOGIN when it rejects the password now */
  readonly arrived = async (performer: Performer, signal: AbortSignal): Promise<void> => {
    const board = await this.#tried('board', () => performer.perform('board', undefined, signal))
    if (board) {
      if (board.macaddr !== '' && this.#mac !== '' && board.macaddr !== this.#mac) this.#changed(board.macaddr)
      if (board.macaddr !== '') await this.#keep(board.macaddr)
      this.#deps.facts.set('board', board)
    }
    await this.#countModems(performer, signal)
    await this.#tried('setIpBlock', () => this.#setIpBlocking(performer, signal))
    await this.#tried('setPingReboot', () => this.reconcilePing(performer, signal))
  }

  /** Writes the ping reboot where it is not as it has to be. */
  async reconcilePing(performer: Performer, signal: AbortSignal): Promise<void> {
    const wanted = this.#deps.pingReboot()
    const { facts } = this.#deps
    const now = await performer.perform('pingReboot', undefined, signal)
    facts.set('pingReboot', now)
    if (now.enabled === wanted.enabled && (!wanted.enabled || now.host === wanted.host)) return
    await performer.perform('setPingReboot', { ...now, ...wanted }, signal)
    facts.set('pingReboot', await performer.perform('pingReboot', undefined, signal))
  }

  /** A router may have a second modem: a person has to know which one this is about. */
  async #countModems(performer: Performer, signal: AbortSignal): Promise<void> {
    const { ctx, facts } = this.#deps
    // Not every router supports it.
    const modems = await performer.perform('modems', undefined, signal).catch(() => undefined)
    if (!modems) return
    facts.set('modems', modems)
    if (modems.count > 1) ctx.log.info(modems, `the router has ${modems.count} modems: ${modems.used} is used`)
  }

  /** At the first login at a router only: a person may have reasons to change it afterwards. */
  async #setIpBlocking(performer: Performer, signal: AbortSignal): Promise<void> {
    const { ctx, facts } = this.#deps
    const now: IpBlock = await performer.perform('ipBlock', undefined, signal)
    facts.set('ipBlock', now)
    if (this.#mac === '' || (await ctx.store.get(stored.blockingSet)) === this.#mac) return
    const isRight = now.enabled && now.attempts === blockAttempts && now.clearedAtReboot !== false
    if (!isRight) {
      await performer.perform('setIpBlock', { attempts: blockAttempts }, signal)
      facts.set('ipBlock', await performer.perform('ipBlock', undefined, signal))
    }
    await ctx.store.set(stored.blockingSet, this.#mac)
  }

  #changed(mac: string): void {
    const { ctx, facts, replaced } = this.#deps
    ctx.log.warn({ before: this.#mac, now: mac }, 'another router answers')
    facts.clear()
    replaced()
  }

  async #keep(mac: string): Promise<void> {
    if (mac === this.#mac) return
    this.#mac = mac
    const { ctx, logins } = this.#deps
    try {
      await logins.meetRouter(mac)
      await ctx.store.set(stored.mac, mac)
    } catch (error) {
      const text = 'the MAC address of the router could not be stored: it is found out again after a restart'
      ctx.log.warn({ err: error }, text)
    }
  }

  /** A failed or unsupported step does not prevent using the router. */
  async #tried<T>(name: OperationName, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      const isOver =
        error instanceof RtkError && ['RTK_ERR_ROUTER_OFFLINE', 'RTK_ERR_ROUTER_LOGIN'].includes(error.code)
      if (isOver) throw error
      const text = error instanceof Error ? error.message : String(error)
      this.#deps.ctx.log.warn(
        { operation: name },
        `a step after the login at the router failed: ${text}; it is done at the next login`,
      )
      return undefined
    }
  }
}
