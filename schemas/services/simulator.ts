/** State and faults of simulated hardware, for tests and the console. A real station does not use it. */
import type { BytePort } from '../byte-port.js'
import { defineService } from '../token.js'
import type { Ecef } from './receiver.js'

/**
 * Provided by the plugins of simulated receivers: a receiver behind a byte stream, its state and faults, for tests, the
 * console and third-party tests. A *key* is a configuration key of a ZED, or the beginning of a command of another make. A
 * function that a simulated receiver does not have is refused with `RTK_ERR_COMMAND_VALUE`.
 */
export interface SimulatedReceiver {
  /** Serial line of the receiver, used by a receiver plugin with `port=simulator`. Can be opened once at a time. */
  readonly port: BytePort
  /** True position of the antenna. */
  readonly truth: Ecef
  /** Moves the antenna, metres in the local frame. @param over_s duration of the steady move, seconds; 0: at once */
  move(east: number, north: number, up: number, over_s?: number): void
  /** Swings the antenna to both sides, metres. Default: period 2 s, until `still`. Ends at the start position. */
  sway(by: { east: number; north: number; up: number }, period_s?: number, over_s?: number): void
  /** Stops the antenna at its current position. */
  still(): void
  /** Signal conditions: noise of code and phase, slips, multipath, ionosphere, obstructions. */
  noise(name: 'quiet' | 'typical' | 'obstructed'): void
  /** Tracked satellites lose lock: a number, or `most` (80 %). @param away_s seconds until they are received again; 0: relocked at once */
  loseLock(which: number | 'most' | 'all', away_s?: number): void
  /** The phases of some satellites jump by cycles, which may be 0.5. @param silent the lock indicators do not show it */
  slip(which: number | 'most' | 'all', cycles?: number, silent?: boolean): void
  /** Limits the number of received satellites and sets the elevation mask; undefined: all, from 5°. */
  satellites(most: number | undefined, mask_deg?: number): void
  /** Interference that reduces C/N0 by `loss_db`; 0 ends it. @param band omitted: all */
  jam(loss_db: number, band?: 'L1' | 'L2'): void
  /** Reported spoofing state: 0 unknown, 1 none, 2 indicated, 3 multiple indications. */
  spoof(state: 0 | 1 | 2 | 3): void
  antenna(state: 'ok' | 'short' | 'open'): void
  /** The device disappears; `replug` brings it back as after a power cut. */
  unplug(): void
  replug(): void
  /** The receiver restarts unexpectedly and loses its RAM configuration. A cold start also loses position and orbits. */
  restart(cold?: boolean): void
  /**
   * A second simulated base, `away_m` to the north, sends corrections through the service `correction-input`; undefined ends it.
   * @param wrong error of its announced position; the corrected position has the same error
   * @param stationId default 42
   */
  corrections(away_m: number | undefined, wrong?: { east: number; north: number; up: number }, stationId?: number): void
  /** Probability that the ambiguities are fixed to wrong integers; the position is then wrong by metres. */
  wrongFix(probability: number, by?: { east: number; north: number; up: number }): void
  /** Rejects a key, or accepts all again (undefined). */
  nak(key: string | undefined): void
  /** Acknowledges a key but keeps its value, or accepts all again (undefined). */
  ignore(key: string | undefined): void
  /** Every n-th acknowledgement is lost; 0 ends it. */
  dropAcks(every: number): void
  /** The host receives only garbage above this baud rate; 0 ends it. Only on a UART. */
  deafAbove(baud: number): void
  /** Writes a key through another port of the receiver; in flash it takes effect at the next start. */
  set(key: string, value: number, layer?: 'ram' | 'flash'): void
  /** Stores a time mode in flash, with RTCM enabled, as if configured externally; takes effect at the next start. */
  flash(mode: 'rover' | 'survey-in' | { arp: Ecef }): void
  /** Shifts its 1005 in X, metres; 0 ends it. */
  wrongReference(error_m: number): void
  /** The receiver sends nothing and does not answer. */
  silence(on: boolean): void
  /** Corrupts the next RTCM frames. */
  corrupt(frames: number): void
  /** The current or stored value of a key. @throws RangeError for an unknown key */
  value(key: string, layer?: 'ram' | 'bbr' | 'flash'): number | undefined
  /** Total input: bytes, and number of keys written to each layer. Other makes: accepted commands (`ram`), and writes to flash (`flash`). */
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

/** Provided by the plugin simulated-machine: LEDs as plain files. */
export interface SimulatedLeds {
  /** Creates them and resolves with their folder, laid out like `/sys/class/leds`. */
  folder(): Promise<string>
}
export const simulatedLeds = defineService<SimulatedLeds>('simulated-leds', { shape: { folder: 'function' } })
