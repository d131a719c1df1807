import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { readRecordSync } from './plain-file.js'

/** A certificate and its key in files that other software renews. */
export class CertificateFiles {
  readonly #paths: { readonly cert: string; readonly key: string }
  #seen = ''
  #read: X509Certificate | undefined

  constructor(paths: { readonly cert: string; readonly key: string }) {
    this.#paths = paths
  }

  /** The certificate that was read last. */
  get certificate(): X509Certificate | undefined {
    return this.#read
  }

  /** @throws the file system error, or an invalid certificate */
  read(): { cert: string; key: string } {
    this.#seen = this.#state()
    const { cert, key } = this.#paths
    const texts = { cert: readRecordSync(cert), key: readRecordSync(key) }
    this.#read = new X509Certificate(texts.cert)
    return texts
  }

  /** Whether the files changed since they were read. @throws the file system error */
  changed(): boolean {
    return this.#state() !== this.#seen
  }

  #state(): string {
    return [this.#paths.cert, this.#paths.key]
      .map((path) => statSync(path))
      .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
      .join()
  }
}
