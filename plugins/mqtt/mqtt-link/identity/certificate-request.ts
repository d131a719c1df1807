/**
 * Key pairs, certificate requests (PKCS #10, RFC 2986) and answers (certs-only PKCS #7, RFC 5652). Loaded when a certificate is
 * renewed, which is once in months.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import {
  type BaseBlock,
  BitString,
  Constructed,
  fromBER,
  Integer,
  Null,
  ObjectIdentifier,
  Sequence,
  Set as SetOf,
} from 'asn1js'

const oids = {
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAltName: '2.5.29.17',
  signedData: '1.2.840.113549.1.7.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  sha256WithRsa: '1.2.840.113549.1.1.11',
}

export interface CertificateRequest {
  /** PKCS #10, DER. */
  request: Buffer
  /** PEM of the new key. */
  key: string
}

/** @throws where these bytes are not DER, or something follows */
function parsed(der: Uint8Array, what: string): BaseBlock {
  const { offset, result } = fromBER(der)
  if (offset !== der.byteLength) throw new Error(`${what} is not DER: ${result.error || 'something follows it'}`)
  return result
}

/** The members of a sequence, a set or an explicit tag; none of anything else. */
const membersOf = (block: BaseBlock | undefined): BaseBlock[] =>
  block instanceof Sequence || block instanceof SetOf || block instanceof Constructed ? block.valueBlock.value : []
const isOid = (block: BaseBlock | undefined, oid: string): boolean =>
  block instanceof ObjectIdentifier && block.valueBlock.toString() === oid
/** The member with a context-specific tag. */
const tagged = (members: readonly BaseBlock[], tag: number): BaseBlock | undefined =>
  members.find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === tag)

/** Subject and alternative names of a certificate (RFC 5280, section 4.1). */
function namesOf(certificate: X509Certificate): { subject: BaseBlock; alternative: BaseBlock | undefined } {
  const [tbs] = membersOf(parsed(certificate.raw, 'the certificate'))
  const fields = membersOf(tbs)
  // Serial number, signature, issuer, validity and subject follow the version, which is tagged and may be left out.
  const subject = fields[tagged(fields, 0) ? 5 : 4]
  if (!subject) throw new Error('the certificate has no subject')
  const [extensions] = membersOf(tagged(fields, 3))
  const alternative = membersOf(extensions).find((one) => isOid(membersOf(one)[0], oids.subjectAltName))
  return { subject, alternative }
}

/** A key of the kind of the old one, because the authority accepted it. Unusual kinds become P-256. */
async function keyLike({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Promise<KeyObject> {
  const generate = promisify(generateKeyPair)
  if (type === 'rsa') {
    const modulusLength = Math.min(4_096, Math.max(2_048, details?.modulusLength ?? 2_048))
    return (await generate('rsa', { modulusLength })).privateKey
  }
  const namedCurve = details?.namedCurve === 'secp384r1' ? 'secp384r1' : 'prime256v1'
  return (await generate('ec', { namedCurve })).privateKey
}

/** A request with a new key pair for the subject and the alternative names of `oldPem` (RFC 7030, section 4.2.2). */
export async function requestLike(oldPem: string): Promise<CertificateRequest> {
  const old = new X509Certificate(oldPem)
  const { subject, alternative } = namesOf(old)
  const key = await keyLike(old.publicKey)
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const extensions = alternative && new Sequence({ value: [alternative] })
  const attributes = extensions
    ? [
        new Sequence({
          value: [new ObjectIdentifier({ value: oids.extensionRequest }), new SetOf({ value: [extensions] })],
        }),
      ]
    : []
  const info = new Sequence({
    value: [
      new Integer({ value: 0 }),
      subject,
      parsed(publicKey, 'the new key'),
      new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: attributes }),
    ],
  })
  const isRsa = key.asymmetricKeyType === 'rsa'
  const algorithm = new ObjectIdentifier({ value: isRsa ? oids.sha256WithRsa : oids.ecdsaWithSha256 })
  const signature = sign('sha256', Buffer.from(info.toBER()), key)
  const request = new Sequence({
    value: [
      info,
      new Sequence({ value: isRsa ? [algorithm, new Null()] : [algorithm] }),
      new BitString({ valueHex: new Uint8Array(signature).buffer }),
    ],
  })
  return { request: Buffer.from(request.toBER()), key: key.export({ type: 'pkcs8', format: 'pem' }) as string }
}

/** The certificates of a certs-only PKCS #7 message, in its order. */
function certificatesIn(pkcs7: Uint8Array): X509Certificate[] {
  const [type, content] = membersOf(parsed(pkcs7, 'the answer'))
  if (!isOid(type, oids.signedData)) throw new Error('the answer is not a PKCS #7 message with certificates')
  const [signedData] = membersOf(content)
  return membersOf(tagged(membersOf(signedData), 0))
    .filter((one) => one instanceof Sequence)
    .map((one) => new X509Certificate(one.valueBeforeDecodeView))
}

/**
 * The certificate for `key` among those of a certs-only PKCS #7 (DER), followed by its intermediates, as PEM.
 * @throws when there is none for that key, or when its subject is not that of `oldPem`
 */
export function issuedFor(key: string, oldPem: string, pkcs7: Uint8Array): string {
  const all = certificatesIn(pkcs7)
  const spki = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' })
  const own = all.find(({ publicKey }) => publicKey.export({ type: 'spki', format: 'der' }).equals(spki))
  if (own === undefined) throw new Error('the answer has no certificate for the new key')
  const old = new X509Certificate(oldPem)
  if (own.subject !== old.subject)
    throw new Error(`the new certificate is for "${oneLine(own.subject)}" instead of "${oneLine(old.subject)}"`)
  const chain = all.filter((one) => one !== own && one.subject !== one.issuer)
  return [own, ...chain].map(({ raw }) => toPem(raw)).join('')
}

const oneLine = (name: string) => name.replaceAll('\n', ', ')

/** The text form of a certificate (RFC 7468). */
function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
