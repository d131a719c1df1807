import type { EventSource, PluginContext } from 'rtk-base/plugin'
import type {
  AntennaReading,
  BandReading,
  ReceiverFix,
  RtcmFrame,
  SatelliteEpoch,
  SatelliteResidual,
  Spoofing,
} from 'rtk-base/services'

/** The events of the service `receiver`. */
export interface ReceiverEvents {
  readonly rtcm: EventSource<RtcmFrame>
  readonly fix: EventSource<ReceiverFix>
  readonly state: EventSource<void>
  readonly time: EventSource<number>
  readonly residuals: EventSource<readonly SatelliteResidual[]>
  readonly secondFix: EventSource<ReceiverFix>
  readonly warning: EventSource<string>
  readonly satellites: EventSource<SatelliteEpoch>
  readonly antenna: EventSource<AntennaReading>
  readonly interference: EventSource<readonly BandReading[]>
  readonly spoofing: EventSource<Spoofing>
  readonly correction: EventSource<{ stationId: number }>
  readonly ephemeris: EventSource<Uint8Array>
}

export function receiverEvents({ event }: PluginContext): ReceiverEvents {
  return {
    rtcm: event(),
    fix: event(),
    state: event(),
    time: event(),
    residuals: event(),
    secondFix: event(),
    warning: event(),
    satellites: event(),
    antenna: event(),
    interference: event(),
    spoofing: event(),
    correction: event(),
    ephemeris: event(),
  }
}
