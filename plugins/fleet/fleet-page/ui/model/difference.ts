/** Differences of two documents of a station. Pure. */

import type { Json } from '../../../../../runtime/lib/page/ui/station/document.js'
import { lasting } from '../../../fleet-registry/stations/lasting.js'

export interface Difference {
  readonly path: string
  /** As JSON; undefined: it was not there. */
  readonly before: string | undefined
  readonly now: string | undefined
}

const most = 500
const mostText = 200

/** Path → value of everything that is not an object. */
function leaves(value: unknown, path: string, found: Map<string, string>, depth = 0): Map<string, string> {
  if (found.size >= most * 4) return found
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < 12)
    for (const [name, part] of Object.entries(value)) leaves(part, path ? `${path}.${name}` : name, found, depth + 1)
  else found.set(path, JSON.stringify(value).slice(0, mostText))
  return found
}

const isLasting = (path: string) => lasting.some((part) => path === part || path.startsWith(`${part}.`))

/** @param all also counters, times, and whatever else changes by itself */
export function differencesOf(before: Json, now: Json, all: boolean): Difference[] {
  const [old, fresh] = [leaves(before, '', new Map()), leaves(now, '', new Map())]
  const paths = [...new Set([...old.keys(), ...fresh.keys()])]
  return paths
    .filter((path) => (all || isLasting(path)) && old.get(path) !== fresh.get(path))
    .slice(0, most)
    .map((path) => ({ path, before: old.get(path), now: fresh.get(path) }))
}
