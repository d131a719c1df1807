import type { ErrorValues } from 'rtk-base/services'

/** Rovers do not report their rejection, so the warning comes this long before the certificate expires. */
const warned_ms = 14 * 86_400_000

/** Undefined: no action is required. @param validTo of the certificate @param utc_ms 0: unknown time */
export function certificateTrouble(validTo: string, file: string, utc_ms: number): ErrorValues | undefined {
  const until_ms = Date.parse(validTo)
  if (utc_ms === 0 || utc_ms < until_ms - warned_ms) return undefined
  const until = new Date(until_ms).toISOString().slice(0, 10)
  return { expired: utc_ms >= until_ms, until, file }
}
