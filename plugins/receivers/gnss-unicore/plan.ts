/** A base as commands of the receiver. Pure. */
import { type BaseSettings, tracks } from 'rtk-base/link'
import type { ReceiverTarget } from 'rtk-base/services'

/** One satellite a second each; for the station's own use. */
const ephemerides = [1019, 1020, 1042, 1044, 1046]

const msmOf = { gps: 107, glonass: 108, galileo: 109, qzss: 111, beidou: 112 } as const

/**
 * UM982: signals of one antenna on all bands. Everything else: all signals of the UM980.
 * @see receivers' command manual, CONFIG SIGNALGROUP
 */
export const signalGroupOf = (module: string): string => (module.startsWith('UM982') ? '7 0' : '2')

/** The command that makes it the target. Never `TIME`: its own survey has no limits, and at a power-up it takes an old position for the new one. */
export function modeCommand(target: ReceiverTarget, stationId: number): string {
  // As a base it would force the static dynamics on the survey.
  if (target.mode === 'rover') return 'MODE ROVER SURVEY'
  // ECEF: heights would be above the sea without CONFIG UNDULATION 0.
  return `MODE BASE ${stationId} ${[target.arp.x, target.arp.y, target.arp.z].map((axis) => axis.toFixed(4)).join(' ')}`
}

/** Everything that it sends, on the port that the commands come by. Old outputs are cleared first: without that some commands get no answer. */
export function outputCommands(settings: BaseSettings): string[] {
  const { msm, observationInterval_s, referenceInterval_s, biasInterval_s } = settings
  const observations = (Object.keys(msmOf) as (keyof typeof msmOf)[])
    .filter((name) => tracks(settings, name))
    .map((name) => `RTCM${msmOf[name]}${msm} ${observationInterval_s}`)
  const mask = settings.elevationMask_deg
  return [
    'UNLOG',
    ...(mask === undefined ? [] : [`MASK ${mask}`]),
    ...['BESTNAVB 1', 'RECTIMEB 1', 'SATSINFOB 1', 'BESTSATB 1'],
    `RTCM1005 ${referenceInterval_s}`,
    ...observations,
    ...(tracks(settings, 'glonass') ? [`RTCM1230 ${biasInterval_s}`] : []),
    ...ephemerides.map((type) => `RTCM${type} 1`),
  ]
}
