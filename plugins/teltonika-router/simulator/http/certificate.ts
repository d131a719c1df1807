/** The self-signed certificate that a router makes for itself (RFC 5280; ECDSA P-256 with SHA-256). */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import {
  BitString,
  Constructed,
  fromBER,
  Integer,
  ObjectIdentifier,
  Sequence,
  Set as SetOf,
  UTCTime,
  Utf8String,
} from 'asn1js'

export interface Certificate {
  cert: string
  key: string
  /** SHA-256 of the certificate: hexadecimal, lower case. */
  fingerprint256: string
}

const oids = { commonName: '2.5.4.3', organization: '2.5.4.10', ecdsaWithSha256: '1.2.840.10045.4.3.2' }

const part = (oid: string, value: string) =>
  new SetOf({ value: [new Sequence({ value: [new ObjectIdentifier({ value: oid }), new Utf8String({ value })] })] })
const algorithm = () => new Sequence({ value: [new ObjectIdentifier({ value: oids.ecdsaWithSha256 })] })
const name = (commonName: string) =>
  new Sequence({ value: [part(oids.organization, 'Simulated router'), part(oids.commonName, commonName)] })
const pem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`

export function selfSigned(commonName: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  // The first bit is clear: a serial number is positive.
  const serial = Buffer.concat([Buffer.from([0x2a]), randomBytes(15)])
  const tbs = new Sequence({
    value: [
      new Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [new Integer({ value: 2 })] }),
      new Integer({ valueHex: new Uint8Array(serial) }),
      algorithm(),
      name(commonName),
      new Sequence({
        value: [new UTCTime({ valueDate: new Date('2024-01-01') }), new UTCTime({ valueDate: new Date('2044-01-01') })],
      }),
      name(commonName),
      fromBER(new Uint8Array(spki)).result,
    ],
  })
  const signature = sign('sha256', new Uint8Array(tbs.toBER()), privateKey)
  const whole = new Sequence({
    value: [tbs, algorithm(), new BitString({ valueHex: new Uint8Array(signature) })],
  })
  const der = Buffer.from(whole.toBER())
  return {
    cert: pem(der),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    fingerprint256: createHash('sha256').update(der).digest('hex'),
  }
}
