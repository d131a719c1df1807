import type { Receiver, ReceiverCapabilities } from 'rtk-base/services'
import { rebootZed } from './commands.js'
import { takenOutput } from './configure/output.js'
import type { ZedReceiver } from './zed.js'

const can: ReceiverCapabilities = {
  ownSurvey: true,
  fixedPosition: 'ecef',
  settings: 'volatile',
  restarts: false,
  stationId: true,
  antennaDescriptor: false,
  reports: new Set([
    'antenna',
    'corrections',
    'interference',
    'residuals',
    'satellites',
    'second-fix',
    'signals',
    'spoofing',
  ]),
  rawObservations: ['RXM-RAWX', 'RXM-SFRBX'],
  intervals_s: [1, 2, 5, 10, 15, 30],
  output: takenOutput,
}

/** Older firmware, and the X20P. */
const canWithoutNav2: ReceiverCapabilities = {
  ...can,
  reports: new Set([...can.reports].filter((report) => report !== 'second-fix')),
}

/** The service `receiver` for other plugins. */
export function receiverService(zed: ZedReceiver): Receiver {
  const { facts, events, upkeep } = zed
  return {
    get can() {
      return facts.firmware?.nav2 === false ? canWithoutNav2 : can
    },
    get link() {
      return zed.link
    },
    get place() {
      return { port: zed.portName, reason: zed.linkReason, advice: zed.advice }
    },
    ...(zed.isRecording && {
      recording: {
        get ended() {
          return zed.ended
        },
        get isEmpty() {
          return !zed.heard
        },
      },
    }),
    get mode() {
      return upkeep.mode
    },
    get identity() {
      return facts.identity
    },
    get rejected() {
      return zed.rejected
    },
    get fix() {
      return facts.fix
    },
    get corruptRtcm() {
      return zed.corruptRtcm
    },
    resetCounters: () => zed.resetCounters(),
    get configured() {
      return upkeep.configured
    },
    get sinceReset_ms() {
      return zed.link === 'offline' ? undefined : upkeep.sinceReset_ms
    },
    get startTimes() {
      return facts.startTimes
    },
    // In listening mode the station ID is unknown.
    get stationId() {
      return (zed.listening ? facts.stationId : undefined) ?? zed.stationId
    },
    get intervals_s() {
      return zed.intervals_s
    },
    get output() {
      return zed.output
    },
    configure: (target) => zed.configure(target),
    readTarget: async () => (zed.listening || zed.link === 'offline' ? undefined : upkeep.read()),
    restart: async () => void rebootZed(zed),
    resetAmbiguities: () => upkeep.resetAmbiguities(),
    sendCorrections: (frames) => zed.link === 'up' && zed.write(frames),
    onRtcm: events.rtcm.on,
    onFix: events.fix.on,
    onState: events.state.on,
    onTime: events.time.on,
    onResiduals: events.residuals.on,
    onSecondFix: events.secondFix.on,
    onWarning: events.warning.on,
    onSatellites: events.satellites.on,
    onAntenna: events.antenna.on,
    onInterference: events.interference.on,
    onSpoofing: events.spoofing.on,
    onCorrection: events.correction.on,
    onEphemeris: events.ephemeris.on,
    get satellites() {
      return facts.sky
    },
    get expectedSignals() {
      return zed.expectedSignals
    },
    get ownSurvey() {
      return facts.survey
    },
  }
}
