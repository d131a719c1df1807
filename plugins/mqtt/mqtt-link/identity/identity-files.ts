import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import { disk, readRecord } from 'rtk-base/files'
import { type Identity, identityOf, requireCertificate } from './certificate.js'

export interface IdentityPaths {
  /** PEM file of the authority that signed the broker's certificate; the system's authorities when left out. */
  ca?: string | undefined
  /** PEM files of the station's own certificate (and its chain) and key. */
  cert?: string | undefined
  key?: string | undefined
}

interface Fault {
  part: keyof IdentityPaths
  text: string
}

const messageOf = (error: unknown) => (error as Error).message

/** The identity in the PEM files that a person put there. The files are read again for each attempt. */
export class IdentityFiles {
  readonly paths: IdentityPaths
  readonly #log: Pick<Logger, 'warn'>
  #warned = ''

  constructor(paths: IdentityPaths, log: Pick<Logger, 'warn'>) {
    this.paths = paths
    this.#log = log
  }

  /** Rejects with a text that names the file. */
  async read(): Promise<Identity> {
    const read = await this.#texts((part, error) => {
      throw new Error(`the ${part} file cannot be read: ${messageOf(error)}`)
    })
    if ((read.cert === undefined) !== (read.key === undefined)) throw new Error('cert and key go together: set both')
    const fault = this.#faultOf(read)
    if (fault !== undefined) throw new Error(fault.text)
    return identityOf(read.cert, read.key, read.ca)
  }

  /** The usable files, for a stored identity: missing or invalid files are omitted. */
  async readUsable(): Promise<Identity> {
    const { ca, ...own } = await this.#texts(() => {})
    const { cert, key } = own.cert === undefined || own.key === undefined ? {} : own
    const fault = this.#faultOf({ ca, cert, key })
    if (fault === undefined) return identityOf(cert, key, ca)
    return identityOf(undefined, undefined, fault.part === 'ca' ? undefined : ca)
  }

  async #texts(failed: (part: string, error: unknown) => void): Promise<IdentityPaths> {
    const read: IdentityPaths = {}
    for (const part of ['ca', 'cert', 'key'] as const) {
      const path = this.paths[part]
      if (path === undefined || path === '') continue
      try {
        read[part] = await readRecord(path)
        if (part === 'key') await this.#warnOfReaders(path)
      } catch (error) {
        failed(part, error)
      }
    }
    return read
  }

  /** A fault of readable files. TLS would ignore a `cert` with an empty `key`. */
  #faultOf({ ca, cert, key }: IdentityPaths): Fault | undefined {
    for (const [part, pem] of [
      ['ca', ca],
      ['cert', cert],
    ] as const)
      try {
        if (pem !== undefined) requireCertificate(pem, this.paths[part] ?? '')
      } catch (error) {
        return { part, text: messageOf(error) }
      }
    if (cert === undefined || key === undefined) return undefined
    try {
      if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return undefined
      return { part: 'key', text: `the key ${this.paths.key} does not belong to the certificate ${this.paths.cert}` }
    } catch (error) {
      return {
        part: 'key',
        text: `${this.paths.key} is not a PEM private key without a passphrase: ${messageOf(error)}`,
      }
    }
  }

  async #warnOfReaders(path: string): Promise<void> {
    if (((await disk.stat(path)).mode & 0o077) === 0 || this.#warned === path) return
    this.#warned = path
    this.#log.warn(`other users can read the key ${path}: it is used all the same; chmod 600 it`)
  }
}
