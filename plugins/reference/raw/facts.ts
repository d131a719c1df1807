import { antennaCode, offsetEnu } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { StationFacts } from 'rtk-base/rinex'
import { procedureStatus, receiver, station } from 'rtk-base/services'

/** As entered; an IGS code of 20 characters, or ''. */
export interface OwnAntenna {
  readonly type: string
  readonly serial: string
}

const valuesOf = (ctx: PluginContext) =>
  new Map(
    ctx.services
      .use(station)
      .parameters()
      .map(({ name, value }) => [name, value]),
  )
const textIn = (values: ReadonlyMap<string, unknown>, name: string) => {
  const value = values.get(name)
  return typeof value === 'string' ? value : ''
}

export function ownAntenna(ctx: PluginContext): OwnAntenna {
  const values = valuesOf(ctx)
  return {
    type: antennaCode(textIn(values, 'gnss-antenna-descriptor')),
    serial: textIn(values, 'gnss-antenna-serial'),
  }
}

/**
 * Facts of the station for the header of a RINEX file: from its parameters, its receiver and its reference.
 * @param isCalibrated whether the table of antennas has the station's; undefined: there is no table
 */
export function stationFacts(ctx: PluginContext, marker: string, isCalibrated: boolean | undefined): StationFacts {
  const own = ctx.services.use(station)
  const height_m = Number(valuesOf(ctx).get('gnss-antenna-height') ?? 0)
  const { firmware = '', maker = '', module = '', serial = '' } = ctx.services.find(receiver)?.identity ?? {}
  const reference = ctx.services.find(procedureStatus)?.reference
  // The reference is that of the antenna reference point; the position in the header is that of the marker.
  const position = reference && offsetEnu(reference, { east: 0, north: 0, up: -height_m })
  const antenna = ownAntenna(ctx)
  return {
    marker: marker || own.serial,
    receiver: { serial, type: `${maker} ${module}`.trim() || 'UNKNOWN', firmware },
    antenna: { serial: antenna.serial, type: antenna.type || 'UNKNOWN         NONE' },
    delta_m: { up: height_m, east: 0, north: 0 },
    ...(position && { position }),
    comments: [
      ...(antenna.type ? [] : ['The antenna is not known: set gnss-antenna-descriptor']),
      ...(isCalibrated === false ? ['The table of antennas does not have this antenna'] : []),
      ...(reference ? [] : ['The station has no reference position']),
    ],
  }
}
