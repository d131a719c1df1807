/** Admission of connections and requests, and the role of each: places, rates, the access rules, and the login. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostname as machineName } from 'node:os'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { Accounts } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import { isLoopbackAddress } from '../../platform/address/address.js'
import { Places } from '../../platform/fair-share/places.js'
import { type Budget, budgetsByNetwork } from '../../platform/intake.js'
import type { Clock } from '../../platform/ports/clock.js'
import { requestRate } from '../../platform/rates.js'
import type { KeptLogin } from '../login/kept-login.js'
import { Login, type LoginOptions } from '../login/login.js'
import { peerOf } from '../net/peer.js'
import { refusal } from './access.js'
import { notedRole, noteRole } from './app.js'
import { HttpConnection } from './http-connection.js'
import type { HttpLimits } from './limits.js'
import type { LocalNetwork } from './local-network.js'
import { callerOf, Proxies } from './proxies.js'
import type { Role } from './routes/config.js'

export interface AdmissionOptions extends LoginOptions {
  /** Allowed `Host` names besides addresses and local names. */
  hosts?: string[]
  /** Addresses and prefixes of proxies, which speak for those whom they forward. */
  proxies?: string[]
}

export interface AdmissionDeps {
  log: Logger
  clock: Clock
  /** The machine's own name, allowed as `Host`. */
  hostname?: string
  /** Left out: passwords and sessions end with the process. */
  kept?: KeptLogin
  /** The people of a plugin that knows some; `away`: it does not run. */
  accounts?: () => Accounts | 'away' | undefined
  /** Left out: by the address. */
  isLoopback?: (address: string) => boolean
}

export class Admission {
  readonly login: Login
  readonly proxies: Proxies
  readonly #limits: HttpLimits
  readonly #network: LocalNetwork
  readonly #names: readonly string[]
  readonly #isSecure: boolean
  readonly #places: Places
  /** Requests under way of clients behind proxies: each counts as a connection of the client's address. */
  readonly #forwarded: Places
  /** Request budget of each address. */
  readonly #budgets = budgetsByNetwork(requestRate, performance.now())
  /** A program on this machine: it waits for no turn, and a proxy may speak for many. */
  readonly isLoopback: (address: string) => boolean

  constructor(options: AdmissionOptions, deps: AdmissionDeps, limits: HttpLimits, network: LocalNetwork) {
    const { clock, log } = deps
    this.login = new Login(options, clock, deps.kept, deps.accounts)
    this.proxies = new Proxies(options.proxies ?? [])
    this.#limits = limits
    this.#network = network
    this.#names = [deps.hostname ?? machineName(), ...(options.hosts ?? [])]
    this.#isSecure = options.tls !== undefined
    this.isLoopback = deps.isLoopback ?? isLoopbackAddress
    const tell = (refused: number, why: string) =>
      log.warn({ refused }, `${refused} HTTP connection(s) refused: ${why}; more are refused until some end`)
    this.#places = new Places(clock, tell, this.isLoopback)
    this.#forwarded = new Places(clock, (refused, why) =>
      log.warn({ refused }, `${refused} request(s) of a proxy refused: ${why}; more are refused until some end`),
    )
  }

  /** Whether a connection gets a place. */
  enters(socket: Socket): boolean {
    const { address } = peerOf(socket)
    const { connections: maxConnections, perAddress, keptForLoopback } = this.#limits
    const maxPerAddress = this.proxies.has(address) ? maxConnections : perAddress
    const giveWay = () => void socket.destroy()
    const isSilent = () => socket.bytesWritten === 0 && HttpConnection.of(socket)?.hasAsked !== true
    const leave = this.#places.enter(address, { maxConnections, maxPerAddress, keptForLoopback }, giveWay, isSilent)
    if (leave) socket.once('close', leave)
    return leave !== undefined
  }

  /**
   * The budget for requests of a connection; undefined: they are not counted, or counted for each client behind the
   * proxy.
   */
  budgetOf(socket: Socket): Budget | undefined {
    const { address } = peerOf(socket)
    const isCounted = !this.proxies.has(address) && !this.isLoopback(address)
    return isCounted ? this.#budgets.of(address, performance.now()) : undefined
  }

  /**
   * Records the caller. A client behind a proxy has the same limits as a direct one: on requests, and on requests under way.
   * @returns why the request goes no further
   */
  forwards(request: IncomingMessage, ended: ServerResponse | Duplex): RtkError | undefined {
    const isForwarded = this.proxies.read(request)
    if (isForwarded === undefined)
      return new RtkError('RTK_ERR_REQUEST', 'the proxy names no address in X-Forwarded-For')
    if (!isForwarded) return undefined
    const address = callerOf(request)
    if (!this.#budgets.of(address, performance.now()).admits(0, performance.now())) return tooOften(request)
    const { connections: maxConnections, perAddress: maxPerAddress } = this.#limits
    const leave = this.#forwarded.enter(address, { maxConnections, maxPerAddress }, () => void ended.destroy())
    if (leave === undefined) return tooOften(request)
    ended.once('close', leave)
    return undefined
  }

  /** The caller's role, or the error that refuses the request. A password in it is checked first. */
  roleOf(request: IncomingMessage, upgrade: boolean): Role | RtkError | Promise<Role | RtkError> {
    const { method = '', url = '', headers, rawHeaders } = request
    const peer = callerOf(request)
    const rules = {
      own: this.#network.prefixes(),
      names: this.#names,
      login: this.login.admitsAll,
      isSecure: this.#isSecure,
    }
    const refused = refusal({ method, url, headers, rawHeaders, peer, upgrade }, rules)
    if (refused !== undefined || !this.login.isOn) return refused ?? 'operator'
    if (!this.login.isUnproven(headers)) return this.#provenRole(request, peer)
    return this.login.prove({ headers, peer }).then(
      () => this.#provenRole(request, peer),
      (error) => error as RtkError,
    )
  }

  #provenRole(request: IncomingMessage, peer: string): Role | RtkError {
    const { headers } = request
    try {
      const role = this.login.roleOf({ headers, peer, local: this.#network.isLocal(peer) })
      noteRole(request, role)
      return role
    } catch (error) {
      return error as RtkError
    }
  }

  /** Whether the session by which a request was admitted has ended. */
  isOver(request: IncomingMessage): boolean {
    if (!this.login.isOn) return false
    const local = this.#network.isLocal(callerOf(request))
    // Admitted while there was no login: only an operator keeps that.
    return !this.login.allowsStill(notedRole(request) ?? 'operator', { headers: request.headers, local })
  }
}

export const tooOften = (request: IncomingMessage): RtkError =>
  new RtkError('RTK_ERR_TOO_MANY_REQUESTS', `${callerOf(request)} asks too often`)
