/** Real observations of two stations at the same time, RINEX 2 of GPS, as RTCM. They are not part of the project: tests that need them skip without. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { carrier_hz, encodeEphemeris, encodeMsm, type MsmObservation } from '../../../runtime/lib/gnss/index.js'

const folder = join(resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures'), 'pairs')

/** A reason to skip, for tap's `skip` option; false when the pairs are there. */
export const noPairs: string | false = existsSync(folder) ? false : `no pairs of stations in ${folder}`

export interface RinexEpoch {
  /** As the receiver's clock shows it, `gpsSeconds`. */
  readonly at_s: number
  readonly frame: Uint8Array
}

const light_mps = 299_792_458
const gpsEpoch_ms = Date.UTC(1980, 0, 6)
const secondsPerWeek = 604_800
const types = ['L1', 'C1', 'L2', 'P2']
/** Their signals in MSM: L1 C/A and L2 P(Y). */
const signals = [
  { msm: 2, phase: 'L1', code: 'C1', band: 'L1' },
  { msm: 9, phase: 'L2', code: 'P2', band: 'L2' },
].map((one) => ({ ...one, wavelength_m: light_mps / (carrier_hz('GPS', one.band) ?? Number.NaN) }))
/** DF407 of a phase that was lost, and of one that is tracked for hours. */
const locks = { lost: 0, kept: 704 }
/** A phase that left its code by more than this does not fit into its message. */
const apart_m = 1_000

function linesOf(name: string): { header: string[]; body: string[] } {
  const lines = readFileSync(join(folder, name), 'latin1').trimEnd().split('\n')
  const end = lines.findIndex((line) => line.includes('END OF HEADER')) + 1
  return { header: lines.slice(0, end), body: lines.slice(end) }
}

const timeOf = ([year = 0, month = 1, day = 1, hour, minute, second = 0]: readonly number[]) =>
  (Date.UTC(2000 + year, month - 1, day, hour, minute) - gpsEpoch_ms) / 1_000 + second

/** The epochs of an observation file with L1, C1, L2 and P2: a 1077 of each. */
export function observationsOf(name: string): RinexEpoch[] {
  const { header, body } = linesOf(name)
  const listed = header.find((line) => line.includes('# / TYPES OF OBSERV')) ?? ''
  if (listed.slice(6, 60).trim().split(/\s+/).join() !== types.join()) throw new Error(`${name} has other observations`)
  const epochs: RinexEpoch[] = []
  /** Of each phase: its cycles that its message leaves out, and its last epoch. */
  const arcs = new Map<string, { cycles: number; epoch: number }>()
  for (let line = 0; line < body.length; ) {
    const head = body[line++] ?? ''
    const count = Number(head.slice(29, 32))
    // Comments.
    if (Number(head.slice(28, 29)) > 1) {
      line += count
      continue
    }
    const at_s = timeOf(head.slice(0, 26).trim().split(/\s+/).map(Number))
    const observations = Array.from({ length: count }, (_, n) => {
      const satellite = Number(head.slice(33 + 3 * n, 35 + 3 * n))
      const cells = body[line++] ?? ''
      const value = (type: string) => Number(cells.slice(16 * types.indexOf(type), 16 * types.indexOf(type) + 14))
      const isLost = (type: string) => (Number(cells[16 * types.indexOf(type) + 14] ?? 0) & 1) === 1
      return signals.flatMap(({ msm, phase, code, wavelength_m }): MsmObservation[] => {
        if (!value(code)) return []
        const observation = { satellite, signal: msm, pseudorange_m: value(code), cnr_dbhz: 40 }
        if (!value(phase)) return [observation]
        const id = `${satellite} ${phase}`
        const arc = arcs.get(id)
        const whole = Math.round(value(code) / wavelength_m - value(phase))
        const goesOn =
          arc?.epoch === epochs.length - 1 && !isLost(phase) && Math.abs(whole - arc.cycles) * wavelength_m < apart_m
        const cycles = goesOn ? arc.cycles : whole
        arcs.set(id, { cycles, epoch: epochs.length })
        const lock = goesOn ? locks.kept : locks.lost
        return [{ ...observation, phase_m: (value(phase) + cycles) * wavelength_m, lock }]
      })
    }).flat()
    const epochTime = Math.round(1_000 * (at_s % secondsPerWeek))
    epochs.push({ at_s, frame: encodeMsm({ type: 1077, stationId: 1, epochTime, multiple: false, observations }) })
  }
  return epochs
}

const valid_s = 7_200

/** The ephemerides of a navigation file that are valid at this time (`gpsSeconds`): a 1019 of each. */
export function ephemeridesOf(name: string, at_s: number): Uint8Array[] {
  const { body } = linesOf(name)
  const frames: Uint8Array[] = []
  for (let line = 0; line + 8 <= body.length; line += 8) {
    const [first = '', ...others] = body.slice(line, line + 8)
    const number = (text: string, from: number) => Number(text.slice(from, from + 19).replace('D', 'e')) || 0
    const [af0_s = 0, af1_sps = 0, af2_sps2 = 0] = [22, 41, 60].map((from) => number(first, from))
    const orbit = others.map((text) => [3, 22, 41, 60].map((from) => number(text, from)))
    const at = (row: number, column: number) => orbit[row]?.[column] ?? 0
    const toeOfWeek_s = at(2, 0)
    if (Math.abs(at(4, 2) * secondsPerWeek + toeOfWeek_s - at_s) > valid_s) continue
    const clock_s = timeOf(first.slice(2, 22).trim().split(/\s+/).map(Number))
    frames.push(
      encodeEphemeris(1019, {
        ...{ satellite: Number(first.slice(0, 2)), tocOfWeek_s: clock_s % secondsPerWeek, af0_s, af1_sps, af2_sps2 },
        ...{ issue: at(0, 0), crs_m: at(0, 1), deltaN_radps: at(0, 2), m0_rad: at(0, 3) },
        ...{ cuc_rad: at(1, 0), e: at(1, 1), cus_rad: at(1, 2), sqrtA: at(1, 3) },
        ...{ toeOfWeek_s, cic_rad: at(2, 1), omega0_rad: at(2, 2), cis_rad: at(2, 3) },
        ...{ i0_rad: at(3, 0), crc_m: at(3, 1), omega_rad: at(3, 2), omegaDot_radps: at(3, 3) },
        ...{ idot_radps: at(4, 0), week: at(4, 2) % 1_024, codeOnL2: 1 },
        ...{ health: at(5, 1), groupDelay_s: at(5, 2), clockIssue: at(5, 3) },
      }),
    )
  }
  return frames
}
