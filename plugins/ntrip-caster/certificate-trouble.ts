import type { Trouble } from 'rtk-base/plugin'

/** Rovers do not report their rejection, so the warning comes this long before the certificate expires. */
const warned_ms = 14 * 86_400_000

/** Undefined: no action is required. @param validTo of the certificate @param utc_ms 0: unknown time */
export function certificateTrouble(validTo: string, file: string, utc_ms: number): Trouble | undefined {
  const until_ms = Date.parse(validTo)
  if (utc_ms === 0 || utc_ms < until_ms - warned_ms) return undefined
  const until = new Date(until_ms).toISOString().slice(0, 10)
  const expired = utc_ms >= until_ms
  const text = expired
    ? `the certificate for rovers expired on ${until}, and rovers with TLS are rejected: renew ${file}`
    : `the certificate for rovers expires on ${until}: renew ${file}`
  return { text, values: { expired, until, file } }
}
