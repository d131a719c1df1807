import { RtcmVerifier } from 'rtk-base/gnss'
import type { FleetMessage } from 'rtk-base/services'

/** A certificate with its chain. */
const longestCertificate = 32_768

/** Numbers of publications that were good: a lower one is a replay. */
export interface SignerRow {
  readonly serial: string
  readonly sequence: number
}

/** Which stations sign, and whether a publication is theirs. A station that signed once must go on signing. */
export class Signatures {
  readonly #verifier: RtcmVerifier | undefined
  readonly #signers = new Map<string, number>()
  /** Signers whose number is to be stored. */
  readonly #changed = new Set<string>()
  #hasBegun = false

  /** @param ca PEM of the authorities; `''`: signatures cannot be verified */
  constructor(ca: string, maxAge_s: number, now: () => number) {
    this.#verifier = ca ? new RtcmVerifier({ ca, maxAge_s, now }) : undefined
  }

  /** All that are known, from the database or from the instance before. */
  begin(rows: Iterable<SignerRow>): void {
    this.resume(rows)
    this.#hasBegun = true
  }

  resume(rows: Iterable<SignerRow>): void {
    for (const { serial, sequence } of rows) {
      this.#signers.set(serial, Math.max(sequence, this.#signers.get(serial) ?? 0))
      this.#verifier?.resume(serial, sequence)
    }
  }

  /** Every one that is known. */
  all(): SignerRow[] {
    return [...this.#signers].map(([serial, sequence]) => ({ serial, sequence }))
  }

  /** Signers that changed since the last call. */
  changes(): SignerRow[] {
    const rows = [...this.#changed].map((serial) => ({ serial, sequence: this.#signers.get(serial) ?? 0 }))
    this.#changed.clear()
    return rows
  }

  /** Signers that could not be stored count as changed again. */
  changedAgain(rows: readonly SignerRow[]): void {
    for (const { serial } of rows) this.#changed.add(serial)
  }

  /** Until the signers are read, any station may be one: to take an unsigned publication would be to believe without evidence. */
  mustSign(serial: string): boolean {
    return this.#signers.has(serial) || (this.verifies && !this.#hasBegun)
  }

  certificate(serial: string, { payload }: FleetMessage): string | undefined {
    // Without signatures the retained certificate is deleted by an empty payload.
    if (payload.length === 0 || !this.#verifier) return undefined
    if (payload.length > longestCertificate) return 'it is too long'
    return this.#verifier.certificate(serial, payload.toString('latin1'))
  }

  /** @returns why the publication is not relayed; undefined: it is the station's own, and new */
  judge(serial: string, payload: Uint8Array, signature: Readonly<Record<string, unknown>> | undefined) {
    if (!this.#verifier) return { why: 'no-authority', text: 'the option authorities is not set' }
    const {
      ok,
      why,
      text,
      sequence = 0,
    } = this.#verifier.publication(serial, `base/${serial}/drtk`, payload, signature)
    if (!ok) return { why, text }
    this.#signers.set(serial, sequence)
    this.#changed.add(serial)
    return undefined
  }

  get verifies(): boolean {
    return this.#verifier !== undefined
  }
}
