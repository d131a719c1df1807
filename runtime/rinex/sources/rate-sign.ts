import { gpsSeconds } from 'rtk-base/gnss'
import type { ObservationEpoch } from '../observations.js'

/** Whether the rates of a receiver have the sign of the range, as RTCM has it, or that of the Doppler: by its own phases. */
export class RateSign {
  readonly #before = new Map<string, { readonly time_s: number; readonly phase: number }>()
  #sum = 0

  get sign(): 1 | -1 {
    return this.#sum < 0 ? -1 : 1
  }

  /** @param epoch made with the sign of RTCM */
  take(epoch: ObservationEpoch): void {
    const time_s = gpsSeconds(epoch)
    for (const { number, signals, system } of epoch.satellites) {
      for (const { code, doppler_hz, isBroken, phase_cycles } of signals) {
        if (phase_cycles === undefined || doppler_hz === undefined) continue
        const id = `${system}${number}${code}`
        const before = this.#before.get(id)
        this.#before.set(id, { time_s, phase: phase_cycles })
        const elapsed_s = time_s - (before?.time_s ?? time_s)
        if (!before || isBroken || elapsed_s <= 0 || elapsed_s > 31) continue
        this.#sum += Math.sign(-(phase_cycles - before.phase) * doppler_hz)
      }
    }
  }
}
