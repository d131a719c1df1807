/** Enrolment over secure transport. */
import { deliver, type Fetch } from 'rtk-base/plugin'

const limit_ms = 20_000
const largestAnswer = 262_144
const unreadable_ms = 3_600_000
const mostAsked_ms = 86_400_000
/** The server accepted the request, but a person has to approve it. */
export const notYet = 202

export interface EstOptions {
  /** `https://host[:port]/.well-known/est[/label]` */
  url: string
  /** PEM of the authority of the EST server; the system's when left out. */
  ca?: string | undefined
}

/**
 * Simple re-enrolment (RFC 7030, section 4.2.2) as the holder of `client`, over mutual TLS with server name check. Takes
 * and returns DER: a PKCS #10 request and a certs-only PKCS #7. Redirects are not followed: the request belongs to this server alone.
 * @throws Undelivered
 */
export async function reEnrol(
  fetch: Fetch,
  { url, ca }: EstOptions,
  client: { cert: string; key: string },
  pkcs10: Uint8Array,
): Promise<Buffer> {
  const response = await deliver(fetch, `${url.replace(/\/+$/, '')}/simplereenroll`, {
    method: 'POST',
    headers: { 'content-type': 'application/pkcs10', 'content-transfer-encoding': 'base64' },
    body: Buffer.from(pkcs10).toString('base64'),
    ...{ timeout_ms: limit_ms, whole_ms: limit_ms, maxBytes: largestAnswer, client },
    ...(ca !== undefined && { ca }),
    means: (status) => (status === 200 ? 'taken' : status === notYet ? 'later' : status < 300 ? 'refused' : undefined),
    explain: async (answer, wait_ms) =>
      answer.status === notYet
        ? `the server asks to come back in ${(wait_ms || unreadable_ms) / 1_000} s`
        : `the server answered ${answer.status}: ${oneLine(await answer.text())}`,
    mostAsked_ms,
  })
  const type = response.headers.get('content-type') ?? 'no type'
  const answer = await response.text()
  if (!/^application\/pkcs7-mime\b/i.test(type))
    throw new Error(`the server answered with ${oneLine(type)} instead of application/pkcs7-mime`)
  return Buffer.from(answer, 'base64')
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)
