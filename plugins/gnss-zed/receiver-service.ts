import type { Receiver } from 'rtk-base/services'
import type { ZedReceiver } from './zed.js'

/** What other plugins see of the receiver. */
export function receiverService(zed: ZedReceiver): Receiver {
  const { facts, events, upkeep } = zed
  return {
    get link() {
      return zed.link
    },
    get mode() {
      return upkeep.mode
    },
    get identity() {
      return facts.identity
    },
    get fix() {
      return facts.fix
    },
    get corruptRtcm() {
      return zed.corruptRtcm
    },
    get configured() {
      return upkeep.configured
    },
    get sinceReset_ms() {
      return zed.link === 'offline' ? undefined : upkeep.sinceReset_ms
    },
    // One that is only listened to has whatever station ID someone gave it.
    get stationId() {
      return (zed.listening ? facts.arp?.stationId : undefined) ?? zed.stationId
    },
    intervals_s: zed.intervals_s,
    configure: (target) => upkeep.configure(target),
    readTarget: async () => (zed.listening || zed.link === 'offline' ? undefined : upkeep.read()),
    resetAmbiguities: () => upkeep.resetAmbiguities(),
    sendCorrections: (frames) => zed.link === 'up' && zed.write(frames),
    onRtcm: events.rtcm.on,
    onFix: events.fix.on,
    onState: events.state.on,
    onResiduals: events.residuals.on,
    onSecondFix: events.secondFix.on,
    onWarning: events.warning.on,
    onSatellites: events.satellites.on,
    get satellites() {
      return facts.sky
    },
    get antenna() {
      return facts.antenna.report.status
    },
    get radio() {
      return zed.radio
    },
    onRadio: events.radio.on,
  }
}
