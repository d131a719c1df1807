import { isIP } from 'node:net'
import { rootCertificates } from 'node:tls'
import type { Agent, buildConnector } from 'undici'
import { RtkError } from '../../errors.js'
import { addressRefused, checkedLookup } from '../address/checked-lookup.js'
import { hostPackages } from '../host-packages.js'
import type { FetchOptions } from './types.js'

type Undici = typeof import('undici')
type Trust = Pick<FetchOptions, 'ca' | 'extraCa' | 'fingerprint256' | 'client' | 'refuses'>

const connectLimit_ms = 10_000
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

  get(trust: Trust, timeout_ms: number): Agent {
    const { Agent, buildConnector } = loadUndici()
    const key = JSON.stringify([
      trust.ca,
      trust.extraCa,
      trust.fingerprint256,
      trust.client,
      timeout_ms,
      this.#numberOf(trust),
    ])
    const known = this.#all.get(key)
    if (known) return known
    const connect = connector(buildConnector, trust, Math.min(timeout_ms, connectLimit_ms))
    const agent = new Agent({ connect, headersTimeout: timeout_ms, bodyTimeout: timeout_ms, connections: 8 })
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
    await Promise.all([...this.#all.values()].map((agent) => agent.destroy()))
  }
}

function connector(build: Undici['buildConnector'], trust: Trust, timeout_ms: number): buildConnector.connector {
  const { client, fingerprint256, refuses } = trust
  const given = [...asList(trust.ca), ...asList(trust.extraCa)]
  const ca = trust.extraCa === undefined ? given : [...(trust.ca === undefined ? rootCertificates : []), ...given]
  // A pinned certificate is checked below, before a byte is sent.
  const rejectUnauthorized = fingerprint256 === undefined || given.length > 0
  const tls = { ...(given.length > 0 ? { ca } : {}), ...client, rejectUnauthorized }
  // A resumed session does not show the certificate again.
  const sessions = fingerprint256 ? { maxCachedSessions: 0 } : {}
  const plain = build({ ...tls, timeout: timeout_ms, ...sessions, ...(refuses && { lookup: checkedLookup(refuses) }) })
  const connect: typeof plain = (options, done) => {
    const trouble = isIP(options.hostname) === 0 ? undefined : refuses?.(options.hostname)
    if (trouble === undefined) plain(options, done)
    else done(addressRefused(trouble), null)
  }
  if (fingerprint256 === undefined) return connect
  return (options, done) =>
    connect(options, (...result) => {
      const [error, socket] = result
      if (error) return done(error, null)
      const seen = 'getPeerCertificate' in socket ? socket.getPeerCertificate().fingerprint256 : ''
      if (plainHex(seen ?? '') === plainHex(fingerprint256)) return done(null, socket)
      socket.destroy()
      const text = `its certificate has the SHA-256 fingerprint ${seen || 'of nothing'}, expected is ${fingerprint256}`
      done(new RtkError('RTK_ERR_FETCH_CERTIFICATE', text), null)
    })
}
