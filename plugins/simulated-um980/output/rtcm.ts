/** The RTCM of an epoch, in the order and with the peculiarities of the recording unicore-um980-raw-cross. */
import { type Constellation, encodeMsm, encodeRtcm, knownLeap_s, msmEpochTime, msmType } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Epoch, glonassInfo, msmObservations, type Track } from 'rtk-base/simulation'
import { maskOf } from '../sky.js'

export interface RtcmInput {
  readonly epoch: Epoch
  /** Satellites above the mask. */
  readonly tracks: readonly Track[]
  readonly stationId: number
  /** Undefined: no 1005 and 1006. */
  readonly arp: Ecef | undefined
  /** MASK RTCMCN0: weaker signals are left out. */
  readonly least_dbhz: number
  /** CONFIG BASEANTENNAMODEL. */
  readonly antenna: { readonly name: string; readonly serial: string; readonly setup: number }
  due(type: number): boolean
}

/** QZSS and NavIC have no satellites in this sky: their messages are sent empty. */
const order: readonly Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'QZSS', 'BeiDou', 'NavIC']
/** Of an MSM: satellites times signals. */
const mostPairs = 64
/** The code of weaker signals is measured, but not their phase. */
const phaseFrom_dbhz = 26

export function um980Rtcm(input: RtcmInput): Uint8Array[] {
  return [...stationMessages(input), ...observations(input)]
}

function stationMessages({ stationId, arp, antenna, due }: RtcmInput): Uint8Array[] {
  const frames: Uint8Array[] = []
  if (arp) {
    const reference = {
      ...{ stationId, itrfYear: 0, gps: true, glonass: true, galileo: true, virtual: false },
      ...{ singleOscillator: true, quarterCycle: 0, x: arp.x, y: arp.y, z: arp.z },
    }
    if (due(1005)) frames.push(encodeRtcm({ type: 1005, ...reference }))
    if (due(1006)) frames.push(encodeRtcm({ type: 1006, ...reference, antennaHeight_m: 0 }))
  }
  const descriptor = { stationId, antennaDescriptor: antenna.name, antennaSetupId: antenna.setup }
  if (due(1007)) frames.push(encodeRtcm({ type: 1007, ...descriptor }))
  if (due(1033)) {
    const receiver = { receiverType: 'UM980', receiverFirmware: 'R4.10Build17548', receiverSerial: '' }
    frames.push(encodeRtcm({ type: 1033, ...descriptor, antennaSerial: antenna.serial, ...receiver }))
  }
  if (due(1230)) {
    const biases_m = { l1ca: 0, l1p: 0, l2ca: 0, l2p: 0 }
    frames.push(encodeRtcm({ type: 1230, stationId, biasesAligned: true, biases_m }))
  }
  return frames
}

function observations({ epoch, tracks, stationId, least_dbhz, due }: RtcmInput): Uint8Array[] {
  const planned = order.flatMap((name) => {
    const own = tracks.filter(({ sight }) => sight.constellation.name === name)
    return ([4, 7] as const).flatMap((kind) => {
      const type = msmType(name, kind)
      return due(type) ? inParts(own, maskOf(name).length).map((part) => ({ name, type, part })) : []
    })
  })
  return planned.map(({ name, type, part }, i) =>
    encodeMsm(
      {
        type,
        stationId,
        epochTime: msmEpochTime(name, epoch.tow_ms, knownLeap_s),
        multiple: i < planned.length - 1,
        clockSteering: 1,
        observations: part.flatMap((track) => cells(track, epoch, type % 10 === 7, least_dbhz)),
        // The others have 0, not the 15 of "unknown".
        info: {
          ...Object.fromEntries(part.map(({ sight }) => [sight.svId, 0])),
          ...(name === 'GLONASS' && glonassInfo(part)),
        },
      },
      { signals: part.length > 0 ? maskOf(name) : [], outOfRange: 'invalid' },
    ),
  )
}

/** As many satellites in each as fit into the mask with all signals of the constellation, in ascending order. */
function inParts(tracks: readonly Track[], signals: number): Track[][] {
  const most = Math.floor(mostPairs / Math.max(1, signals))
  const rest = tracks.toSorted((p, q) => p.sight.svId - q.sight.svId)
  const parts: Track[][] = []
  do parts.push(rest.splice(0, most))
  while (rest.length > 0)
  return parts
}

function cells(track: Track, epoch: Epoch, fine: boolean, least_dbhz: number) {
  return msmObservations(track, epoch, fine)
    .filter(({ cnr_dbhz = 0 }) => cnr_dbhz >= least_dbhz)
    .map((cell) => {
      const { cnr_dbhz = 0, rate_mps = 0 } = cell
      // The rate has the sign of the Doppler: in the recording it falls while the range grows.
      const measured = { ...cell, rate_mps: -rate_mps }
      return cnr_dbhz < phaseFrom_dbhz ? { ...measured, phase_m: undefined, lock: 0 } : measured
    })
}
