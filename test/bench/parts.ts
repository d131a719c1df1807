/** All parts of the bench. */
import type { Part } from './part.js'

export interface PartEntry {
  /** Minutes, those of the fleet on both cores with its peers, or hours as root: in full only when it is named. */
  readonly isLong?: boolean
  load(): Promise<Part>
}

/** Loaded one by one: each part runs in a process of its own. */
const entry = (module: () => Promise<{ part: unknown }>, isLong = false): PartEntry => ({
  isLong,
  load: async () => (await module()).part as Part,
})

export const parts: Readonly<Record<string, PartEntry>> = {
  framing: entry(() => import('./framing.js')),
  apn: entry(() => import('./apn.js')),
  baseline: entry(() => import('./baseline.js')),
  latency: entry(() => import('./latency.js')),
  'fan-out': entry(() => import('./fan-out.js')),
  ntrip: entry(() => import('./ntrip.js')),
  'ntrip-hour': entry(() => import('./ntrip-hour.js'), true),
  http: entry(() => import('./http.js')),
  hostile: entry(() => import('./hostile.js')),
  start: entry(() => import('./start.js')),
  reloads: entry(() => import('./reloads.js')),
  survey: entry(() => import('./survey.js')),
  holds: entry(() => import('./holds.js'), true),
  still: entry(() => import('./still.js'), true),
  day: entry(() => import('./day.js')),
  dashboard: entry(() => import('./dashboard.js'), true),
  fleet: entry(() => import('./fleet.js'), true),
  'fleet-caster': entry(() => import('./fleet-caster.js'), true),
  'fleet-load': entry(() => import('./fleet-load.js'), true),
  rest: entry(() => import('./rest.js'), true),
  moves: entry(() => import('./moves.js'), true),
  idle: entry(() => import('./idle.js'), true),
  wire: entry(() => import('./wire.js'), true),
}
