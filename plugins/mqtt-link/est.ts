import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Identity } from './identity.js'

const limit_ms = 20_000
const largestAnswer = 262_144

/** The server took the request, but somebody has to approve it. */
export class NotYet extends Error {
  readonly after_s: number
  constructor(after_s: number) {
    super(`the server asks to come back in ${after_s} s`)
    this.after_s = after_s
  }
}

export interface EstOptions {
  /** `https://host[:port]/.well-known/est[/label]` */
  url: string
  /** PEM of the authority of the EST server; the system's when left out. */
  ca?: string | undefined
}

/**
 * Simple re-enrolment (RFC 7030, section 4.2.2) as the holder of `identity`, over mutual TLS with server name check. Takes
 * and returns DER: a PKCS #10 request and a certs-only PKCS #7. Rejects with what went wrong.
 */
export async function reEnrol({ url, ca }: EstOptions, identity: Identity, request: Uint8Array): Promise<Buffer> {
  const body = Buffer.from(request).toString('base64')
  const answer = await post(`${url.replace(/\/+$/, '')}/simplereenroll`, body, {
    ca,
    cert: identity.cert,
    key: identity.key,
  })
  const { statusCode = 0, headers } = answer.message
  if (statusCode === 202) throw new NotYet(retryAfter_s(headers['retry-after']))
  if (statusCode !== 200) throw new Error(`the server answered ${statusCode}: ${oneLine(answer.body)}`)
  if (!/^application\/pkcs7-mime\b/i.test(headers['content-type'] ?? ''))
    throw new Error(
      `the server answered with ${headers['content-type'] ?? 'no type'} instead of application/pkcs7-mime`,
    )
  return Buffer.from(answer.body, 'base64')
}

function post(
  url: string,
  body: string,
  tls: { ca: string | undefined; cert: string | undefined; key: string | undefined },
): Promise<{ message: IncomingMessage; body: string }> {
  const headers = {
    'content-type': 'application/pkcs10',
    'content-transfer-encoding': 'base64',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(limit_ms)
    const sent = httpsRequest(url, { ...tls, method: 'POST', headers, agent: false, signal }, (message) => {
      let text = ''
      message.setEncoding('utf8')
      message.on('data', (chunk: string) => {
        text += chunk
        if (text.length > largestAnswer) message.destroy(new Error('the answer is too large'))
      })
      message.on('error', reject)
      message.on('end', () => resolve({ message, body: text }))
    })
    sent.on('error', (error) =>
      reject(signal.aborted ? new Error(`no answer from ${url} within ${limit_ms / 1000} s`) : error),
    )
    sent.end(body)
  })
}

/** Seconds or a date (RFC 9110, section 10.2.3); an hour when neither is readable. */
function retryAfter_s(value: string | undefined): number {
  if (value !== undefined && /^\d+$/.test(value)) return Number(value)
  const at_ms = Date.parse(value ?? '')
  return Number.isNaN(at_ms) ? 3_600 : Math.max(1, Math.round((at_ms - Date.now()) / 1000))
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)
