/** Enrolment over secure transport. Loaded when a certificate is renewed, which is once in months. */
import { Agent, type Dispatcher, request } from 'undici'
import type { Identity } from './certificate.js'

const limit_ms = 20_000
const largestAnswer = 262_144

/** The server accepted the request, but a person has to approve it. */
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
 * and returns DER: a PKCS #10 request and a certs-only PKCS #7. Rejects with the cause.
 */
export async function reEnrol({ url, ca }: EstOptions, { cert, key }: Identity, pkcs10: Uint8Array): Promise<Buffer> {
  const tls = new Agent({ connect: { ca, cert, key }, maxResponseSize: largestAnswer })
  try {
    const { statusCode, headers, body } = await post(`${url.replace(/\/+$/, '')}/simplereenroll`, tls, pkcs10)
    const answer = await body.text()
    const type = String(headers['content-type'] ?? 'no type')
    if (statusCode === 202) throw new NotYet(retryAfter_s(headers))
    if (statusCode !== 200) throw new Error(`the server answered ${statusCode}: ${oneLine(answer)}`)
    if (!/^application\/pkcs7-mime\b/i.test(type))
      throw new Error(`the server answered with ${oneLine(type)} instead of application/pkcs7-mime`)
    return Buffer.from(answer, 'base64')
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    throw new Error(`no answer from ${url} within ${limit_ms / 1000} s`)
  } finally {
    await tls.destroy()
  }
}

/** Redirects are not followed: the request belongs to this server alone. */
function post(url: string, dispatcher: Dispatcher, pkcs10: Uint8Array): Promise<Dispatcher.ResponseData> {
  return request(url, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/pkcs10', 'content-transfer-encoding': 'base64' },
    body: Buffer.from(pkcs10).toString('base64'),
    signal: AbortSignal.timeout(limit_ms),
  })
}

/**
 * Seconds or a date (RFC 9110, section 10.2.3); an hour when neither is readable. A date counts from that of the answer: the clock of
 * a station may not be set.
 */
export function retryAfter_s(headers: Dispatcher.ResponseData['headers']): number {
  const value = String(headers['retry-after'])
  if (/^\d+$/.test(value)) return Number(value)
  const wait_ms = Date.parse(value) - Date.parse(String(headers.date))
  return Number.isNaN(wait_ms) ? 3_600 : Math.max(1, Math.round(wait_ms / 1000))
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)
