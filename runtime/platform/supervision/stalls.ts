/** The durable record of stalls that ended the process: written by the watchdog's thread, read at the next start. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceFileSync } from '../files/durable-file.js'
import { readRecordSync } from '../files/plain-file.js'

const mostKept = 32

export interface Stall {
  /** '' if no plugin could be named. */
  plugin: string
  phase: string
  /** `file:line:column` of the plugin's innermost frame, '' unknown. */
  place: string
  /** Innermost first. */
  stack: string[]
  /** UTC milliseconds by the system clock. */
  at_ms: number
  blocked_s: number
  /** Where it was the memory that was used up. */
  used_mb?: number
  limit_mb?: number
  /** A start has kept the plugin out for it. */
  served?: boolean
}

/** By hand: the watchdog's thread would need 300 kB of code for a schema. */
function isStall(value: unknown): value is Stall {
  if (typeof value !== 'object' || value === null) return false
  const { plugin, phase, place, stack, at_ms, blocked_s, used_mb, limit_mb, served } = value as Record<
    keyof Stall,
    unknown
  >
  const isNumberOrLeftOut = (one: unknown) => one === undefined || Number.isFinite(one)
  return (
    [plugin, phase, place].every((text) => typeof text === 'string') &&
    Array.isArray(stack) &&
    stack.length <= 64 &&
    stack.every((line) => typeof line === 'string') &&
    Number.isFinite(at_ms) &&
    Number.isFinite(blocked_s) &&
    isNumberOrLeftOut(used_mb) &&
    isNumberOrLeftOut(limit_mb) &&
    (served === undefined || typeof served === 'boolean')
  )
}

/** Oldest first; a file that is missing or damaged holds none. */
export function readStalls(file: string): Stall[] {
  try {
    const value: unknown = JSON.parse(readRecordSync(file))
    return Array.isArray(value) && value.every(isStall) ? value : []
  } catch {
    return []
  }
}

/** Durable when it returns. @throws an error of the file system */
export function addStall(file: string, stall: Stall): void {
  writeStalls(file, [...readStalls(file), stall].slice(-mostKept))
}

/** Durable when it returns. @throws an error of the file system */
export function writeStalls(file: string, stalls: readonly Stall[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  replaceFileSync(file, JSON.stringify(stalls))
}

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
