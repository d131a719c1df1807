import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface IdentityFile {
  cert: string
  key: string
}

/** A certificate authority in a folder, made with the openssl program: nothing of the project's own is in it. */
export interface Authority {
  /** PEM file of its certificate. */
  readonly ca: string
  /** Issues a certificate and a new key. `days` may be negative: it has ended then. */
  issue(name: string, subject: string, extension: string, days?: number): IdentityFile
  /** Signs a request (PKCS #10, DER) for the subject and the alternative names in it, or for another subject. Returns the file of the certificate. */
  sign(name: string, request: Uint8Array, days?: number, subject?: string): string
}

export function openssl(...args: string[]): Buffer {
  return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] })
}

const p256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export function createAuthority(folder: string, name = 'test authority'): Authority {
  mkdirSync(folder, { recursive: true })
  const file = (part: string) => join(folder, part)
  openssl(
    'req',
    '-x509',
    ...p256,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
    '-days',
    '30',
    '-subj',
    `/CN=${name}`,
  )
  const certify = (part: string, request: readonly string[], days: number) => {
    const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', String(days)]
    openssl('x509', '-req', ...request, ...signer, '-out', file(`${part}.pem`))
    return file(`${part}.pem`)
  }
  return {
    ca: file('ca.pem'),
    issue(part, subject, extension, days = 30) {
      writeFileSync(file(`${part}.ext`), extension)
      openssl('req', ...p256, '-keyout', file(`${part}.key`), '-out', file(`${part}.csr`), '-subj', subject)
      chmodSync(file(`${part}.key`), 0o600)
      const cert = certify(part, ['-in', file(`${part}.csr`), '-extfile', file(`${part}.ext`)], days)
      return { cert, key: file(`${part}.key`) }
    },
    sign(part, request, days = 30, subject = '') {
      writeFileSync(file(`${part}.csr`), request)
      const named = subject === '' ? [] : ['-subj', subject]
      return certify(
        part,
        ['-inform', 'DER', '-in', file(`${part}.csr`), '-copy_extensions', 'copyall', ...named],
        days,
      )
    },
  }
}

/** An authority, a broker's certificate for 127.0.0.1 and localhost, and a station's for {SN}. */
export function createPki(folder: string, serial: string) {
  const authority = createAuthority(folder)
  return {
    ...authority,
    server: authority.issue('server', '/CN=broker', 'subjectAltName=IP:127.0.0.1,DNS:localhost\n'),
    device: authority.issue('device', `/CN=${serial}`, 'extendedKeyUsage=clientAuth\n'),
    observer: authority.issue('observer', '/CN=observer', 'extendedKeyUsage=clientAuth\n'),
  }
}
export type Pki = ReturnType<typeof createPki>
