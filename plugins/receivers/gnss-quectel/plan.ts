/** A base as settings of the receiver. Pure. */
import { type BaseSettings, tracks } from 'rtk-base/link'
import type { ReceiverTarget } from 'rtk-base/services'
import { baseMode } from './sentences.js'

/** Ephemerides of all satellites come this often; for the station's own use. */
const ephemerides_s = 30

/** A setting that has an effect only after it is saved and the receiver has restarted. */
export interface StoredSetting {
  /** The command, which reads with `R` and writes with `W` and values. */
  readonly name: string
  /** The values that are wanted, of those that the receiver has; undefined: as it is. */
  wanted(held: readonly string[]): readonly (string | undefined)[]
}

/** The values to write for a setting that differs; undefined: it does not differ. */
export function changed({ wanted }: StoredSetting, held: readonly string[]): readonly string[] | undefined {
  const values = wanted(held)
  const isSame = (value: string | undefined, index: number) =>
    value === undefined || value === held[index] || Number(value) === Number(held[index])
  return values.every(isSame) ? undefined : values.map((value, index) => value ?? held[index] ?? '')
}

const ecef = (axis: number) => axis.toFixed(4)

/** Settings in flash, in the order of writing: the base mode sets the MSM type back to 4. */
export function storedSettings(target: ReceiverTarget, settings: BaseSettings): StoredSetting[] {
  const { constellations, msm } = settings
  const isOn = (name: Parameters<typeof tracks>[1]) => (tracks(settings, name) ? '1' : '0')
  // MSM type, type of ephemerides (2: in an interval), the interval.
  const rtcm = [String(msm), undefined, undefined, undefined, undefined, '2', String(ephemerides_s)]
  const own: StoredSetting[] =
    target.mode === 'rover'
      ? [
          // A stored position has no effect in this mode. Every message comes once an epoch, so an epoch is a second.
          { name: 'PQTMCFGRCVRMODE', wanted: () => ['1'] },
          { name: 'PQTMCFGFIXRATE', wanted: () => ['1000'] },
        ]
      : [
          { name: 'PQTMCFGRCVRMODE', wanted: () => [baseMode] },
          // Never 1: its own survey states no accuracy that it keeps to.
          {
            name: 'PQTMCFGSVIN',
            wanted: () => ['2', '0', '0', ...[target.arp.x, target.arp.y, target.arp.z].map(ecef)],
          },
        ]
  return [
    ...own,
    { name: 'PQTMCFGRTCM', wanted: () => rtcm },
    ...(constellations === undefined
      ? []
      : [
          {
            name: 'PQTMCFGCNST',
            wanted: () => [...(['gps', 'glonass', 'galileo', 'beidou', 'qzss'] as const).map(isOn), undefined],
          },
        ]),
  ]
}

const rate = (message: string, every: number, version = '') => `PQTMCFGMSGRATE,W,${message},${every}${version}`

const position = [rate('PQTMPVT', 1, ',1'), rate('PQTMEPE', 1, ',2'), rate('PQTMEOE', 1, ',1')]

/** Enables the messages that show within some seconds whether the receiver is a rover or a base, and where. */
export const evidenceCommands = [...position, rate('RTCM3-1005', 1)]

const msmOf = { gps: '107X', glonass: '108X', galileo: '109X', qzss: '111X', beidou: '112X' } as const

/** Settings with an effect at once: all messages that the receiver sends on the port by which the commands come. */
export function outputCommands(settings: BaseSettings, stationId: number): string[] {
  const { observationInterval_s, referenceInterval_s, biasInterval_s, elevationMask_deg } = settings
  const observations = (Object.keys(msmOf) as (keyof typeof msmOf)[]).map((name) =>
    rate(`RTCM3-${msmOf[name]}`, tracks(settings, name) ? observationInterval_s : 0, ',0'),
  )
  return [
    'PQTMCLRMSG',
    `PQTMCFGRSID,W,${stationId}`,
    ...(elevationMask_deg === undefined ? [] : [`PQTMCFGELETHD,W,${elevationMask_deg.toFixed(1)}`]),
    ...position,
    ...[rate('GSV', 1), rate('GSA', 1), rate('RTCM3-1005', referenceInterval_s)],
    ...observations,
    ...(tracks(settings, 'glonass') ? [rate('RTCM3-1230', biasInterval_s)] : []),
    ...[1019, 1020, 1042, 1044, 1046].map((type) => rate(`RTCM3-${type}`, 1)),
  ]
}
