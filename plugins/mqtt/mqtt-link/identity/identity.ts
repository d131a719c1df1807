import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto'
import type { RtcmSignature } from 'rtk-base/schemas'
import type { MqttSignature } from 'rtk-base/services'

/** `mqtt.state.cert`: UTC seconds and the serial number in hexadecimal; zero and empty without a certificate. */
export interface CertificateInfo {
  from: number
  until: number
  serial: string
}

export const noCertificate: CertificateInfo = { from: 0, until: 0, serial: '' }

/** Dates and serial number of the station's own certificate: the first one of a PEM file. @throws when it is none */
export function certificateInfo(pem: string): CertificateInfo {
  const { validFrom, validTo, serialNumber } = new X509Certificate(pem)
  return { from: Date.parse(validFrom) / 1000, until: Date.parse(validTo) / 1000, serial: serialNumber }
}

/**
 * TLS ignores an authority file that holds no certificate: then any authority of the system could vouch for the other side.
 * @throws with a text that names the file
 */
export function requireCertificate(pem: string, file: string): void {
  try {
    new X509Certificate(pem)
  } catch (error) {
    throw new Error(`${file} is not a PEM certificate: ${(error as Error).message}`)
  }
}

/** SHA-256 of the station's own certificate. */
export const fingerprint = (pem: string): string => new X509Certificate(pem).fingerprint256

/** PEM texts: the station's certificate followed by its chain, its key, and the authority of the other side. */
export interface Pem {
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
}

/** Certificate, key and authority of the station. The key goes to TLS and to the signature, never anywhere else. */
export class Identity {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  readonly info: CertificateInfo
  #signing: { key: KeyObject; scheme: Scheme } | undefined

  /** @throws when `cert` is not a certificate */
  constructor({ ca, cert, key }: Pem) {
    this.ca = ca
    this.cert = cert
    this.key = key
    this.info = cert === undefined ? noCertificate : certificateInfo(cert)
  }

  /**
   * In the thread pool: an RSA signature takes tens of milliseconds on a small device. The key is parsed once.
   * Rejects without a key, or if the key cannot sign.
   */
  async sign(data: Uint8Array): Promise<MqttSignature> {
    this.#signing ??= signingKey(this.key)
    const { key, scheme } = this.#signing
    return new Promise((resolve, reject) => {
      sign(scheme.digest, data, key, (error, signature) => {
        if (error) reject(error)
        else resolve({ algorithm: scheme.name, signature, serial: this.info.serial })
      })
    })
  }
}

interface Scheme {
  name: RtcmSignature['sig-alg']
  /** Digest; null for Ed25519, which has its own. */
  digest: string | null
}

function signingKey(pem: string | undefined): { key: KeyObject; scheme: Scheme } {
  if (pem === undefined) throw new Error('the station has no certificate: set mqtt-link.cert and key')
  const key = createPrivateKey(pem)
  return { key, scheme: schemeOf(key) }
}

/** The signature scheme of a key, in the form that `openssl dgst -verify` reads. */
function schemeOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Scheme {
  if (type === 'rsa') return { name: 'RSA-SHA256', digest: 'sha256' }
  if (type === 'ed25519') return { name: 'Ed25519', digest: null }
  if (type !== 'ec') throw new Error(`a key of type ${type} cannot sign`)
  return details?.namedCurve === 'secp384r1'
    ? { name: 'ECDSA-SHA384', digest: 'sha384' }
    : { name: 'ECDSA-SHA256', digest: 'sha256' }
}
