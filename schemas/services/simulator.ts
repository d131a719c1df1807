/** Faults and facts of simulated hardware, for tests and the console: no part of what a station needs. */
import type { BytePort } from '../byte-port.js'
import { defineService } from '../token.js'
import type { Ecef } from './receiver.js'

/** Provided by the plugin simulated-receiver: a receiver behind a byte stream, and its faults and facts, for tests, the console and third parties' own tests. */
export interface SimulatedReceiver {
  /** Its line: what stands behind `port=simulator` of a receiver plugin. One opening at a time. */
  readonly port: BytePort
  /** Where its antenna truly is. */
  readonly truth: Ecef
  /** Moves the antenna; metres in the local frame. @param over_s steadily over so many seconds; 0: at once */
  move(east: number, north: number, up: number, over_s?: number): void
  /** The antenna swings to both sides by metres; 2 s is the usual period, and it goes on until `still`. It ends where it began. */
  sway(by: { east: number; north: number; up: number }, period_s?: number, over_s?: number): void
  /** The antenna stays where it is now. */
  still(): void
  /** How rough the surroundings are: noise of code and phase, slips, multipath, ionosphere, what is in the way. */
  noise(name: 'quiet' | 'typical' | 'obstructed'): void
  /** So many of the tracked satellites lose their lock, `most` is 80 %. @param away_s and are not received for so long; 0: they are locked again at once */
  loseLock(which: number | 'most' | 'all', away_s?: number): void
  /** The phases of so many satellites jump by cycles, 0.5 too. @param silent the lock indicators do not show it */
  slip(which: number | 'most' | 'all', cycles?: number, silent?: boolean): void
  /** At most so many satellites are received, from so high; undefined: all, from 5°. */
  satellites(most: number | undefined, mask_deg?: number): void
  /** Interference that costs so many dB of C/N0; 0 ends it. @param band left out: all */
  jam(loss_db: number, band?: 'L1' | 'L2'): void
  /** What it says of feigned satellites: 0 unknown, 1 none, 2 indicated, 3 indicated in several ways. */
  spoof(state: 0 | 1 | 2 | 3): void
  antenna(state: 'ok' | 'short' | 'open'): void
  /** The device vanishes, and comes back as after a power cut. */
  unplug(): void
  replug(): void
  /** It restarts by itself: the RAM configuration is lost, in a cold start position and orbits as well. */
  restart(cold?: boolean): void
  /**
   * Another simulated base so many metres to the north sends corrections, through the service `correction-input`; undefined
   * ends it.
   * @param wrong what the position that it announces is wrong by: so is what the receiver makes of them
   * @param stationId 42 unless given
   */
  corrections(away_m: number | undefined, wrong?: { east: number; north: number; up: number }, stationId?: number): void
  /** Each time that the ambiguities are fixed it is to wrong numbers with this probability; the position is then wrong by metres. */
  wrongFix(probability: number, by?: { east: number; north: number; up: number }): void
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
export const simulatedReceiver = defineService<SimulatedReceiver>('simulated-receiver', {
  shape: {
    port: 'value',
    truth: 'value',
    move: 'function',
    sway: 'function',
    still: 'function',
    noise: 'function',
    loseLock: 'function',
    slip: 'function',
    satellites: 'function',
    jam: 'function',
    spoof: 'function',
    antenna: 'function',
    unplug: 'function',
    replug: 'function',
    restart: 'function',
    corrections: 'function',
    wrongFix: 'function',
    nak: 'function',
    ignore: 'function',
    dropAcks: 'function',
    deafAbove: 'function',
    set: 'function',
    flash: 'function',
    wrongReference: 'function',
    silence: 'function',
    corrupt: 'function',
    value: 'function',
    received: 'value',
    describe: 'function',
  },
})

/** Provided by the plugin simulated-machine: LEDs that are files only. */
export interface SimulatedLeds {
  /** Makes them and resolves with their folder, which is as `/sys/class/leds`. */
  folder(): Promise<string>
}
export const simulatedLeds = defineService<SimulatedLeds>('simulated-leds', { shape: { folder: 'function' } })
