import { X509Certificate } from 'node:crypto'

/** `mqtt.state.cert`: UTC seconds and the serial number in hexadecimal; zero and empty without a certificate. */
export interface CertificateInfo {
  from: number
  until: number
  serial: string
}

export const noCertificate: CertificateInfo = { from: 0, until: 0, serial: '' }

/** Of the station's own certificate: the first one of a PEM file, before its chain. @throws when it is not a certificate */
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

/** RFC 7468 */
export function toPem(label: 'CERTIFICATE' | 'PRIVATE KEY', der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

/** `2026-11-21`, for texts that a person reads. */
export const day = (utc_s: number): string => new Date(utc_s * 1000).toISOString().slice(0, 10)

/** Certificate, key and authority of the station: PEM texts. The key goes to TLS and to the signer, never anywhere else. */
export interface Identity {
  ca?: string
  cert?: string
  key?: string
  info: CertificateInfo
}

/** @throws when `cert` is not a certificate */
export function identityOf(cert: string | undefined, key: string | undefined, ca: string | undefined): Identity {
  const info = cert === undefined ? noCertificate : certificateInfo(cert)
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), info }
}
