import { type CertificateInfo, certificateInfo, noCertificate } from './certificate.js'

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
