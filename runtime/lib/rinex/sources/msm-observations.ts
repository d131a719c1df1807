import {
  type Constellation,
  constellationOf,
  gpsSeconds,
  lockTime,
  type Msm,
  type MsmEpoch,
  type MsmObservation,
  nearestTime,
  secondsPerWeek,
} from 'rtk-base/gnss'
import { codeCarrier_hz, type ObservationEpoch, type SignalObservation, type SystemLetter } from '../observations.js'
import { EpochBuilder, PhaseTracker } from './epoch-builder.js'

const light_mps = 299_792_458

const letters: Readonly<Record<Constellation, SystemLetter>> = {
  GPS: 'G',
  GLONASS: 'R',
  Galileo: 'E',
  SBAS: 'S',
  QZSS: 'J',
  BeiDou: 'C',
  NavIC: 'I',
}

/** Position in the signal mask → RINEX code (RTCM 10403.3, tables 3.5-91, -96, -99, -102, -105, -108). */
const codes: Readonly<Record<SystemLetter, Readonly<Record<number, string>>>> = {
  G: {
    ...{ 2: '1C', 3: '1P', 4: '1W', 8: '2C', 9: '2P', 10: '2W', 15: '2S', 16: '2L', 17: '2X' },
    ...{ 22: '5I', 23: '5Q', 24: '5X', 30: '1S', 31: '1L', 32: '1X' },
  },
  R: { 2: '1C', 3: '1P', 8: '2C', 9: '2P' },
  E: {
    ...{ 2: '1C', 3: '1A', 4: '1B', 5: '1X', 6: '1Z', 8: '6C', 9: '6A', 10: '6B', 11: '6X', 12: '6Z' },
    ...{ 14: '7I', 15: '7Q', 16: '7X', 18: '8I', 19: '8Q', 20: '8X', 22: '5I', 23: '5Q', 24: '5X' },
  },
  C: {
    ...{ 2: '2I', 3: '2Q', 4: '2X', 8: '6I', 9: '6Q', 10: '6X', 14: '7I', 15: '7Q', 16: '7X' },
    ...{ 22: '5D', 23: '5P', 24: '5X', 25: '7D', 30: '1D', 31: '1P', 32: '1X' },
  },
  J: {
    ...{ 2: '1C', 9: '6S', 10: '6L', 11: '6X', 15: '2S', 16: '2L', 17: '2X', 22: '5I', 23: '5Q', 24: '5X' },
    ...{ 30: '1S', 31: '1L', 32: '1X' },
  },
  S: { 2: '1C', 22: '5I', 23: '5Q', 24: '5X' },
  I: { 8: '9A', 22: '5A' },
}

/**
 * Observations out of the epochs of an MSM stream. Messages of whole milliseconds unknown (MSM1-3) have no ranges. The
 * phases of GLONASS need the frequency channel, which MSM5 and 7 tell; else it is taken from `channels`.
 */
export class MsmObservations {
  readonly #phases = new PhaseTracker()
  readonly #channels: ReadonlyMap<number, number>
  readonly #rateSign: 1 | -1

  /**
   * @param channels GLONASS frequency channel by slot, from other messages
   * @param rateSign −1 for a receiver that sends its phase range rates with the sign turned round
   */
  constructor(channels: ReadonlyMap<number, number> = new Map(), rateSign: 1 | -1 = 1) {
    this.#channels = channels
    this.#rateSign = rateSign
  }

  /** @param near_s `gpsSeconds` within half a week of the epoch, which itself has no week */
  epoch({ messages, time_ms }: MsmEpoch, near_s: number): ObservationEpoch {
    const tow_s = time_ms / 1000
    const time_s = nearestTime(tow_s, secondsPerWeek, near_s)
    const week = Math.round((time_s - tow_s) / secondsPerWeek)
    const epoch = new EpochBuilder({ week, tow_s })
    const channels = new Map<number, number>()
    // A receiver may send the same signal twice: the finer resolution counts.
    for (const msm of messages.toSorted((p, q) => (q.type % 10) - (p.type % 10))) {
      const system = letterOf(msm)
      if (!system) continue
      if (system === 'R') for (const [slot, channel] of channelsOf(msm)) channels.set(slot, channel)
      for (const cell of msm.observations) {
        const number = system === 'S' ? cell.satellite + 19 : cell.satellite
        const signal = this.#signal(msm.type, system, number, cell, time_s, channels)
        if (signal) epoch.add(system, number, signal)
      }
    }
    for (const [slot, channel] of channels) epoch.channel(slot, channel)
    return epoch.epoch
  }

  #signal(
    type: number,
    system: SystemLetter,
    number: number,
    cell: MsmObservation,
    time_s: number,
    channels: ReadonlyMap<number, number>,
  ): SignalObservation | undefined {
    const code = codes[system][cell.signal]
    if (code === undefined || type % 10 <= 3) return undefined
    const carrier = codeCarrier_hz(system, code, channels.get(number) ?? this.#channels.get(number))
    const perMetre = carrier === undefined ? undefined : carrier / light_mps
    const phase = cell.phase_m !== undefined && perMetre !== undefined ? cell.phase_m * perMetre : undefined
    const isBroken =
      phase !== undefined && this.#phases.isBroken(`${system}${number}${code}`, time_s, lockTime(type, cell.lock))
    return {
      code,
      range_m: cell.pseudorange_m,
      phase_cycles: phase,
      doppler_hz:
        cell.rate_mps !== undefined && perMetre !== undefined ? -this.#rateSign * cell.rate_mps * perMetre : undefined,
      cno_dbhz: cell.cnr_dbhz,
      isBroken,
      isHalf: cell.halfCycle === true,
    }
  }
}

/** The RINEX letter of an MSM's constellation. */
export function letterOf({ type }: Pick<Msm, 'type'>): SystemLetter | undefined {
  const constellation = constellationOf(type)
  return constellation && letters[constellation]
}

/** GLONASS frequency channels by slot: of MSM5 and 7, where they are known. */
function channelsOf({ info = {} }: Msm): [number, number][] {
  return Object.entries(info)
    .filter(([, value]) => value <= 13)
    .map(([slot, value]) => [Number(slot), value - 7])
}

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
