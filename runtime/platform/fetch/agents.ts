import type { Agent, buildConnector } from 'undici'
import { RtkError } from '../../errors.js'
import { isIP } from '../address/address.js'
import { addressRefused, checkedResolve } from '../address/checked-resolve.js'
import { hostPackages } from '../host-packages.js'
import type { Clock } from '../ports/clock.js'
import { type NetworkPort, rootCertificates, type Socket, type TLSSocket } from '../ports/network.js'
import type { FetchOptions } from './types.js'

type Undici = typeof import('undici')
type Trust = Pick<FetchOptions, 'ca' | 'extraCa' | 'fingerprint256' | 'client' | 'refuses'>

const connectLimit_ms = 10_000
/** A connection waits in the pool for the next request. */
const keepAliveDelay_ms = 60_000
/** Agents of one plugin; the oldest makes room. */
const mostAgents = 8

/** undici is loaded at the first fetch: it takes 20 MB and a tenth of a second. */
export function loadUndici(): Undici {
  return hostPackages.undici() as Undici
}

const asList = (pem: string | readonly string[] | undefined) => (pem === undefined ? [] : [pem].flat())
const plainHex = (fingerprint: string) => fingerprint.replaceAll(':', '').toLowerCase()

export function isPinned({ ca, extraCa, fingerprint256 }: Trust): boolean {
  return ca !== undefined || extraCa !== undefined || fingerprint256 !== undefined
}

/** The connections of one plugin: an agent for each set of trusted certificates and limits. */
export class Agents {
  readonly #all = new Map<string, Agent>()
  /** A number for each function that refuses addresses. */
  readonly #refusers = new WeakMap<object, number>()
  #known = 0
  readonly #network: NetworkPort
  readonly #clock: Clock
  readonly #connecting = new Set<Socket>()

  constructor(network: NetworkPort, clock: Clock) {
    this.#network = network
    this.#clock = clock
  }

  get(trust: Trust): Agent {
    const { Agent } = loadUndici()
    const key = JSON.stringify([trust.ca, trust.extraCa, trust.fingerprint256, trust.client, this.#numberOf(trust)])
    const known = this.#all.get(key)
    if (known) return known
    // Its own limits are on the real clock: those of `Fetcher` take their place.
    const agent = new Agent({ connect: this.#connector(trust), headersTimeout: 0, bodyTimeout: 0, connections: 8 })
    this.#all.set(key, agent)
    if (this.#all.size > mostAgents) {
      const [[oldest, unused]] = this.#all
      this.#all.delete(oldest)
      void unused.close()
    }
    return agent
  }

  #numberOf({ refuses }: Trust): number {
    if (!refuses) return 0
    const known = this.#refusers.get(refuses) ?? ++this.#known
    this.#refusers.set(refuses, known)
    return known
  }

  async close(): Promise<void> {
    for (const socket of this.#connecting) socket.destroy()
    await Promise.all([...this.#all.values()].map((agent) => agent.destroy()))
  }

  #connector(trust: Trust): buildConnector.connector {
    const { client, fingerprint256, refuses } = trust
    const given = [...asList(trust.ca), ...asList(trust.extraCa)]
    const ca = trust.extraCa === undefined ? given : [...(trust.ca === undefined ? rootCertificates : []), ...given]
    // A pinned certificate is checked below, before a byte is sent.
    const rejectUnauthorized = fingerprint256 === undefined || given.length > 0
    const trusted = { ...(given.length > 0 ? { ca } : {}), ...client, rejectUnauthorized, ALPNProtocols: ['http/1.1'] }
    const resolve = refuses && checkedResolve(this.#network.resolve, refuses)
    return ({ hostname: host, port, protocol, servername }, done) => {
      const trouble = isIP(host) === 0 ? undefined : refuses?.(host)
      if (trouble !== undefined) return done(addressRefused(trouble), null)
      const tls = protocol === 'https:' ? { ...trusted, ...(servername && { servername }) } : undefined
      const socket = this.#network.dial({
        ...{ host, port: Number(port || (tls ? 443 : 80)) },
        ...(tls && { tls }),
        ...(resolve && { resolve }),
      })
      socket.setNoDelay(true).setKeepAlive(true, keepAliveDelay_ms)
      this.#connecting.add(socket)
      const late = this.#clock.timer(connectLimit_ms, () => socket.destroy(tooLate()))
      const over = (error?: Error) => {
        if (!this.#connecting.delete(socket)) return
        void late()
        socket.off('error', over).off('close', over)
        if (error) done(error, null)
        else done(null, socket)
      }
      socket.on('error', over).once('close', () => over(new Error('the connection was given up')))
      socket.once(tls ? 'secureConnect' : 'connect', () => {
        const mismatch = fingerprint256 === undefined ? undefined : pinMismatch(socket, fingerprint256)
        over(mismatch)
        if (mismatch) socket.destroy()
      })
    }
  }
}

const tooLate = () => Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })

function pinMismatch(socket: Socket, fingerprint256: string): RtkError | undefined {
  const seen = 'getPeerCertificate' in socket ? (socket as TLSSocket).getPeerCertificate().fingerprint256 : ''
  if (plainHex(seen ?? '') === plainHex(fingerprint256)) return undefined
  const text = `its certificate has the SHA-256 fingerprint ${seen || 'of nothing'}, expected is ${fingerprint256}`
  return new RtkError('RTK_ERR_FETCH_CERTIFICATE', text)
}
