/** Faults and facts of simulated hardware, for tests and the console: no part of what a station needs. */
import { defineService } from '../token.js'
import type { Ecef } from './gnss.js'

/**
 * Faults and facts of a simulated receiver, for tests, the console and third parties' own tests. With any other port than
 * `simulator` every member throws RTK_ERR_UNAVAILABLE.
 */
export interface SimulatedReceiver {
  /** Where its antenna truly is. */
  readonly truth: Ecef
  /** Moves the antenna; metres in the local frame. */
  move(east: number, north: number, up: number): void
  /** Interference that costs so many dB of C/N0; 0 ends it. */
  jam(loss_db: number): void
  antenna(state: 'ok' | 'short' | 'open'): void
  /** The device vanishes, and comes back as after a power cut. */
  unplug(): void
  replug(): void
  /** It restarts by itself: the RAM configuration is lost, in a cold start position and orbits as well. */
  restart(cold?: boolean): void
  /**
   * Another simulated base so many metres to the north sends corrections, through the service `correction-input`; undefined
   * ends it.
   */
  corrections(away_m: number | undefined): void
  /** It refuses a configuration key by name, or accepts all again (undefined). */
  nak(key: string | undefined): void
  /** It acknowledges a configuration key by name but keeps its value, or accepts all again (undefined). */
  ignore(key: string | undefined): void
  /** Every n-th ACK or NAK is lost; 0 ends it. */
  dropAcks(every: number): void
  /** The host hears only garbage at rates above this one; 0 ends it. Means something on a UART only. */
  deafAbove(baud: number): void
  /** Someone else writes a configuration key by name, through another of its ports; in flash it counts from the next start. */
  set(key: string, value: number, layer?: 'ram' | 'flash'): void
  /** What someone else stored in its flash as time mode, with RTCM switched on; counts from its next start. */
  flash(mode: 'rover' | 'survey-in' | { arp: Ecef }): void
  /** Its 1005 is wrong by so many metres in X; 0 ends it. */
  wrongReference(error_m: number): void
  /** It says nothing and answers nothing. */
  silence(on: boolean): void
  /** Damages the next so many RTCM frames. */
  corrupt(frames: number): void
  /** The value of a configuration key, by name, in force or as it is stored. @throws RangeError for an unknown key */
  value(key: string, layer?: 'ram' | 'bbr' | 'flash'): number | undefined
  /** What it was sent since it was made: bytes, and keys written into each layer. */
  readonly received: { bytes: number; ram: number; bbr: number; flash: number }
  /** The state as one line of text. */
  describe(): string
}
export const simulatedReceiver = defineService<SimulatedReceiver>('simulated-receiver')
