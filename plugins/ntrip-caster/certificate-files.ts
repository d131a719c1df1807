import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'

/** Rovers do not say that they are refused: whoever renews the certificate is told so long before its end. */
const warned_ms = 14 * 86_400_000

/** A certificate and its key in files that somebody else renews. */
export class CertificateFiles {
  readonly #paths: { readonly cert: string; readonly key: string }
  #seen = ''
  #until_ms = Number.POSITIVE_INFINITY

  constructor(paths: { readonly cert: string; readonly key: string }) {
    this.#paths = paths
  }

  /** @throws what the file system says, or that it is no certificate */
  read(): { cert: string; key: string } {
    this.#seen = this.#state()
    const { cert, key } = this.#paths
    const texts = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    this.#until_ms = Date.parse(new X509Certificate(texts.cert).validTo)
    return texts
  }

  /** They are others than those that were read last. @throws what the file system says */
  changed(): boolean {
    return this.#state() !== this.#seen
  }

  /** What has to be done about it, '' nothing. @param utc_ms 0: the time is not known */
  trouble(utc_ms: number): string {
    if (utc_ms === 0 || utc_ms < this.#until_ms - warned_ms) return ''
    const until = new Date(this.#until_ms).toISOString().slice(0, 10)
    return utc_ms < this.#until_ms
      ? `the certificate for rovers ends on ${until}: renew ${this.#paths.cert}`
      : `the certificate for rovers ended on ${until}, and rovers that use TLS are refused: renew ${this.#paths.cert}`
  }

  #state(): string {
    return [this.#paths.cert, this.#paths.key]
      .map((path) => statSync(path))
      .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
      .join()
  }
}
