// Verifies signed RTCM publications. No I/O: rover software can use it unchanged.
import { verify, X509Certificate } from 'node:crypto'

/** Digest by `sig-alg`; Ed25519 has its own. */
const digests = { 'ECDSA-SHA256': 'sha256', 'ECDSA-SHA384': 'sha384', 'RSA-SHA256': 'sha256', Ed25519: null }
const keyTypes = { 'ECDSA-SHA256': 'ec', 'ECDSA-SHA384': 'ec', 'RSA-SHA256': 'rsa', Ed25519: 'ed25519' }

/** The signed bytes of a publication: topic, 0x00, sequence and time as unsigned 64 bit big-endian, payload. */
export function signedBytes(topic, sequence, time_ms, payload) {
  const numbers = Buffer.alloc(16)
  numbers.writeBigUInt64BE(BigInt(sequence), 0)
  numbers.writeBigUInt64BE(BigInt(time_ms), 8)
  return Buffer.concat([Buffer.from(topic, 'utf8'), Buffer.from([0]), numbers, payload])
}

/** The certificates of a PEM text, in order. */
const certificates = (pem) =>
  (pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  )

/** Why a certificate (with its intermediates behind it) cannot be trusted to be that of station `serial`; undefined: it can. */
export function whyNotTrusted(serial, chain, authorities, now_ms) {
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
    const issued = (by) => by.ca && current.checkIssued(by) && current.verify(by.publicKey)
    const anchor = authorities.find(issued)
    if (anchor !== undefined) return now_ms > Date.parse(anchor.validTo) ? 'its authority has ended' : undefined
    const next = left.find(issued)
    if (next === undefined) return 'no authority that is trusted issued it'
    left = left.filter((one) => one !== next)
    current = next
  }
}

/** The common name and the DNS names. */
function namesOf(certificate) {
  const names = /^CN=(.+)$/m.exec(certificate.subject)?.slice(1) ?? []
  for (const name of certificate.subjectAltName?.split(', ') ?? [])
    if (name.startsWith('DNS:')) names.push(name.slice(4))
  return names
}

export class Verifier {
  #authorities
  #now
  #maxAge_ms
  /** By station: its trusted certificate, and the newest publication that was good. */
  #stations = new Map()

  /** @param ca PEM of the authorities that are trusted, @param maxAge_s older publications are refused, @param now UTC in ms */
  constructor({ ca, maxAge_s = 30, now = Date.now }) {
    this.#authorities = certificates(ca)
    if (this.#authorities.length === 0) throw new Error('a CA certificate is required')
    this.#maxAge_ms = maxAge_s * 1000
    this.#now = now
  }

  /** A message on `base/{SN}/drtk/cert`. Returns why it is not taken; undefined: it is. */
  certificate(serial, pem) {
    let chain
    try {
      chain = certificates(pem)
    } catch (error) {
      return `it cannot be read: ${error.message}`
    }
    const why = whyNotTrusted(serial, chain, this.#authorities, this.#now())
    if (why === undefined) this.#station(serial).chain = chain
    return why
  }

  /**
   * A publication on `base/{SN}/drtk` with its signature: an object with `sig-alg`, `sig`, `sig-cert`, `sig-seq`, `sig-time`.
   * Use the payload only with `ok`. `gap`: count of missing sequence numbers before it, over `silent_s` seconds (if the station
   * knew both times).
   * @returns {{ ok: boolean, why: 'good'|'unsigned'|'no-certificate'|'forged'|'replayed'|'stale', text: string, sequence?: number, gap?: number, silent_s?: number }}
   */
  publication(serial, topic, payload, signature) {
    const refused = (why, text) => ({ ok: false, why, text })
    const fields = ['sig-alg', 'sig', 'sig-cert', 'sig-seq', 'sig-time'].map((name) => signature?.[name])
    if (fields.every((field) => field === undefined)) return refused('unsigned', 'it has no signature')
    const [algorithm, sig, certificate, sequenceText, timeText] = fields
    const number = /^\d{1,16}$/
    if (fields.some((field) => typeof field !== 'string') || !number.test(sequenceText) || !number.test(timeText))
      return refused('forged', 'the signature is incomplete')
    const station = this.#station(serial)
    const [leaf] = station.chain
    if (leaf?.serialNumber !== certificate)
      return refused('no-certificate', `certificate ${certificate} is not known, or not trusted`)
    const untrusted = whyNotTrusted(serial, station.chain, this.#authorities, this.#now())
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

  #station(serial) {
    const known = this.#stations.get(serial) ?? { chain: [], last: undefined }
    this.#stations.set(serial, known)
    return known
  }
}
