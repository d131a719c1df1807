import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { PluginContext } from 'rtk-base/plugin'
import { type CertificateInfo, certificateInfo, fingerprint, noCertificate, requireCertificate } from './certificate.js'

export interface IdentityFiles {
  /** PEM file of the authority that signed the broker's certificate; the system's authorities when left out. */
  ca?: string | undefined
  /** PEM files of the device's own certificate (and its chain) and key. */
  cert?: string | undefined
  key?: string | undefined
}

/** What the station is known by: PEM texts. The key goes to TLS and to the signer, never anywhere else. */
export interface Identity {
  ca?: string
  cert?: string
  key?: string
  info: CertificateInfo
}

/** An identity in the protected namespace. */
interface Stored {
  cert: string
  key: string
  ca?: string | undefined
  /**
   * Fingerprint of the certificate in the files that it stands in for, '' without files. Files that were exchanged by hand
   * have another one, and are used again.
   */
  replaces: string
}

const isStored = (value: unknown): value is Stored =>
  typeof (value as Stored | undefined)?.cert === 'string' && typeof (value as Stored).key === 'string'

/**
 * The station's identities: PEM files that somebody put there, in their place the renewed one in the protected namespace, and
 * beside it, until it has connected once, the newest one.
 */
export class Identities {
  readonly #ctx: PluginContext
  readonly #files: IdentityFiles
  #warned = ''

  constructor(ctx: PluginContext, files: IdentityFiles) {
    this.#ctx = ctx
    this.#files = files
  }

  /** The one in force. Read anew for every attempt. Rejects with a text that names the file. */
  async current(): Promise<Identity> {
    const stored = await this.#stored('identity')
    const files = await this.#readFiles(stored !== undefined)
    if (stored === undefined || (files.cert !== undefined && fingerprint(files.cert) !== stored.replaces)) return files
    return this.#renewed(stored, files)
  }

  /** The renewed one that has not connected yet. */
  async candidate(): Promise<Identity | undefined> {
    const stored = await this.#stored('candidate')
    if (stored === undefined) return undefined
    const files = await this.#readFiles(true)
    if (files.cert !== undefined && fingerprint(files.cert) !== stored.replaces) return undefined
    return this.#renewed(stored, files)
  }

  /** Rejects where there should be a `ca` and none is left: without it any authority of the system could vouch for the broker. */
  #renewed({ cert, key, ca: kept }: Stored, { ca = kept }: Identity): Identity {
    const file = this.#files.ca
    if (ca === undefined && file) throw new Error(`the ca file ${file} cannot be read, or is no PEM certificate`)
    return identityOf(cert, key, ca)
  }

  /** Keeps a renewed identity beside the one in force. Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  async propose(cert: string, key: string): Promise<void> {
    const files = await this.#readFiles(true)
    const before = await this.#stored('identity')
    const replaces = files.cert === undefined ? (before?.replaces ?? '') : fingerprint(files.cert)
    await this.#ctx.store.protected.set('candidate', {
      cert,
      key,
      ca: files.ca ?? before?.ca,
      replaces,
    } satisfies Stored)
  }

  /** The candidate has connected: it takes the place of the old one, in one step. @throws RTK_ERR_STORE_WRITE */
  async accept(): Promise<void> {
    const candidate = await this.#stored('candidate')
    if (candidate !== undefined) await this.#ctx.store.protected.batch({ identity: candidate, candidate: undefined })
  }

  /** The old one has connected and the candidate has not. @throws RTK_ERR_STORE_WRITE */
  async reject(): Promise<void> {
    if ((await this.#stored('candidate')) !== undefined) await this.#ctx.store.protected.batch({ candidate: undefined })
  }

  /** Copies what the files have into the protected namespace, so that they can be removed. @throws RTK_ERR_STORE_WRITE */
  async adopt(): Promise<void> {
    const { ca, cert, key } = await this.#readFiles(true)
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

  /** @param optional a missing file is none, because there is something else to go on with */
  async #readFiles(optional: boolean): Promise<Identity> {
    const read: { ca?: string; cert?: string; key?: string } = {}
    for (const part of ['ca', 'cert', 'key'] as const) {
      const path = this.#files[part]
      if (path === undefined || path === '') continue
      try {
        read[part] = await readFile(path, 'utf8')
        if (part === 'key') await this.#warnOfReaders(path)
      } catch (error) {
        if (optional) continue
        throw new Error(`the ${part} file cannot be read: ${(error as Error).message}`)
      }
    }
    if ((read.cert === undefined) !== (read.key === undefined)) {
      if (!optional) throw new Error('cert and key go together: set both')
      delete read.cert
      delete read.key
    }
    const fault = this.#faultOf(read)
    if (fault === undefined) return identityOf(read.cert, read.key, read.ca)
    if (!optional) throw new Error(fault.text)
    return fault.part === 'ca' ? identityOf(undefined, undefined, undefined) : identityOf(undefined, undefined, read.ca)
  }

  /** What is wrong with files that could be read. TLS would take no notice of a `cert` with an empty `key`. */
  #faultOf({ ca, cert, key }: IdentityFiles): { part: keyof IdentityFiles; text: string } | undefined {
    const why = (error: unknown) => (error as Error).message
    for (const [part, pem] of [
      ['ca', ca],
      ['cert', cert],
    ] as const)
      try {
        if (pem !== undefined) requireCertificate(pem, this.#files[part] ?? '')
      } catch (error) {
        return { part, text: why(error) }
      }
    if (cert === undefined || key === undefined) return undefined
    try {
      if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined
      return { part: 'key', text: `the key ${this.#files.key} does not belong to the certificate ${this.#files.cert}` }
    } catch (error) {
      return { part: 'key', text: `${this.#files.key} is no PEM private key without a passphrase: ${why(error)}` }
    }
  }

  async #warnOfReaders(path: string): Promise<void> {
    if (((await stat(path)).mode & 0o077) === 0 || this.#warned === path) return
    this.#warned = path
    this.#ctx.log.warn(`the key ${path} can be read by others: chmod 600 it`)
  }
}

/** @throws when `cert` is no certificate */
function identityOf(cert: string | undefined, key: string | undefined, ca: string | undefined): Identity {
  const info = cert === undefined ? noCertificate : certificateInfo(cert)
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), info }
}
