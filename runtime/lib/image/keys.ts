import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { messageOf, RtkError } from '../../errors.js'

/** Names a key in manifests and messages: the first 16 hexadecimal digits of the SHA-256 of its public part (SPKI, DER). */
export function keyId(key: KeyObject): string {
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(spki).digest('hex').slice(0, 16)
}

/** A new Ed25519 pair as PEM: PKCS #8 and SPKI. */
export function generateKeys(): { privatePem: string; publicPem: string; id: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    id: keyId(publicKey),
  }
}

/** Reads a private Ed25519 key. @throws RTK_ERR_USAGE: not PEM, or not an Ed25519 key */
export const readPrivateKey = (pem: string): KeyObject => read(pem, createPrivateKey, 'private')
/**
 * Reads a public Ed25519 key.
 * @throws RTK_ERR_USAGE: not PEM, or not an Ed25519 key
 */
export const readPublicKey = (pem: string): KeyObject => read(pem, createPublicKey, 'public')

function read(pem: string, create: (pem: string) => KeyObject, kind: string): KeyObject {
  let key: KeyObject
  try {
    key = create(pem)
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `not a ${kind} key in PEM form: ${messageOf(error)}`, { cause: error })
  }
  if (key.asymmetricKeyType === 'ed25519') return key
  throw new RtkError('RTK_ERR_USAGE', `the ${kind} key is ${key.asymmetricKeyType}: images are signed with Ed25519`)
}
