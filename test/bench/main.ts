/**
 * `npm run bench [PART…]`: measures the budgets of the design, each beside a peer in the same run where there is one.
 * Prints a table; exits with 1 when a budget is missed.
 */

import { benchApn } from './apn.js'
import { benchBaseline } from './baseline.js'
import { benchDashboard } from './dashboard.js'
import { benchDay } from './day.js'
import { benchFanOut } from './fan-out.js'
import { benchFleet } from './fleet.js'
import { benchFleetCaster } from './fleet-caster.js'
import { benchFleetLoad } from './fleet-load.js'
import { benchFraming } from './framing.js'
import { benchHolds } from './holds.js'
import { hostShare } from './host.js'
import { benchHostile } from './hostile.js'
import { benchHttp } from './http.js'
import { benchIdle } from './idle.js'
import { benchLatency } from './latency.js'
import type { Measurement } from './measurement.js'
import { benchNtrip } from './ntrip.js'
import { benchNtripHour } from './ntrip-hour.js'
import { benchReloads } from './reloads.js'
import { benchRest } from './rest.js'
import { benchStart } from './start.js'
import { benchStill } from './still.js'
import { benchSurvey } from './survey.js'
import { benchWire } from './wire.js'

const parts: Record<string, () => Promise<Measurement[]>> = {
  framing: benchFraming,
  apn: benchApn,
  baseline: benchBaseline,
  latency: benchLatency,
  'fan-out': benchFanOut,
  ntrip: benchNtrip,
  'ntrip-hour': benchNtripHour,
  http: benchHttp,
  hostile: benchHostile,
  start: benchStart,
  reloads: benchReloads,
  survey: benchSurvey,
  holds: benchHolds,
  still: benchStill,
  day: benchDay,
  dashboard: benchDashboard,
  fleet: benchFleet,
  'fleet-caster': benchFleetCaster,
  'fleet-load': benchFleetLoad,
  rest: () => benchRest(),
  idle: benchIdle,
  wire: benchWire,
}
/** Minutes, those of the fleet on both cores with its peers, `rest` as root: only by their names. */
const onlyNamed = [
  'dashboard',
  'fleet',
  'fleet-caster',
  'fleet-load',
  'holds',
  'idle',
  'ntrip-hour',
  'rest',
  'still',
  'wire',
]

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !(name in parts))
if (unknown || wanted.includes('--help')) {
  console.log(
    `npm run bench [PART…]   parts: ${Object.keys(parts).join(', ')} (only when named: ${onlyNamed.join(', ')})`,
  )
  process.exit(unknown ? 2 : 0)
}

// The stations and clients that it started end with it: by their listeners for `exit`, which a signal alone passes over.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

let missed = 0
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 ? !wanted.includes(name) : onlyNamed.includes(name)) continue
  console.log(`\n${name}`)
  const host = hostShare()
  for (const { name: what, value, unit, budget, ok } of [...(await part()), host()]) {
    const verdict = ok === undefined ? '' : ok ? 'met' : 'MISSED'
    console.log(
      `  ${what.padEnd(64)} ${value.toFixed(value < 100 ? 2 : 0).padStart(9)} ${unit.padEnd(8)} ${(budget ?? '').padEnd(16)} ${verdict}`,
    )
    if (ok === false) missed += 1
  }
}
console.log(missed > 0 ? `\n${missed} budgets missed` : '\nall budgets met')
process.exit(missed > 0 ? 1 : 0)
