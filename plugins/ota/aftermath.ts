import type { RunEnd } from 'rtk-base/services'
import type { Pending } from './memory.js'

/**
 * Why an update that was installed does not run, for the operator.
 * @param tried the launcher has started it, or found it damaged
 */
export function reasonOf(pending: Pending | undefined, lastEnd: RunEnd | undefined, tried: boolean): string {
  const name = pending ? `the update to ${pending.version}` : 'the version that ran before'
  return `${name} was given up: ${causeOf(pending, lastEnd, tried)}; ${pending ? `${pending.from} runs again` : 'the one before it runs again'}`
}

function causeOf(pending: Pending | undefined, lastEnd: RunEnd | undefined, tried: boolean): string {
  if (pending?.verdict) return pending.verdict
  if (!tried) return 'the service was ended before all of it was installed: send it again'
  // The version before was stopped gracefully, so any other end is one of the trial.
  if (lastEnd === undefined || lastEnd.how === 'stopped' || lastEnd.how === 'first') {
    return 'it did not come up: it ended, or hung, before it could record why'
  }
  const at = lastEnd.stack[0] ? ` (${lastEnd.stack[0].trim()})` : ''
  return `it did not stay up: ${lastEnd.text}${at}`
}
