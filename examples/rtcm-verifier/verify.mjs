// Verifies signed RTCM publications: the class is part of the package, and needs nothing but it and node:crypto.
export { RtcmVerifier as Verifier, signedBytes, whyNotTrusted } from 'rtk-base/gnss'
