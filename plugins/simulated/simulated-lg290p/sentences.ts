/** Sentences of an LG290P in an epoch, in its order (recorded; before the first fix, and a base that knows its place: assumed). */
import { ecefToGeodetic, encodeNmea } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { Epoch, PvtSolution, Track } from 'rtk-base/simulation'
import { signalsOf, systems } from './sky.js'

export interface SurveyState {
  /** 1: running, 2: done, 0: it does not survey. */
  readonly valid: 0 | 1 | 2
  readonly seconds: number
  readonly wanted_s: number
  readonly mean: Ecef
  readonly acc_m: number
}

export interface SentenceInput {
  readonly epoch: Epoch
  readonly tracks: readonly Track[]
  readonly solution: PvtSolution
  readonly undulation_m: number
  /** Place of the receiver as a base. */
  readonly reference: Ecef | undefined
  readonly survey: SurveyState
}

const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
const leap_s = 18
const geometry = { pdop: '1.06', hdop: '0.65', vdop: '0.84' }
const none = { pdop: '99.99', hdop: '99.99', vdop: '99.99' }

function timeOf({ utc_ms }: Epoch) {
  const at = new Date(utc_ms)
  const [day, month, year] = [two(at.getUTCDate()), two(at.getUTCMonth() + 1), String(at.getUTCFullYear())]
  const milliseconds = String(at.getUTCMilliseconds()).padStart(3, '0')
  const time = `${two(at.getUTCHours())}${two(at.getUTCMinutes())}${two(at.getUTCSeconds())}.${milliseconds}`
  return { time, date: `${year}${month}${day}`, shortDate: `${day}${month}${year.slice(2)}` }
}

/** `1343.91051995,N`. */
function angle(value: number, digits: number, [positive, negative]: readonly [string, string]): string {
  // Rounded before it is split: what is just below a whole degree would have 60 minutes.
  const minutes = Math.round(Math.abs(value) * 60 * 1e8) / 1e8
  const degrees = Math.floor(minutes / 60)
  return `${String(degrees).padStart(digits, '0')}${(minutes - degrees * 60).toFixed(8).padStart(11, '0')},${value < 0 ? negative : positive}`
}

/** Position, undulation and heading as NMEA has them; undefined: no fix. */
function placeOf({ solution, undulation_m, reference }: SentenceInput) {
  const place = solution.position && ecefToGeodetic(reference ?? solution.position)
  if (!place) return undefined
  const { lat, lon, alt } = place
  const text = `${angle(lat, 2, ['N', 'S'])},${angle(lon, 3, ['E', 'W'])}`
  return { lat, lon, text, altMsl: (alt - undulation_m).toFixed(3), undulation: undulation_m.toFixed(3) }
}

const writers: Readonly<Record<string, (input: SentenceInput) => string[]>> = {
  GGA: (input) => {
    const place = placeOf(input)
    const { time } = timeOf(input.epoch)
    const used = two(input.solution.used.length)
    return [
      place
        ? `GNGGA,${time},${place.text},1,${used},${geometry.hdop},${place.altMsl},M,${place.undulation},M,,`
        : `GNGGA,${time},,,,,0,00,${none.hdop},,M,,M,,`,
    ]
  },
  RMC: (input) => {
    const place = placeOf(input)
    const { time, shortDate } = timeOf(input.epoch)
    return [
      place ? `GNRMC,${time},A,${place.text},0.000,,${shortDate},,,A,V` : `GNRMC,${time},V,,,,,,,${shortDate},,,N,V`,
    ]
  },
  GLL: (input) => {
    const place = placeOf(input)
    const { time } = timeOf(input.epoch)
    return [place ? `GNGLL,${place.text},${time},A,A` : `GNGLL,,,,,${time},V,N`]
  },
  VTG: (input) => [placeOf(input) ? 'GNVTG,,T,,M,0.000,N,0.000,K,A' : 'GNVTG,,,,,,,,,N'],
  GSA: ({ solution: { used, position } }) => {
    const { pdop, hdop, vdop } = position ? geometry : none
    return systems.flatMap(({ name, id, add }) => {
      const own = used
        .filter(({ sight }) => sight.constellation.name === name)
        .map(({ sight }) => two(sight.svId + add))
      return inParts(own, 12).map((part) => {
        const places = Array.from({ length: 12 }, (_, i) => part[i] ?? '')
        return ['GNGSA', 'A', position ? 3 : 1, ...places, pdop, hdop, vdop, id].join()
      })
    })
  },
  GSV: ({ tracks }) =>
    systems.flatMap(({ name, talker, add, signals }) => {
      const own = tracks.filter(({ sight }) => sight.constellation.name === name)
      return signals.flatMap((id) => {
        const heard = own.flatMap(({ sight, signals: tracked }) => {
          const at = signalsOf(sight).findIndex(({ gsv }) => gsv === id)
          const { cno_dbhz } = tracked[at] ?? {}
          if (cno_dbhz === undefined) return []
          const azimuth = String(Math.round(sight.azimuth_deg) % 360).padStart(3, '0')
          return [
            [two(sight.svId + add), two(Math.round(sight.elevation_deg)), azimuth, two(Math.round(cno_dbhz))].join(),
          ]
        })
        const parts = inParts(heard, 4)
        return parts.map((part, i) => [`${talker}GSV`, parts.length, i + 1, two(heard.length), ...part, id].join())
      })
    }),
  PQTMSVINSTATUS: ({ epoch: { tow_ms }, survey: { valid, seconds, wanted_s, mean, acc_m } }) => {
    const place = [mean.x, mean.y, mean.z, acc_m].map((value) => value.toFixed(4))
    return [['PQTMSVINSTATUS', 1, tow_ms, valid, '', 11, seconds, wanted_s, ...place].join()]
  },
  PQTMPVT: (input) => {
    const place = placeOf(input)
    const { time, date } = timeOf(input.epoch)
    const used = two(input.solution.used.length)
    // What precedes the first fix is not recorded.
    if (!place) return [`PQTMPVT,1,${input.epoch.tow_ms},,,0,0,00,,,,,,,,,,,${none.hdop},${none.pdop}`]
    const numbers = [place.lat.toFixed(8), place.lon.toFixed(8), place.altMsl, place.undulation]
    const motion = ['0.000', '0.000', '0.000', '0.000', '0.00', geometry.hdop, geometry.pdop]
    return [['PQTMPVT', 1, input.epoch.tow_ms, date, time, 1, 3, used, leap_s, ...numbers, ...motion].join()]
  },
  PQTMEPE: ({ solution: { position, sigma_m }, reference }) => {
    // Empty in a base that knows its place.
    if (!position || reference) return ['PQTMEPE,2,,,,,']
    const { east, north, up } = sigma_m
    const errors = [north, east, up, Math.hypot(north, east), Math.hypot(north, east, up)]
    return [['PQTMEPE', 2, ...errors.map((error) => error.toFixed(3))].join()]
  },
}

function inParts<T>(list: readonly T[], most: number): T[][] {
  const parts: T[][] = []
  for (let at = 0; at === 0 || at < list.length; at += most) parts.push(list.slice(at, at + most))
  return parts
}

const nmea = (text: string): Uint8Array => encodeNmea(text)

/** GSA and GSV come once a second at any rate. */
const oncePerSecond = new Set(['GSA', 'GSV'])

/** Sentences that come before the RTCM. @param isDue of a message */
export function sentences(input: SentenceInput, isDue: (message: string) => boolean): Uint8Array[] {
  const isWholeSecond = input.epoch.utc_ms % 1000 === 0
  return Object.entries(writers).flatMap(([name, write]) =>
    isDue(name) && (isWholeSecond || !oncePerSecond.has(name)) ? write(input).map(nmea) : [],
  )
}

/** The end of an epoch. */
export function endOfEpoch(epoch: Epoch): Uint8Array {
  const { time, date } = timeOf(epoch)
  return nmea(['PQTMEOE', 1, time, date, epoch.week, epoch.tow_ms].join())
}
