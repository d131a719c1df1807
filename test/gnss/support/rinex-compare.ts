/** RINEX of `convbin` of RTKLIB, and the comparison of two observation files. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ReadObservations } from './rinex-reader.js'

export type Format = 'ubx' | 'rtcm3' | 'sbf' | 'nov'

/** The files that `convbin` makes. @param day near the recording */
export function converted(t: Test, bytes: Uint8Array, format: Format, day: string, version = '3.04') {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-rinex-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const [input, obs, nav] = ['input', 'obs', 'nav'].map((name) => join(folder, name)) as [string, string, string]
  writeFileSync(input, bytes)
  const time = ['-tr', day.replaceAll('-', '/'), '12:00:00']
  const options = ['-r', format, '-v', version, '-f', '5', '-od', '-os', ...time]
  execFileSync('convbin', [...options, '-o', obs, '-n', nav, input], { stdio: 'ignore' })
  return { observations: readFileSync(obs, 'latin1'), navigation: existsSync(nav) ? readFileSync(nav, 'latin1') : '' }
}

/** What both files have, compared; and what only one of them has. */
export function compared(own: ReadObservations, theirs: ReadObservations) {
  /** Largest differences by the first letter of the type; Doppler without its sign. */
  const worst: Record<string, number> = { C: 0, L: 0, D: 0, S: 0 }
  const only = { own: new Map<string, number>(), theirs: new Map<string, number>() }
  const slips = { same: 0, own: 0, theirs: 0 }
  let values = 0
  let missing = 0
  const byTime = new Map(own.epochs.map((epoch) => [epoch.time, epoch]))
  const seen = new Set<string>()
  for (const { satellites, time } of theirs.epochs) {
    const mine = byTime.get(time)
    if (!mine) missing++
    for (const name of mine ? new Set([...satellites.keys(), ...mine.satellites.keys()]) : []) {
      const [a, b] = [mine?.satellites.get(name), satellites.get(name)]
      for (const type of new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])) {
        const [kind = ''] = type
        const [p, q] = [a?.get(type), b?.get(type)]
        if (!p || !q) {
          const counts = only[p ? 'own' : 'theirs']
          counts.set(kind, (counts.get(kind) ?? 0) + 1)
          continue
        }
        values++
        const difference = kind === 'D' ? Math.abs(p.value) - Math.abs(q.value) : p.value - q.value
        worst[kind] = Math.max(worst[kind] ?? 0, Math.abs(difference))
        // RTKLIB marks the first phase of each signal, too.
        if (kind === 'L' && seen.has(`${name}${type}`)) {
          if (((p.lli ^ q.lli) & 1) === 0) slips.same += p.lli & 1
          else slips[p.lli & 1 ? 'own' : 'theirs']++
        }
        if (kind === 'L') seen.add(`${name}${type}`)
      }
    }
  }
  return { worst, only, slips, values, missing }
}
