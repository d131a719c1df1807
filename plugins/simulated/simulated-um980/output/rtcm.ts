/** The RTCM of an epoch, in the order and with the peculiarities of the recording unicore-um980-raw-cross. */
import { type Constellation, encodeRtcm, type MsmObservation } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Epoch, ephemerisFrame, ephemerisType, msmFrames, type Track } from 'rtk-base/simulation'
import { um980Sky } from '../sky.js'

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
/** The code of weaker signals is measured, but not their phase. */
const phaseFrom_dbhz = 26

export function um980Rtcm(input: RtcmInput): Uint8Array[] {
  const { epoch, tracks, stationId, least_dbhz, due } = input
  return [
    ...stationMessages(input),
    ...msmFrames({
      ...{ epoch, tracks, stationId, order, models: um980Sky, clockSteering: 1, due },
      cells: (observations) => cells(observations, least_dbhz),
    }),
    ...ephemerides(input),
  ]
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

/** One satellite at a time, in turn. */
function ephemerides({ epoch, tracks, due }: RtcmInput): Uint8Array[] {
  return [1019, 1042, 1046].filter(due).flatMap((type) => {
    const own = tracks.filter(({ sight }) => ephemerisType(sight) === type)
    const next = own[Math.round(epoch.tow_ms / 1000) % Math.max(1, own.length)]
    return (next && ephemerisFrame(next.sight, epoch.gps_s)) ?? []
  })
}

/** Weaker signals than the limit are left out. */
function cells(observations: MsmObservation[], least_dbhz: number): MsmObservation[] {
  return observations
    .filter(({ cnr_dbhz = 0 }) => cnr_dbhz >= least_dbhz)
    .map((cell) => {
      const { cnr_dbhz = 0, rate_mps = 0 } = cell
      // The rate has the sign of the Doppler: in the recording it falls while the range grows.
      const measured = { ...cell, rate_mps: -rate_mps }
      return cnr_dbhz < phaseFrom_dbhz ? { ...measured, phase_m: undefined, lock: 0 } : measured
    })
}
