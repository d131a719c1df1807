import { createPrivateKey, X509Certificate } from 'node:crypto'
import { disk, readRecord } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import type { Failure } from '../failure.js'
import { fingerprint, Identity, type Pem, requireCertificate } from './identity.js'

/** Contents of the PEM files that a person put on the machine. */
interface ReadFiles {
  /** Missing and invalid files are left out. */
  usable: Identity
  /** Why the first unusable file cannot be used: a text that names the file. */
  fault: string | undefined
}

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
 * The identity of the station: PEM files, or the renewed identity in the protected namespace that replaces them. Beside it lies,
 * until it is proved, the newest one (the candidate). The candidate is tried first; when it fails, the two alternate until one of
 * them connects. That one is kept, and the other one removed.
 */
export class StationIdentity {
  readonly #ctx: PluginContext
  /**
   * Paths of the PEM files: of the authority that signed the broker's certificate (left out: the system's authorities), and of the
   * station's own certificate and key.
   */
  readonly #paths: Pem
  /** The key file whose permissions were reported. */
  #warned = ''
  /** The present attempt uses the candidate. */
  #isTried = false
  /** Why the candidate failed: the old identity is next. */
  #refused: Failure | undefined

  constructor(ctx: PluginContext, paths: Pem) {
    this.#ctx = ctx
    this.#paths = paths
  }

  /** Without the candidate. Read again for each attempt. Rejects with a text that names the file. */
  async current(): Promise<Identity> {
    const files = await this.#readFiles()
    const renewed = await this.#renewed('identity', files)
    if (renewed) return renewed
    if (files.fault !== undefined) throw new Error(files.fault)
    return files.usable
  }

  /** An attempt begins; it may end before it needs an identity. */
  begin(): void {
    this.#isTried = false
  }

  /** The identity for the attempt. Rejects with a text that names the file. */
  async next(): Promise<Identity> {
    const candidate = this.#refused ? undefined : await this.#renewed('candidate', await this.#readFiles())
    const identity = candidate ?? (await this.current())
    this.#isTried = candidate !== undefined
    return identity
  }

  /** The attempt failed. True: the old identity, which is known to work, is tried at once. */
  failed(failure: Failure): boolean {
    const isTried = this.#isTried
    this.#isTried = false
    // When the old identity fails as well, the candidate was not the cause: it is next again.
    this.#refused = isTried ? failure : undefined
    if (isTried)
      this.#ctx.log.warn({ cause: failure.cause }, `the renewed certificate did not connect: ${failure.text}`)
    return isTried
  }

  /** The broker accepted the attempt. One write removes the other identity. Never rejects. */
  async connected({ info }: Identity): Promise<void> {
    const { errors, log, store } = this.#ctx
    const [isTried, refused] = [this.#isTried, this.#refused]
    this.#isTried = false
    this.#refused = undefined
    if (!isTried && !refused) return
    try {
      const candidate = await this.#stored('candidate')
      if (candidate) await store.protected.batch({ ...(isTried && { identity: candidate }), candidate: undefined })
      errors.while('mqtt-renew', !isTried && { stage: 'refused', reason: refused?.text ?? '' })
      if (isTried) log.info({ serial: info.serial }, 'the renewed certificate is in use')
    } catch (error) {
      // Both stay in the store until the next connect.
      errors.while('mqtt-renew', { stage: 'store', reason: (error as Error).message })
    }
  }

  /** Stores a candidate beside the current identity. Durable once resolved. @throws RTK_ERR_STORE_WRITE */
  async propose(cert: string, key: string): Promise<void> {
    const { usable: files } = await this.#readFiles()
    const before = await this.#stored('identity')
    const replaces = files.cert === undefined ? (before?.replaces ?? '') : fingerprint(files.cert)
    await this.#store('candidate', { cert, key, ca: files.ca ?? before?.ca, replaces })
  }

  /** Copies the files into the protected namespace, so that they can be removed. @throws RTK_ERR_STORE_WRITE */
  async adopt(): Promise<void> {
    const { ca, cert, key } = (await this.#readFiles()).usable
    if (cert === undefined || key === undefined) return
    const replaces = fingerprint(cert)
    if ((await this.#stored('identity'))?.replaces === replaces) return
    await this.#store('identity', { ca, cert, key, replaces })
    this.#ctx.log.info('the identity was copied into the protected store: its key file can be removed')
  }

  /**
   * The stored identity; undefined once a person has exchanged the files that it replaces. Rejects where a `ca` is set and none is
   * left: without it any authority of the system could vouch for the broker.
   */
  async #renewed(name: 'identity' | 'candidate', { usable }: ReadFiles): Promise<Identity | undefined> {
    const stored = await this.#stored(name)
    if (!stored || (usable.cert !== undefined && fingerprint(usable.cert) !== stored.replaces)) return undefined
    const [ca, file] = [usable.ca ?? stored.ca, this.#paths.ca]
    if (ca === undefined && file) throw new Error(`the ca file ${file} cannot be read, or is not a PEM certificate`)
    return new Identity({ cert: stored.cert, key: stored.key, ca })
  }

  /** The files are read again for each attempt: a person may have exchanged them. */
  async #readFiles(): Promise<ReadFiles> {
    const texts: Pem = {}
    let unread: string | undefined
    for (const part of ['ca', 'cert', 'key'] as const) {
      const path = this.#paths[part]
      if (path === undefined || path === '') continue
      try {
        texts[part] = await readRecord(path)
        if (part === 'key') await this.#warnOfReaders(path)
      } catch (error) {
        unread ??= `the ${part} file cannot be read: ${messageOf(error)}`
      }
    }
    const { ca } = texts
    const isPair = texts.cert !== undefined && texts.key !== undefined
    if (!isPair && (texts.cert ?? texts.key) !== undefined) unread ??= 'cert and key go together: set both'
    const invalid = faultOf(isPair ? texts : { ca }, this.#paths)
    // Without its authority a certificate is not used either: any authority of the system could vouch for the broker.
    const usable = invalid ? { ca: invalid.part === 'ca' ? undefined : ca } : isPair ? texts : { ca }
    return { usable: new Identity(usable), fault: unread ?? invalid?.text }
  }

  async #warnOfReaders(path: string): Promise<void> {
    if (((await disk.stat(path)).mode & 0o077) === 0 || this.#warned === path) return
    this.#warned = path
    this.#ctx.log.warn(`other users can read the key ${path}: it is used all the same; chmod 600 it`)
  }

  async #stored(name: 'identity' | 'candidate'): Promise<Stored | undefined> {
    const value = await this.#ctx.store.protected.get(name)
    return isStored(value) ? value : undefined
  }

  #store(name: 'identity' | 'candidate', identity: Stored): Promise<void> {
    return this.#ctx.store.protected.set(name, identity)
  }
}

/** The first fault of readable files. TLS would ignore a `cert` with an empty `key`. */
function faultOf({ ca, cert, key }: Pem, paths: Pem): { part: keyof Pem; text: string } | undefined {
  let part: keyof Pem = 'ca'
  try {
    if (ca !== undefined) requireCertificate(ca, paths.ca ?? '')
    part = 'cert'
    if (cert !== undefined) requireCertificate(cert, paths.cert ?? '')
  } catch (error) {
    return { part, text: messageOf(error) }
  }
  if (cert === undefined || key === undefined) return undefined
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined
    return { part: 'key', text: `the key ${paths.key} does not belong to the certificate ${paths.cert}` }
  } catch (error) {
    return {
      part: 'key',
      text: `${paths.key} is not a PEM private key without a passphrase: ${messageOf(error)}`,
    }
  }
}

const messageOf = (error: unknown) => (error as Error).message
