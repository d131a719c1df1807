import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import type { ErrorValues } from '../../../schemas/services.js'
import { readRecordSync } from './plain-file.js'

/** Clients do not report their rejection, so the warning comes this long before the certificate expires, */
const warned_ms = 30 * 86_400_000
/** but in the last quarter of its life: an authority may issue short ones, which are renewed late. */
const warnedShare = 4

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

  /**
   * Renewal replaces the files without notice: to be called once a minute.
   * @param utc_ms 0: unknown
   * @param renew serves the files, which changed since they were read
   * @returns why a person has to renew them: they are about to expire, or have (`until`, `expired`, `file`), or cannot be read (`reason`)
   */
  look(utc_ms: number, renew: () => void): ErrorValues | undefined {
    // What was never read is reported by whoever listens.
    if (!this.#read) return undefined
    try {
      if (this.#state() !== this.#seen) renew()
    } catch (error) {
      // The next look tries again.
      this.#seen = ''
      return { reason: (error as Error).message }
    }
    const [from_ms, until_ms] = [Date.parse(this.#read.validFrom), Date.parse(this.#read.validTo)]
    if (utc_ms === 0 || utc_ms < until_ms - Math.min(warned_ms, (until_ms - from_ms) / warnedShare)) return undefined
    const until = new Date(until_ms).toISOString().slice(0, 10)
    return { expired: utc_ms >= until_ms, until, file: this.#paths.cert }
  }

  #state(): string {
    return [this.#paths.cert, this.#paths.key]
      .map((path) => statSync(path))
      .map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`)
      .join()
  }
}
