/** Signed publications of RTCM, as the plugin mqtt-rtcm makes them: the signed bytes, and their verification. No I/O. */
import { verify, X509Certificate } from 'node:crypto'

/** Digest by `sig-alg`; Ed25519 has its own. */
const digests: Readonly<Record<string, string | null>> = {
  'ECDSA-SHA256': 'sha256',
  'ECDSA-SHA384': 'sha384',
  'RSA-SHA256': 'sha256',
  Ed25519: null,
}
const keyTypes: Readonly<Record<string, string>> = {
  'ECDSA-SHA256': 'ec',
  'ECDSA-SHA384': 'ec',
  'RSA-SHA256': 'rsa',
  Ed25519: 'ed25519',
}
/** A certificate with this many behind it is none of a station. */
const mostCertificates = 8

/**
 * The bytes that a signature covers: topic in UTF-8, 0x00, sequence and time (UTC, ms) as unsigned 64 bit big-endian,
 * payload. So the topic, the sequence number and the time of a publication cannot be changed.
 */
export function signedBytes(topic: string, sequence: number, time_ms: number, payload: Uint8Array): Buffer {
  const numbers = Buffer.alloc(16)
  numbers.writeBigUInt64BE(BigInt(sequence), 0)
  numbers.writeBigUInt64BE(BigInt(time_ms), 8)
  return Buffer.concat([Buffer.from(topic, 'utf8'), Buffer.from([0]), numbers, payload])
}

/** The certificates of a PEM text, in order. @throws if one cannot be read */
function certificatesOf(pem: string): X509Certificate[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return found.map((one) => new X509Certificate(one))
}

/**
 * Why the first certificate of `chain` (the others are its intermediates) is not trusted as that of station `serial`;
 * undefined: it is trusted.
 */
export function whyNotTrusted(
  serial: string,
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now_ms: number,
): string | undefined {
  const [leaf, ...others] = chain
  if (leaf === undefined) return 'it is not a certificate'
  if (!namesOf(leaf).includes(serial)) return `it is for ${namesOf(leaf).join(', ') || 'nobody'}`
  let current = leaf
  // Each step takes an intermediate away, so that a circle ends.
  for (let left = others; ; ) {
    const from = Date.parse(current.validFrom)
    const to = Date.parse(current.validTo)
    if (now_ms < from || now_ms > to)
      return `${current.subject.replaceAll('\n', ', ')} is valid from ${current.validFrom} to ${current.validTo}`
    const issued = (by: X509Certificate) => by.ca && current.checkIssued(by) && current.verify(by.publicKey)
    const anchor = authorities.find(issued)
    if (anchor !== undefined) return now_ms > Date.parse(anchor.validTo) ? 'its authority has ended' : undefined
    const next = left.find(issued)
    if (next === undefined) return 'no authority that is trusted issued it'
    left = left.filter((one) => one !== next)
    current = next
  }
}

/** The common name and the DNS names. */
function namesOf(certificate: X509Certificate): string[] {
  const names = /^CN=(.+)$/m.exec(certificate.subject)?.slice(1) ?? []
  for (const name of certificate.subjectAltName?.split(', ') ?? [])
    if (name.startsWith('DNS:')) names.push(name.slice(4))
  return names
}

/** Use the payload only with `ok`. */
export interface PublicationVerdict {
  readonly ok: boolean
  readonly why: 'good' | 'unsigned' | 'no-certificate' | 'forged' | 'replayed' | 'stale'
  /** For people. */
  readonly text: string
  /** With `ok` only. */
  readonly sequence?: number
  /** Sequence numbers that are missing before it. */
  readonly gap?: number
  /** Seconds since the last good publication, if the station knew the time at both. */
  readonly silent_s?: number | undefined
}

interface Signer {
  chain: X509Certificate[]
  /** The chain was found to be trusted at that time. */
  trusted_ms: number
  last: { readonly sequence: number; readonly time_ms: number } | undefined
}

/** A chain is verified again after this long: that costs as much as ten publications. */
const trusted_ms = 60_000

/** Verifies that publications were signed by the station. */
export class RtcmVerifier {
  readonly #authorities: readonly X509Certificate[]
  readonly #now: () => number
  readonly #maxAge_ms: number
  /** By station: its trusted certificate, and the newest publication that was good. Nobody else has an entry: any client of a broker may publish under any name. */
  readonly #stations = new Map<string, Signer>()

  /**
   * @param ca PEM of the trusted CAs
   * @param maxAge_s older publications are refused
   * @param now UTC in ms
   * @throws if `ca` has no certificate
   */
  constructor({ ca, maxAge_s = 30, now = Date.now }: { ca: string; maxAge_s?: number; now?: () => number }) {
    this.#authorities = certificatesOf(ca)
    if (this.#authorities.length === 0) throw new Error('a CA certificate is required')
    this.#maxAge_ms = maxAge_s * 1000
    this.#now = now
  }

  /** Takes a message from `base/{SN}/drtk/cert`. @returns why the certificate is refused; undefined: it is accepted */
  certificate(serial: string, pem: string): string | undefined {
    let chain: X509Certificate[]
    try {
      chain = certificatesOf(pem)
    } catch (error) {
      return `it cannot be read: ${(error as Error).message}`
    }
    if (chain.length > mostCertificates) return `it has more than ${mostCertificates} certificates`
    const now_ms = this.#now()
    const why = whyNotTrusted(serial, chain, this.#authorities, now_ms)
    if (why === undefined)
      this.#stations.set(serial, { chain, trusted_ms: now_ms, last: this.#stations.get(serial)?.last })
    return why
  }

  /** Number of the newest good publication; undefined: none yet. */
  sequence(serial: string): number | undefined {
    return this.#stations.get(serial)?.last?.sequence
  }

  /** Continues after a restart: only higher sequence numbers are accepted. */
  resume(serial: string, sequence: number): void {
    const station = this.#stations.get(serial) ?? { chain: [], trusted_ms: Number.NEGATIVE_INFINITY, last: undefined }
    this.#stations.set(serial, station)
    if (sequence > (station.last?.sequence ?? -1)) station.last = { sequence, time_ms: 0 }
  }

  /**
   * Verifies a publication on `base/{SN}/drtk`. @param signature an object with `sig-alg`, `sig`, `sig-cert`,
   * `sig-seq`, `sig-time`, all strings.
   */
  publication(
    serial: string,
    topic: string,
    payload: Uint8Array,
    signature: Readonly<Record<string, unknown>> | undefined,
  ): PublicationVerdict {
    const refused = (why: PublicationVerdict['why'], text: string) => ({ ok: false, why, text })
    const fields = ['sig-alg', 'sig', 'sig-cert', 'sig-seq', 'sig-time'].map((name) => signature?.[name])
    if (fields.every((field) => field === undefined)) return refused('unsigned', 'it has no signature')
    const number = /^\d{1,16}$/
    if (!fields.every((field) => typeof field === 'string')) return refused('forged', 'the signature is incomplete')
    const [algorithm = '', sig = '', certificate, sequenceText = '', timeText = ''] = fields as string[]
    if (!number.test(sequenceText) || !number.test(timeText)) return refused('forged', 'the signature is incomplete')
    const station = this.#stations.get(serial)
    const [leaf] = station?.chain ?? []
    if (!station || leaf?.serialNumber !== certificate)
      return refused('no-certificate', `certificate ${certificate} is not known, or not trusted`)
    const untrusted = this.#whyNotTrusted(serial, station)
    if (untrusted !== undefined) return refused('no-certificate', untrusted)
    if (topic !== `base/${serial}/drtk`) return refused('forged', `${topic} is not the topic of ${serial}`)
    if (!Object.hasOwn(digests, algorithm) || leaf.publicKey.asymmetricKeyType !== keyTypes[algorithm])
      return refused('forged', `${algorithm} does not fit the certificate`)
    const [sequence, time_ms] = [Number(sequenceText), Number(timeText)]
    const data = signedBytes(topic, sequence, time_ms, payload)
    if (!verify(digests[algorithm], data, leaf.publicKey, Buffer.from(sig, 'base64')))
      return refused('forged', 'the signature is not of this payload, topic, sequence and time')
    const { last } = station
    if (last !== undefined && sequence <= last.sequence)
      return refused('replayed', `number ${sequence} after ${last.sequence}`)
    const age_ms = this.#now() - time_ms
    if (time_ms !== 0 && Math.abs(age_ms) > this.#maxAge_ms)
      return refused('stale', `it is ${(age_ms / 1000).toFixed(1)} s old`)
    station.last = { sequence, time_ms }
    const gap = last === undefined ? 0 : sequence - last.sequence - 1
    const silent_s = last?.time_ms && time_ms ? (time_ms - last.time_ms) / 1000 : undefined
    return { ok: true, why: 'good', text: gap > 0 ? `${gap} numbers are missing` : '', sequence, gap, silent_s }
  }

  #whyNotTrusted(serial: string, station: Signer): string | undefined {
    const now_ms = this.#now()
    if (Math.abs(now_ms - station.trusted_ms) < trusted_ms) return undefined
    const why = whyNotTrusted(serial, station.chain, this.#authorities, now_ms)
    if (why === undefined) station.trusted_ms = now_ms
    return why
  }
}
