import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import { disk, readRecord } from 'rtk-base/files'
import { Identity, type Pem, requireCertificate } from './identity.js'

/** Contents of the identity files. */
export interface ReadFiles {
  /** Missing and invalid files are left out. */
  usable: Identity
  /** Of the first file that cannot be used: a text that names it. */
  fault: string | undefined
}

const messageOf = (error: unknown) => (error as Error).message

/** The identity in the PEM files that a person put there. The files are read again for each attempt. */
export class IdentityFiles {
  /**
   * Of the authority that signed the broker's certificate, the system's authorities when left out, and of the station's own
   * certificate and key.
   */
  readonly paths: Pem
  readonly #log: Pick<Logger, 'warn'>
  #warned = ''

  constructor(paths: Pem, log: Pick<Logger, 'warn'>) {
    this.paths = paths
    this.#log = log
  }

  async read(): Promise<ReadFiles> {
    const texts: Pem = {}
    let unread: string | undefined
    for (const part of ['ca', 'cert', 'key'] as const) {
      const path = this.paths[part]
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
    const invalid = this.#faultOf(isPair ? texts : { ca })
    // Without its authority a certificate is not used either: any authority of the system could vouch for the broker.
    const usable = invalid ? { ca: invalid.part === 'ca' ? undefined : ca } : isPair ? texts : { ca }
    return { usable: new Identity(usable), fault: unread ?? invalid?.text }
  }

  /** A fault of readable files. TLS would ignore a `cert` with an empty `key`. */
  #faultOf(texts: Pem): { part: keyof Pem; text: string } | undefined {
    for (const part of ['ca', 'cert'] as const)
      try {
        const pem = texts[part]
        if (pem !== undefined) requireCertificate(pem, this.paths[part] ?? '')
      } catch (error) {
        return { part, text: messageOf(error) }
      }
    const { cert, key } = texts
    if (cert === undefined || key === undefined) return undefined
    try {
      if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined
      return { part: 'key', text: `the key ${this.paths.key} does not belong to the certificate ${this.paths.cert}` }
    } catch (error) {
      const text = `${this.paths.key} is not a PEM private key without a passphrase: ${messageOf(error)}`
      return { part: 'key', text }
    }
  }

  async #warnOfReaders(path: string): Promise<void> {
    if (((await disk.stat(path)).mode & 0o077) === 0 || this.#warned === path) return
    this.#warned = path
    this.#log.warn(`other users can read the key ${path}: it is used all the same; chmod 600 it`)
  }
}
