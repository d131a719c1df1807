import type { PluginContext } from 'rtk-base/plugin'
import { fingerprint, type Identity, identityOf } from './certificate.js'
import { IdentityFiles, type IdentityPaths } from './identity-files.js'

/** An identity in the protected namespace. */
interface Stored {
  cert: string
  key: string
  ca?: string | undefined
  /**
   * Fingerprint of the certificate in the files that this identity replaces, '' without files. Files that a person exchanges later
   * have another one, and are used again.
   */
  replaces: string
}

const isStored = (value: unknown): value is Stored =>
  typeof (value as Stored | undefined)?.cert === 'string' && typeof (value as Stored).key === 'string'

/**
 * The identities of the station: PEM files, the renewed identity in the protected namespace that replaces them, and beside it,
 * until it has connected once, the newest one (the candidate).
 */
export class IdentityStore {
  readonly #ctx: PluginContext
  readonly #files: IdentityFiles

  constructor(ctx: PluginContext, paths: IdentityPaths) {
    this.#ctx = ctx
    this.#files = new IdentityFiles(paths, ctx.log)
  }

  /** The current identity, read again for each attempt. Rejects with a text that names the file. */
  async current(): Promise<Identity> {
    const stored = await this.#stored('identity')
    if (stored === undefined) return this.#files.read()
    const files = await this.#files.readUsable()
    return this.#wasReplaced(files, stored) ? this.#renewed(stored, files) : files
  }

  /** The renewed identity that has not connected yet. */
  async candidate(): Promise<Identity | undefined> {
    const stored = await this.#stored('candidate')
    if (stored === undefined) return undefined
    const files = await this.#files.readUsable()
    return this.#wasReplaced(files, stored) ? this.#renewed(stored, files) : undefined
  }

  /** False once a person has exchanged the files. */
  #wasReplaced({ cert }: Identity, { replaces }: Stored): boolean {
    return cert === undefined || fingerprint(cert) === replaces
  }

  /** Rejects where a `ca` is set and none is left: without it any authority of the system could vouch for the broker. */
  #renewed({ cert, key, ca: kept }: Stored, { ca = kept }: Identity): Identity {
    const file = this.#files.paths.ca
    if (ca === undefined && file) throw new Error(`the ca file ${file} cannot be read, or is not a PEM certificate`)
    return identityOf(cert, key, ca)
  }

  /** Stores a renewed identity next to the current one. Durable once resolved. @throws RTK_ERR_STORE_WRITE */
  async propose(cert: string, key: string): Promise<void> {
    const files = await this.#files.readUsable()
    const before = await this.#stored('identity')
    const replaces = files.cert === undefined ? (before?.replaces ?? '') : fingerprint(files.cert)
    const candidate: Stored = { cert, key, ca: files.ca ?? before?.ca, replaces }
    await this.#ctx.store.protected.set('candidate', candidate)
  }

  /** The candidate has connected: one write puts it in the place of the old identity. @throws RTK_ERR_STORE_WRITE */
  async accept(): Promise<void> {
    const candidate = await this.#stored('candidate')
    if (candidate !== undefined) await this.#ctx.store.protected.batch({ identity: candidate, candidate: undefined })
  }

  /** The old identity has connected and the candidate has not. @throws RTK_ERR_STORE_WRITE */
  async reject(): Promise<void> {
    if ((await this.#stored('candidate')) !== undefined) await this.#ctx.store.protected.batch({ candidate: undefined })
  }

  /** Copies the files into the protected namespace, so that they can be removed. @throws RTK_ERR_STORE_WRITE */
  async adopt(): Promise<void> {
    const { ca, cert, key } = await this.#files.readUsable()
    if (cert === undefined || key === undefined) return
    const replaces = fingerprint(cert)
    if ((await this.#stored('identity'))?.replaces === replaces) return
    await this.#ctx.store.protected.set('identity', { ca, cert, key, replaces } satisfies Stored)
    this.#ctx.log.info('the identity was copied into the protected store: its key file can be removed')
  }

  async #stored(name: 'identity' | 'candidate'): Promise<Stored | undefined> {
    const value = await this.#ctx.store.protected.get(name)
    return isStored(value) ? value : undefined
  }
}
