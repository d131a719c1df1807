/** Provided by gnss: what the station makes of what its receiver says. For everyone who decides by it; the document shows the same. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { AntennaStatus, Jamming, Spoofing } from './receiver.js'

/** How the signals are received. Where the receiver does not say, or is away, it is `unknown` or undefined. */
export interface Reception {
  readonly antenna: AntennaStatus
  /** Of the worst band, as it was reported last. */
  readonly jamming: Jamming
  /** Interference is so strong that the receiver cannot work with it, for some seconds or until a moment ago. */
  readonly jammed: boolean | undefined
  readonly spoofing: Spoofing
  /** Several epochs in a row showed signs of feigned satellites; over after a minute without. */
  readonly spoofed: boolean | undefined
  /** Share of the phases that lost lock in the last 5 minutes, 0 to 1. */
  readonly slips: number | undefined
  readonly satellitesUsed: number | undefined
  readonly satellitesVisible: number | undefined
  /** Why RTCM is held back by an option of the operator (`antennaHold`, `spoofedHold`); '' it is not. */
  readonly held: '' | 'antenna' | 'spoofed'
  /** `antenna`, `jammed`, `spoofed` or `held` changed, or the state of the receiver. */
  readonly onState: Event<void>
}
export const reception = defineService<Reception>('reception')

/** What every receiver of the station is told, provided by gnss. */
export interface ReceiverSettings {
  /** `gnss-station-id`: in all RTCM messages. */
  readonly stationId: number
  /** `gnss-recvrtcm-max-age`: how old corrections may be. */
  readonly correctionMaxAge_s: number
  /** One of them changed. */
  readonly onChange: Event<void>
}
export const receiverSettings = defineService<ReceiverSettings>('receiver-settings')
