/** Signal strength by direction over about a day, which shows obstructions of the antenna. Pure. */
import type { Satellite } from 'rtk-base/services'

/** Cells of 10° of azimuth and 10° of elevation. */
export const cell_deg = 10
const columns = 360 / cell_deg
const rows = 90 / cell_deg
/** Samples of a cell after which an old one has lost most of its weight. */
const memory = 2_000

export class Shading {
  readonly #mean = new Float32Array(columns * rows)
  readonly #count = new Uint16Array(columns * rows)

  add(satellites: readonly Satellite[]): void {
    // No reception at all: an antenna fault, not an obstruction.
    if (satellites.every(({ cno_dbhz }) => cno_dbhz === 0)) return
    for (const { azimuth_deg, elevation_deg, cno_dbhz } of satellites) {
      if (azimuth_deg === undefined || elevation_deg === undefined || elevation_deg < 0) continue
      const column = Math.floor((((azimuth_deg % 360) + 360) % 360) / cell_deg)
      const row = Math.min(rows - 1, Math.floor(elevation_deg / cell_deg))
      const at = row * columns + column
      const count = Math.min(memory, (this.#count[at] as number) + 1)
      this.#count[at] = count
      // A satellite that should be there and is not received counts as 0: that is the shade.
      this.#mean[at] = (this.#mean[at] as number) + (cno_dbhz - (this.#mean[at] as number)) / count
    }
  }

  /** Cells with enough samples: lower edges of azimuth and elevation, degrees, and mean C/N0, dB-Hz. */
  cells(fewest = 30): { az: number; el: number; cno: number }[] {
    return [...this.#count.keys()]
      .filter((at) => (this.#count[at] as number) >= fewest)
      .map((at) => ({
        az: (at % columns) * cell_deg,
        el: Math.floor(at / columns) * cell_deg,
        cno: Math.round((this.#mean[at] as number) * 10) / 10,
      }))
  }

  save(): Buffer {
    return Buffer.concat([Buffer.from(this.#mean.buffer), Buffer.from(this.#count.buffer)])
  }

  /** @returns false, and nothing is changed, when the bytes are of another shape */
  load(bytes: Buffer): boolean {
    const size = columns * rows
    if (bytes.length !== size * 6) return false
    for (let at = 0; at < size; at++) {
      const mean = bytes.readFloatLE(at * 4)
      this.#mean[at] = Number.isFinite(mean) ? mean : 0
      this.#count[at] = Math.min(memory, bytes.readUInt16LE(size * 4 + at * 2))
    }
    return true
  }
}
