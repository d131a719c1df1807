/** Certificate and key of the station: files, protected store, choice, renewal, signatures. */
export { type CertificateInfo, noCertificate } from './certificate.js'
export type { Identity } from './identity.js'
export { IdentityChoice } from './identity-choice.js'
export { IdentityStore } from './identity-store.js'
export { Renewal } from './renewal.js'
export { Signer } from './signer.js'
