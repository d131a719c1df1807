import type { EventSource, PluginContext } from 'rtk-base/plugin'
import type { ReceiverFix, ReceiverRadio, RtcmFrame, SatelliteEpoch, SatelliteResidual } from 'rtk-base/services'

/** The events of the service `receiver`. */
export interface ReceiverEvents {
  readonly rtcm: EventSource<RtcmFrame>
  readonly fix: EventSource<ReceiverFix>
  readonly state: EventSource<void>
  readonly residuals: EventSource<readonly SatelliteResidual[]>
  readonly secondFix: EventSource<ReceiverFix>
  readonly warning: EventSource<string>
  readonly satellites: EventSource<SatelliteEpoch>
  readonly radio: EventSource<ReceiverRadio>
}

export function receiverEvents({ event }: PluginContext): ReceiverEvents {
  return {
    rtcm: event(),
    fix: event(),
    state: event(),
    residuals: event(),
    secondFix: event(),
    warning: event(),
    satellites: event(),
    radio: event(),
  }
}
