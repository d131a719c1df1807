import { offsetEnu } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { StationFacts } from 'rtk-base/rinex'
import { procedureStatus, receiver, station } from 'rtk-base/services'

/** What the header of a RINEX file says of the station: from its parameters, its receiver and its reference. */
export function stationFacts(ctx: PluginContext, marker: string): StationFacts {
  const own = ctx.services.use(station)
  const values = new Map(own.parameters().map(({ name, value }) => [name, value]))
  const text = (name: string) => (typeof values.get(name) === 'string' ? (values.get(name) as string) : '')
  const height_m = Number(values.get('gnss-antenna-height') ?? 0)
  const { firmware = '', maker = '', module = '', serial = '' } = ctx.services.find(receiver)?.identity ?? {}
  const reference = ctx.services.find(procedureStatus)?.reference
  // The reference is that of the antenna reference point; the position in the header is that of the marker.
  const position = reference && offsetEnu(reference, { east: 0, north: 0, up: -height_m })
  const antenna = igsCode(text('gnss-antenna-descriptor'))
  return {
    marker: marker || own.serial,
    receiver: { serial, type: `${maker} ${module}`.trim() || 'UNKNOWN', firmware },
    antenna: { serial: text('gnss-antenna-serial'), type: antenna || 'UNKNOWN         NONE' },
    delta_m: { up: height_m, east: 0, north: 0 },
    ...(position && { position }),
    comments: [
      ...(antenna ? [] : ['The antenna is not known: set gnss-antenna-descriptor']),
      ...(reference ? [] : ['The station has no reference position']),
    ],
  }
}

/** Model and radome in the columns of the IGS code, 16 and 4: services find the calibration of the antenna by it. */
function igsCode(typed: string): string {
  const [model = '', radome = 'NONE'] = typed.trim().split(/\s+/)
  return model === '' ? '' : `${model.slice(0, 16).padEnd(16)}${radome.slice(0, 4).padEnd(4)}`
}
