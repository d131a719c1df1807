/** Provided by rtcm-in: corrections of another station. */
import { defineService } from '../token.js'

/** Where corrections of another station come in, whatever carries them. */
export interface CorrectionInput {
  /**
   * Judges a packet of corrections, and forwards its frames to the receiver when it is accepted: all of them or none. Rejected are a
   * packet that is not RTCM 3 frames and nothing else, one that comes while no corrections are wanted, one of another source than
   * the present one, and what this station itself has sent.
   * @param packet whole RTCM 3 frames
   * @param remote who sent it, e.g. `udp 192.168.1.9:4711`: one source is accepted at a time, identified by this
   * @param address what the allow-list goes by, e.g. `192.168.1.9`
   * @returns '' when it was accepted, else why not
   */
  take(packet: Uint8Array, remote: string, address: string): string
}
export const correctionInput = defineService<CorrectionInput>('correction-input', { shape: { take: 'function' } })

/** The corrections that come in (`gnss.state.recvrtcm`). */
export interface CorrectionStatus {
  /** `rtcmin=1`: corrections are accepted, and survey-ins are corrected, whatever else is said. The same as `input` `on`. */
  readonly forced: boolean
  /** `rtcmin`: `on` all are taken, `off` none, `auto` while they are wanted. A provider without it is `auto`, or `on` while `forced`. */
  readonly input?: 'on' | 'off' | 'auto'
  /** Seconds since the newest correction; infinite while there is none. */
  age_s(): number
  /** Correction messages accepted since the service started. */
  readonly count: number
  /** Who sends them; '' nobody. */
  readonly remote: string
  /** Distance to the reference point of the source, metres; undefined until its 1005 or 1006 came. */
  readonly distance_m: number | undefined
}
export const correctionStatus = defineService<CorrectionStatus>('correction-status', {
  shape: { forced: 'value', age_s: 'function', count: 'value', remote: 'value', distance_m: 'value' },
})
