import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { RtcmSignature } from 'rtk-base/schemas'
import type { MqttSignature } from 'rtk-base/services'
import type { Identity } from './certificate.js'

interface Scheme {
  name: RtcmSignature['sig-alg']
  /** Digest; null for Ed25519, which has its own. */
  digest: string | null
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

/** Signs with the private key of an identity. The key is parsed once and never handed out. */
export class Signer {
  readonly identity: Identity
  readonly #key: KeyObject
  readonly #scheme: Scheme

  /** @throws without a key, or if the key cannot sign */
  constructor(identity: Identity) {
    if (identity.key === undefined) throw new Error('the station has no certificate: set mqtt-link.cert and key')
    this.identity = identity
    this.#key = createPrivateKey(identity.key)
    this.#scheme = schemeOf(this.#key)
  }

  /** In the thread pool: an RSA signature takes tens of milliseconds on a small device. */
  sign(data: Uint8Array): Promise<MqttSignature> {
    const { name, digest } = this.#scheme
    return new Promise((resolve, reject) => {
      sign(digest, data, this.#key, (error, signature) => {
        if (error) reject(error)
        else resolve({ algorithm: name, signature, serial: this.identity.info.serial })
      })
    })
  }
}
