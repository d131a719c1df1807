import type { EventSource, PluginContext } from 'rtk-base/plugin'
import type { ReceiverFix, RtcmFrame, SatelliteResidual } from 'rtk-base/services'

/** The events of the service `receiver`. */
export interface ReceiverEvents {
  readonly rtcm: EventSource<RtcmFrame>
  readonly fix: EventSource<ReceiverFix>
  readonly state: EventSource<void>
  readonly residuals: EventSource<readonly SatelliteResidual[]>
  readonly secondFix: EventSource<ReceiverFix>
  readonly warning: EventSource<string>
}

export function receiverEvents({ event }: PluginContext): ReceiverEvents {
  return { rtcm: event(), fix: event(), state: event(), residuals: event(), secondFix: event(), warning: event() }
}
