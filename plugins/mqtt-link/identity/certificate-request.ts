/**
 * Key pairs, certificate requests (PKCS #10, RFC 2986) and answers (certs-only PKCS #7, RFC 5652). Loaded when a certificate is
 * renewed, which is once in months.
 */
import { createPrivateKey, createPublicKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import {
  Attribute,
  Certificate,
  CertificationRequest,
  ContentInfo,
  Extensions,
  id_SubjectAltName,
  SignedData,
} from 'pkijs'
import { toPem } from './certificate.js'

const extensionRequest = '1.2.840.113549.1.9.14'

export interface CertificateRequest {
  /** PKCS #10, DER. */
  request: Buffer
  /** PEM of the new key. */
  key: string
}

type KeyAlgorithm = webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams

/** The kind of the old key, because the authority accepted it. Unusual kinds become P-256. */
function algorithmLike(old: KeyObject): KeyAlgorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = old
  if (type === 'rsa') {
    const modulusLength = Math.min(4_096, Math.max(2_048, details?.modulusLength ?? 2_048))
    return { name: 'RSASSA-PKCS1-v1_5', modulusLength, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
  }
  return { name: 'ECDSA', namedCurve: details?.namedCurve === 'secp384r1' ? 'P-384' : 'P-256' }
}

/** A request with a new key pair for the subject and the alternative names of `oldPem` (RFC 7030, section 4.2.2). */
export async function requestLike(oldPem: string): Promise<CertificateRequest> {
  const old = new X509Certificate(oldPem)
  const keys = (await webcrypto.subtle.generateKey(algorithmLike(old.publicKey), true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair
  const { subject, extensions } = Certificate.fromBER(old.raw)
  const request = new CertificationRequest({ version: 0, subject })
  const names = extensions?.find(({ extnID }) => extnID === id_SubjectAltName)
  const wanted = names && new Extensions({ extensions: [names] }).toSchema()
  request.attributes = wanted ? [new Attribute({ type: extensionRequest, values: [wanted] })] : []
  await request.subjectPublicKeyInfo.importKey(keys.publicKey)
  await request.sign(keys.privateKey, 'SHA-256')
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { request: Buffer.from(request.toSchema(true).toBER()), key: toPem('PRIVATE KEY', new Uint8Array(key)) }
}

/**
 * The certificate for `key` among those of a certs-only PKCS #7 (DER), followed by its intermediates, as PEM.
 * @throws when there is none for that key, or when its subject is not that of `oldPem`
 */
export function issuedFor(key: string, oldPem: string, pkcs7: Uint8Array): string {
  const content = ContentInfo.fromBER(pkcs7)
  const { certificates = [] } = new SignedData({ schema: content.content })
  const all = certificates.map((one) => new X509Certificate(Buffer.from(one.toSchema().toBER())))
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' })
  const own = all.find(({ publicKey }) => publicKey.export({ type: 'spki', format: 'der' }).equals(spki))
  if (own === undefined) throw new Error('the answer has no certificate for the new key')
  const old = new X509Certificate(oldPem)
  if (own.subject !== old.subject)
    throw new Error(`the new certificate is for "${oneLine(own.subject)}" instead of "${oneLine(old.subject)}"`)
  const chain = all.filter((one) => one !== own && one.subject !== one.issuer)
  return [own, ...chain].map(({ raw }) => toPem('CERTIFICATE', raw)).join('')
}

const oneLine = (name: string) => name.replaceAll('\n', ', ')
