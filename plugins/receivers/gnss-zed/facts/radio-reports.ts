/** Antenna supervisor and interference of each band by MON-RF; by MON-HW, which knows one band, while no MON-RF comes. */
import {
  type AntennaReading,
  type AntennaStatus,
  antennaStatuses,
  type BandReading,
  jammingStates,
} from 'rtk-base/services'
import * as ubx from '../ubx/index.js'

/** Full scale of agcCnt. */
const agcFull = 8191
const preferRf_ms = 10_000
/** A receiver has an antenna block per band: the worst one counts. */
const severity: readonly AntennaStatus[] = ['short', 'open', 'ok', 'unknown', 'init']

export class RadioReports {
  readonly #antenna: (reading: AntennaReading) => void
  readonly #bands: (bands: readonly BandReading[]) => void
  #rfAt_ms = Number.NEGATIVE_INFINITY

  constructor(antenna: (reading: AntennaReading) => void, bands: (bands: readonly BandReading[]) => void) {
    this.#antenna = antenna
    this.#bands = bands
  }

  monRf(payload: Uint8Array, now_ms: number): void {
    const rf = ubx.decode(ubx.monRf, payload)
    if (!rf || rf.blocks.length === 0) return
    this.#rfAt_ms = now_ms
    const antennas = rf.blocks.map(antennaOf)
    antennas.sort((p, q) => severity.indexOf(p.status) - severity.indexOf(q.status))
    this.#antenna(antennas[0])
    this.#bands(rf.blocks.map((block) => bandOf(ubx.rfBands[block.blockId] ?? `band ${block.blockId}`, block)))
  }

  monHw(payload: Uint8Array, now_ms: number): void {
    const hw = ubx.decode(ubx.monHw, payload)
    if (!hw || now_ms - this.#rfAt_ms < preferRf_ms) return
    this.#antenna(antennaOf(hw))
    this.#bands([bandOf(ubx.rfBands[0], hw)])
  }
}

/** @param values antPower: 0 off, 1 on, 2 unknown */
function antennaOf({ antStatus, antPower }: { antStatus: number; antPower: number }): AntennaReading {
  return {
    status: antennaStatuses[antStatus] ?? 'unknown',
    isPowered: antPower === 2 ? undefined : antPower === 1,
  }
}

interface BandValues {
  jammingState: number
  jamInd: number
  agcCnt: number
  noisePerMs: number
}

function bandOf(band: string, { jammingState, jamInd, agcCnt, noisePerMs }: BandValues): BandReading {
  return {
    band,
    jamming: jammingStates[jammingState] ?? 'unknown',
    indicator: jamInd,
    agc: Math.min(100, Math.round((100 * agcCnt) / agcFull)),
    noise: noisePerMs,
  }
}
