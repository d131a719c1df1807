import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { readRecordSync, type Trouble } from 'rtk-base/plugin'

/** Rovers do not report their rejection, so the warning comes this long before the certificate expires. */
const warned_ms = 14 * 86_400_000

/** A certificate and its key in files that other software renews. */
export class CertificateFiles {
  readonly #paths: { readonly cert: string; readonly key: string }
  #seen = ''
  #until_ms = Number.POSITIVE_INFINITY

  constructor(paths: { readonly cert: string; readonly key: string }) {
    this.#paths = paths
  }

  /** @throws the file system error, or an invalid certificate */
  read(): { cert: string; key: string } {
    this.#seen = this.#state()
    const { cert, key } = this.#paths
    const texts = { cert: readRecordSync(cert), key: readRecordSync(key) }
    this.#until_ms = Date.parse(new X509Certificate(texts.cert).validTo)
    return texts
  }

  /** Whether the files changed since they were read. @throws the file system error */
  changed(): boolean {
    return this.#state() !== this.#seen
  }

  /** Undefined: no action is required. @param utc_ms 0: unknown time */
  trouble(utc_ms: number): Trouble | undefined {
    if (utc_ms === 0 || utc_ms < this.#until_ms - warned_ms) return undefined
    const { cert } = this.#paths
    const until = new Date(this.#until_ms).toISOString().slice(0, 10)
    const expired = utc_ms >= this.#until_ms
    const text = expired
      ? `the certificate for rovers expired on ${until}, and rovers with TLS are rejected: renew ${cert}`
      : `the certificate for rovers expires on ${until}: renew ${cert}`
    return { text, values: { expired, until, file: cert } }
  }

  #state(): string {
    return [this.#paths.cert, this.#paths.key]
      .map((path) => statSync(path))
      .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
      .join()
  }
}
