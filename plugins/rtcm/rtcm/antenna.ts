/** The antenna parameters, and the messages that announce them to rovers: 1008, 1033, and 1006 instead of 1005. */
import { antennaCode, decodeRtcm, encodeRtcm } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, RtcmFrame } from 'rtk-base/services'
import { Type } from 'typebox'

/** The longest text in an RTCM message (DF029, DF032, DF227 and their like). */
const longest = 31

export interface Antenna {
  /** As the IGS names it, e.g. `TRM57971.00     NONE`; empty: nothing is sent. */
  descriptor: string
  serial: string
  /** The height of the antenna reference point above the marker, metres; 0: none. */
  height: number
}

const text = (description: string) =>
  Type.String({
    maxLength: longest,
    description: `${description}, at most ${longest} printable ASCII characters`,
  })

const notPrintable = /[^\x20-\x7e]/

/** The change parameters `gnss-antenna-*`. @param changed called after one was changed */
export function defineAntenna({ config }: Pick<PluginContext, 'config'>, changed: () => void): () => Antenna {
  const descriptor = config.define('gnss-antenna-descriptor', text('IGS name of the antenna'), {
    default: '',
    title: 'Antenna: IGS name',
  })
  const serial = config.define('gnss-antenna-serial', text('Serial number of the antenna'), {
    default: '',
    title: 'Antenna: serial number',
  })
  const height = config.define(
    'gnss-antenna-height',
    Type.Number({
      minimum: 0,
      maximum: 6.5535,
      description: 'Height of the antenna reference point above the marker, metres; 0: none',
    }),
    { default: 0, title: 'Antenna: height above the marker, m' },
  )
  for (const { name } of [descriptor, serial]) {
    config.rule([name], (get) =>
      notPrintable.test(get(name) as string) ? `${name} may hold printable ASCII characters only` : undefined,
    )
  }
  config.rule([descriptor.name, serial.name], (get) =>
    get(serial.name) !== '' && get(descriptor.name) === ''
      ? 'gnss-antenna-serial needs gnss-antenna-descriptor: set the descriptor, or clear both'
      : undefined,
  )
  config.onChange([descriptor.name, serial.name, height.name], changed)
  return () => ({ descriptor: descriptor.get(), serial: serial.get(), height: height.get() })
}

/** Turns a 1005 into a 1006 with the height. Other frames are returned unchanged. */
export function withHeight(frame: RtcmFrame, height: number): RtcmFrame {
  const message = height > 0 && frame.type === 1005 ? decodeRtcm(frame.bytes) : undefined
  if (message?.type !== 1005) return frame
  return { ...frame, type: 1006, bytes: encodeRtcm({ ...message, type: 1006, antennaHeight_m: height }) }
}

/** An antenna without a calibration: the position is that of its phase centre. */
const noCalibration = 'ADVNULLANTENNA'

/**
 * The antenna of a position of the phase centre: a rover that applied the calibration of the entered one would raise the base by the
 * height of its phase centre, 5 to 15 cm.
 */
export const atPhaseCentre = (antenna: Antenna): Antenna =>
  antenna.descriptor === '' ? antenna : { ...antenna, descriptor: noCalibration, serial: '' }

/** The 1008 and the 1033 of the antenna; none while no descriptor is entered. */
export function antennaMessages(
  { descriptor, serial }: Antenna,
  { module, firmware, serial: receiverSerial }: Receiver['identity'],
  stationId: number,
): Uint8Array[] {
  if (descriptor === '') return []
  const antenna = {
    stationId,
    antennaDescriptor: fitting(inColumns(descriptor)),
    antennaSetupId: 0,
    antennaSerial: fitting(serial),
  }
  return [
    encodeRtcm({ type: 1008, ...antenna }),
    encodeRtcm({
      type: 1033,
      ...antenna,
      receiverType: fitting(module),
      receiverFirmware: fitting(firmware),
      receiverSerial: fitting(receiverSerial),
    }),
  ]
}

/** A name and a radome in the columns of the IGS, by which rovers look the antenna up; anything else as it was entered. */
const inColumns = (descriptor: string): string =>
  (/\s/.test(descriptor.trim()) && antennaCode(descriptor)) || descriptor

/** As much of a text as a message can hold. */
function fitting(value: string): string {
  return value.replaceAll(new RegExp(notPrintable, 'g'), '').slice(0, longest)
}
