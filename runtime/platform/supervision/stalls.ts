/** The durable record of stalls that ended the process: written by the watchdog's thread, read at the next start. */
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { StateFile } from '../files/state-file.js'

export const Stall = Type.Object({
  /** '' if no plugin could be named. */
  plugin: Type.String(),
  phase: Type.String(),
  /** `file:line:column` of the plugin's innermost frame, '' unknown. */
  place: Type.String(),
  /** Innermost first. */
  stack: Type.Array(Type.String(), { maxItems: 64 }),
  /** UTC milliseconds by the system clock. */
  at_ms: Type.Number(),
  blocked_s: Type.Number(),
  /** Where it was the memory that was used up. */
  used_mb: Type.Optional(Type.Number()),
  limit_mb: Type.Optional(Type.Number()),
  /** A start has kept the plugin out for it. */
  served: Type.Optional(Type.Boolean()),
})
export type Stall = Static<typeof Stall>

const Stalls = Type.Array(Stall)

/** Oldest first. */
export const stallFile = (data: string) => new StateFile(Stalls, join(data, 'stalls.json'))

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
