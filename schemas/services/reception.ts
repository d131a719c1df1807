/** Provided by gnss: the station's assessment of the reception, as in the document. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { AntennaStatus, Jamming, ReceiverOutput, Spoofing } from './receiver.js'

/** Quality of the reception. Values are `unknown` or undefined if the receiver does not report them, or is disconnected. */
export interface Reception {
  readonly antenna: AntennaStatus
  /** Last report for the worst band. */
  readonly jamming: Jamming
  /** Interference of `warning` or `critical`, for several seconds, or until a moment ago. */
  readonly interfered: boolean | undefined
  /** Interference too strong for the receiver, for several seconds, or until a moment ago. */
  readonly jammed: boolean | undefined
  readonly spoofing: Spoofing
  /** Several consecutive epochs showed signs of spoofed satellites; cleared after a minute without. */
  readonly spoofed: boolean | undefined
  /** Share of the carrier-phase observations of the last 5 minutes before which the signal had lost lock, 0 to 1. */
  readonly slips: number | undefined
  readonly satellitesUsed: number | undefined
  readonly satellitesVisible: number | undefined
  /** Why an operator option (`antennaHold`, `spoofedHold`) holds RTCM back; '' if not. */
  readonly held: '' | 'antenna' | 'spoofed'
  /** `antenna`, `interfered`, `jammed`, `spoofed`, `held` or the state of the receiver changed. */
  readonly onState: Event<void>
}
export const reception = defineService<Reception>('reception')

/** Settings for every receiver of the station, provided by gnss. */
export interface ReceiverSettings {
  /** `gnss-station-id`: sent in all RTCM messages. */
  readonly stationId: number
  /** `gnss-recvrtcm-max-age`: maximum age of corrections. */
  readonly correctionMaxAge_s: number
  /** Satellites and messages that a person chose; missing members are as the receiver's plugin has them. */
  readonly output?: ReceiverOutput
  /** One of them changed. */
  readonly onChange: Event<void>
}
export const receiverSettings = defineService<ReceiverSettings>('receiver-settings')
