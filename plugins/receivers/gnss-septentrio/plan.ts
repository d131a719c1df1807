/** A base as commands of the receiver. Pure. */
import { type BaseSettings, tracks } from 'rtk-base/link'
import type { ReceiverTarget } from 'rtk-base/services'

const blocks = [
  ...['MeasEpoch', 'PVTCartesian', 'PosCovCartesian', 'ChannelStatus', 'ReceiverStatus'],
  ...['ReceiverTime', 'RFStatus', 'SatVisibility'],
]
/** For the station's own use. */
const ephemerides = [1019, 1020, 1042, 1044, 1046]
const ephemerides_s = 30
const msmOf = { gps: 107, glonass: 108, galileo: 109, qzss: 111, beidou: 112 } as const
const systemOf = { gps: 'GPS', glonass: 'GLONASS', galileo: 'GALILEO', qzss: 'QZSS', beidou: 'BEIDOU' } as const
const names = Object.keys(msmOf) as (keyof typeof msmOf)[]

/** Everything that it sends and tracks; nothing is saved. @param port at which it answers, such as `USB1` */
export function outputCommands(settings: BaseSettings, stationId: number, port: string): string[] {
  const { msm, observationInterval_s, referenceInterval_s, biasInterval_s, constellations } = settings
  const tracked = names.filter((name) => tracks(settings, name))
  const types = [
    ...[1005, ...tracked.map((name) => msmOf[name] * 10 + msm)],
    ...(tracks(settings, 'glonass') ? [1230] : []),
    ...ephemerides,
  ]
  const rtcm = (list: readonly number[]) => list.map((type) => `RTCM${type}`).join('+')
  return [
    `setDataInOut, ${port}, Auto, RTCMv3+SBF`,
    ...(constellations === undefined
      ? []
      : [`setSatelliteTracking, ${tracked.map((name) => systemOf[name]).join('+')}`]),
    ...(settings.elevationMask_deg === undefined ? [] : [`setElevationMask, PVT, ${settings.elevationMask_deg}`]),
    `setSBFOutput, Stream1, ${port}, ${blocks.join('+')}, sec1`,
    `setRTCMv3Formatting, ${stationId}`,
    `setRTCMv3Interval, RTCM1005|6, ${referenceInterval_s}`,
    `setRTCMv3Interval, MSM${msm}, ${observationInterval_s}`,
    `setRTCMv3Interval, RTCM1230, ${biasInterval_s}`,
    `setRTCMv3Interval, ${rtcm(ephemerides)}, ${ephemerides_s}`,
    `setRTCMv3Output, ${port}, ${rtcm(types)}`,
  ]
}

/** Never `auto`: its own position of a few minutes has no limit of accuracy. */
export function modeCommands(target: ReceiverTarget): string[] {
  // As from the factory: the filter of a still antenna would hide that it moves.
  if (target.mode === 'rover') return ['setReceiverDynamics, Moderate, Automotive', 'setPVTMode, Rover, all, auto']
  const position = [target.arp.x, target.arp.y, target.arp.z].map((axis) => axis.toFixed(4)).join(', ')
  return [
    'setReceiverDynamics, Low, Static',
    `setStaticPosCartesian, Cartesian1, ${position}, WGS84`,
    'setPVTMode, Static, , Cartesian1',
  ]
}
