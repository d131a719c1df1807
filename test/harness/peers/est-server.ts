import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { type Authority, type IdentityFile, openssl } from './certificates.js'

/** What the server does with the next requests. */
export type EstMode =
  | 'issue'
  /** Takes the request and answers 202: somebody has to approve it. */
  | 'approve'
  | 'approve-at'
  /** Answers 500. */
  | 'broken'
  /** Answers 200 with something that is no PKCS #7. */
  | 'garbage'
  /** Answers 200 with more than any certificate needs. */
  | 'flood'
  /** Issues for another key. */
  | 'other-key'
  /** Issues for another name. */
  | 'other-name'
  /** Issues a certificate that has ended. */
  | 'expired'
  /** Issues from an authority that the broker does not know. */
  | 'other-authority'
  /** Ends the connection without an answer. */
  | 'hang-up'

export interface EstServer {
  readonly url: string
  mode: EstMode
  /** Of each request: path, subject of the client's certificate, what openssl says of the request. */
  readonly requests: { path: string; client: string; request: Buffer; subject: string; verified: boolean }[]
  close(): void
}

/**
 * A small EST server (RFC 7030) on loopback: simple re-enrolment over TLS that wants a client certificate. Certificates are
 * checked, issued and wrapped by the openssl program.
 */
export async function startEstServer(
  folder: string,
  authority: Authority,
  identity: IdentityFile,
  other: Authority,
): Promise<EstServer> {
  const requests: EstServer['requests'] = []
  let issued = 0
  const issue = (mode: EstMode, request: Buffer): Buffer => {
    const name = `issued-${++issued}`
    const by = mode === 'other-authority' ? other : authority
    const days = mode === 'expired' ? -1 : 30
    const cert =
      mode === 'other-key'
        ? by.issue(name, subjectOf(folder, request), '').cert
        : by.sign(name, request, days, mode === 'other-name' ? '/CN=somebody' : '')
    return openssl('crl2pkcs7', '-nocrl', '-certfile', cert, '-certfile', by.ca, '-outform', 'DER')
  }
  const server = createServer(
    {
      ca: readFileSync(authority.ca),
      cert: readFileSync(identity.cert),
      key: readFileSync(identity.key),
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { mode } = est
        const der = Buffer.from(Buffer.concat(chunks).toString(), 'base64')
        const client = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? ''
        const subject = subjectOf(folder, der)
        requests.push({
          path: request.url ?? '',
          client: String(client),
          request: der,
          subject,
          verified: verify(folder, der),
        })
        if (mode === 'hang-up') return void request.socket.destroy()
        if (mode === 'broken') return void response.writeHead(500).end('no HSM today')
        if (mode === 'approve') return void response.writeHead(202, { 'retry-after': '120' }).end()
        // Decades away from the clock of whoever asks.
        if (mode === 'approve-at') {
          const dates = { date: 'Thu, 01 Jan 2071 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2071 00:03:00 GMT' }
          return void response.writeHead(202, dates).end()
        }
        const useless: Partial<Record<EstMode, Buffer>> = {
          garbage: Buffer.from('nonsense'),
          flood: Buffer.alloc(1_000_000),
        }
        const body = useless[mode] ?? issue(mode, der)
        response.writeHead(200, {
          'content-type': 'application/pkcs7-mime; smime-type=certs-only',
          'content-transfer-encoding': 'base64',
        })
        response.end(body.toString('base64').replaceAll(/(.{64})/g, '$1\r\n'))
      })
    },
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const est: EstServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/est`,
    mode: 'issue',
    requests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return est
}

function requestFile(folder: string, request: Buffer): string {
  const file = join(folder, 'request.der')
  writeFileSync(file, request)
  return file
}

/** `/CN=…`, as `openssl req -subj` takes it. */
function subjectOf(folder: string, request: Buffer): string {
  const args = [
    'req',
    '-inform',
    'DER',
    '-in',
    requestFile(folder, request),
    '-noout',
    '-subject',
    '-nameopt',
    'compat',
  ]
  return openssl(...args)
    .toString()
    .replace(/^subject=/, '')
    .trim()
}

/** Whether the request is signed with its own key. */
function verify(folder: string, request: Buffer): boolean {
  try {
    openssl('req', '-inform', 'DER', '-in', requestFile(folder, request), '-noout', '-verify')
    return true
  } catch {
    return false
  }
}
