/** The APNs to try for a SIM, in order. Pure. */
import type { ApnSettings } from 'rtk-base/services'
import type { Candidate } from './lookup.js'

export const automatic: ApnSettings = { apn: '', user: '', pswd: '', auth: 'none' }

/**
 * Whether the router has these settings. Passwords are compared where the router shows them; which of PAP and CHAP it uses is
 * its own choice.
 */
export function isSame(actual: ApnSettings, wanted: ApnSettings): boolean {
  if (actual.apn.toLowerCase() !== wanted.apn.toLowerCase()) return false
  if (wanted.apn === '') return true
  return actual.user === wanted.user && (actual.pswd === wanted.pswd || wanted.user === '')
}

/** The one to begin with, those of the table, the best first, and at last what the router had before. */
export function stepsFor(
  candidates: readonly Candidate[],
  { before, first }: { before: ApnSettings; first?: ApnSettings },
): ApnSettings[] {
  const table = candidates.map(({ apn, user, pswd, auth }) => ({ apn, user, pswd, auth }))
  const all = [...(first ? [first] : []), ...table, before]
  return all.filter((step, index) => all.findIndex((other) => isSame(step, other)) === index)
}

/**
 * If the table is ambiguous, the router's APN is kept if it is in the table or if a connection is up: a guess must not end it.
 * @returns undefined: the first of the table
 */
export function keptAtFirst(
  candidates: readonly Candidate[],
  { actual, connected }: { actual: ApnSettings; connected: boolean },
): ApnSettings | undefined {
  if (candidates.length < 2) return undefined
  return connected || candidates.some((one) => isSame(actual, one)) ? actual : undefined
}
