/** RTKLIB in static mode, on the RTCM of two stations. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ecef } from '../../../schemas/services.js'

export interface RtklibSolution {
  /** Of the second station. */
  readonly position: Ecef
  readonly isFixed: boolean
  /** Time that `rnx2rtkp` took, without the conversion. */
  readonly took_ms: number
}

/**
 * The ionosphere and the wet air are estimated: its defaults take them for the same at both stations, which is 5 ppm off, and centimetres in
 * the tropics. With so many unknowns it needs to hold integers, and to run back to the begin.
 */
const settings = [
  ...['pos1-ionoopt=est-stec', 'pos1-tropopt=est-ztd'],
  ...['pos1-soltype=combined', 'pos2-armode=fix-and-hold'],
]

/** What `rnx2rtkp` says of the place of the second station. @param place of the first @param start_ms about the time of the first epoch */
export function rtklibStatic(
  place: Ecef,
  streams: Readonly<Record<'from' | 'to', Uint8Array>>,
  start_ms: number,
): RtklibSolution {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-baseline-'))
  const file = (name: string) => join(folder, name)
  try {
    const near = new Date(start_ms).toISOString().slice(0, 19).replaceAll('-', '/').split('T')
    for (const side of ['from', 'to'] as const) {
      writeFileSync(file(`${side}.rtcm3`), streams[side])
      const out = ['-o', file(`${side}.obs`), '-n', file(`${side}.nav`), file(`${side}.rtcm3`)]
      execFileSync('convbin', ['-r', 'rtcm3', '-v', '3.03', '-tr', ...near, ...out], { stdio: 'ignore' })
    }
    const base = [place.x, place.y, place.z].map((axis) => axis.toFixed(4))
    writeFileSync(file('settings.conf'), `${settings.join('\n')}\n`)
    const options = [
      '-k',
      file('settings.conf'),
      '-p',
      '3',
      '-f',
      '2',
      '-sys',
      'G,E',
      '-m',
      '15',
      '-e',
      '-r',
      ...base,
      '-o',
      file('out.pos'),
    ]
    const begun_ms = performance.now()
    execFileSync('rnx2rtkp', [...options, file('to.obs'), file('from.obs'), file('from.nav')], { stdio: 'ignore' })
    const took_ms = performance.now() - begun_ms
    const lines = readFileSync(file('out.pos'), 'latin1').split('\n')
    const last = lines.filter((line) => /^\d/.test(line)).at(-1) ?? ''
    const [x = 0, y = 0, z = 0, quality] = last.trim().split(/\s+/).slice(2).map(Number)
    return { position: { x, y, z }, isFixed: quality === 1, took_ms }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
