/** Provided by rtcm-in: corrections of another station. */
import { defineService } from '../token.js'

/** Input for corrections of another station, over any transport. */
export interface CorrectionInput {
  /**
   * Checks a packet of corrections and, if accepted, forwards all its frames to the receiver. A packet is rejected if it is not
   * purely RTCM 3 frames, if no corrections are wanted, if another source is active, or if this station sent it.
   * @param packet whole RTCM 3 frames
   * @param remote sender, e.g. `udp 192.168.1.9:4711`: identifies the source; one source is accepted at a time
   * @param address checked against the allow-list, e.g. `192.168.1.9`
   * @returns '' if accepted, else the reason
   */
  take(packet: Uint8Array, remote: string, address: string): string
}
export const correctionInput = defineService<CorrectionInput>('correction-input', { shape: { take: 'function' } })

/** Incoming corrections (`gnss.state.recvrtcm`). */
export interface CorrectionStatus {
  /** `rtcmin=1`: corrections are always accepted, and survey-ins are corrected. The same as `input` `on`. */
  readonly forced: boolean
  /** `rtcmin`: corrections are accepted always (`on`), never (`off`), or while wanted (`auto`). If missing: `auto`, or `on` while `forced`. */
  readonly input?: 'on' | 'off' | 'auto'
  /** Seconds since the newest correction; infinite while there is none. */
  age_s(): number
  /** Correction messages accepted since the service started. */
  readonly count: number
  /** Sender; '' if none. */
  readonly remote: string
  /** Distance to the reference point of the source, metres; undefined until its 1005 or 1006 arrives. */
  readonly distance_m: number | undefined
}
export const correctionStatus = defineService<CorrectionStatus>('correction-status', {
  shape: { forced: 'value', age_s: 'function', count: 'value', remote: 'value', distance_m: 'value' },
})
