/** Runs that the watchdog ended, and how long the plugin that was the cause stays out. Without schemas: its thread loads this file. */
import type { Stall } from './run-record.js'

const mostStalls = 32

/** The newest last; only its stack is kept. */
export const withStall = (stalls: readonly Stall[], stall: Stall): Stall[] => [
  ...stalls.slice(1 - mostStalls).map((one) => ({ ...one, stack: [] })),
  stall,
]

/** How long a plugin that ended the process stays out after the first, second and every further time. */
const quarantines_ms = [5 * 60_000, 60 * 60_000, 24 * 3_600_000]
/** A plugin that has not blocked the service for this long starts from zero. */
const forgiven_ms = 7 * 24 * 3_600_000

export interface Blocker {
  plugin: string
  reason: string
  quarantine_ms: number
}

/**
 * The plugin that ended the previous process, if any, unless a start has already kept it out for that.
 * @param now_ms UTC by the system clock
 */
export function blockerOf(stalls: readonly Stall[], now_ms: number): Blocker | undefined {
  const last = stalls.at(-1)
  if (!last?.plugin || last.served) return undefined
  // A clock that was set back makes the stalls look like ones of the future: they are as recent as can be.
  const times = stalls.filter(({ plugin, at_ms }) => plugin === last.plugin && now_ms - at_ms < forgiven_ms).length
  const where = last.place ? ` at ${last.place}` : last.phase ? ` in ${last.phase}` : ''
  const often = times > 1 ? `, ${times} times in a week` : ''
  const what = last.limit_mb
    ? `held most of the memory, of which ${last.used_mb} of ${last.limit_mb} MB were in use`
    : `blocked the service for ${Math.round(last.blocked_s)} s${where}`
  return {
    plugin: last.plugin,
    reason: `it ${what}${often}, so the process was ended`,
    quarantine_ms: quarantines_ms[Math.min(Math.max(times, 1), quarantines_ms.length) - 1] as number,
  }
}
