/** The mode of the receiver: what `MODE` sets, and the text that it reads back (recorded; ECEF and IDs assumed). */
import { geodeticToEcef, roundTo } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

const number = Type.Number()
/** The station ID; '': none was given. */
const id = Type.String({ pattern: '^\\d{0,4}$' })

/** Plain data. */
export const Mode = Type.Union([
  Type.Object({ kind: Type.Literal('rover'), dynamics: Type.String() }),
  Type.Object({ kind: Type.Literal('survey'), id, seconds: number, reuse_m: number, last: number }),
  Type.Object({ kind: Type.Literal('llh'), id, lat: number, lon: number, height: number }),
  Type.Object({ kind: Type.Literal('ecef'), id, x: number, y: number, z: number }),
])
export type Mode = Static<typeof Mode>

export const factoryMode: Mode = { kind: 'rover', dynamics: 'SURVEY' }
const dynamics = ['SURVEY', 'UAV', 'AUTOMOTIVE', 'MOWER']
const longestSurvey_s = 3600
const usualSurvey_s = 60

/** The mode that the words behind `MODE` mean; undefined: it is refused. */
export function parseMode([kind, ...words]: readonly string[]): Mode | undefined {
  if (kind === 'ROVER') {
    const [name = 'SURVEY', more] = words
    return dynamics.includes(name) && more === undefined ? { kind: 'rover', dynamics: name } : undefined
  }
  if (kind !== 'BASE') return undefined
  const time = words.indexOf('TIME')
  const rest = (time < 0 ? words : words.slice(time + 1)).map(Number)
  if (rest.some((value) => !Number.isFinite(value))) return undefined
  if (time >= 0 || words.length < 2) {
    const [seconds = usualSurvey_s, reuse_m = 0, last = 0] = time < 0 ? [] : rest
    const id = idOf(words.slice(0, time < 0 ? 1 : time))
    const fits = seconds > 0 && seconds <= longestSurvey_s && reuse_m >= 0
    return id !== undefined && fits ? { kind: 'survey', id, seconds, reuse_m, last } : undefined
  }
  const id = idOf(words.slice(0, -3))
  if (id === undefined || words.length < 3) return undefined
  const [x, y, z] = rest.slice(-3)
  if (Math.abs(x) > 90 || Math.abs(y) > 180) return { kind: 'ecef', id, x, y, z }
  // Nine digits of the degrees are kept.
  return { kind: 'llh', id, lat: roundTo(x, 9), lon: roundTo(y, 9), height: z }
}

/** `''`: none given. */
function idOf(words: readonly string[]): string | undefined {
  const [id = '', more] = words
  const fits = id === '' || (/^\d+$/.test(id) && Number(id) <= 4095)
  return fits && more === undefined ? id : undefined
}

export function modeText(mode: Mode): string {
  if (mode.kind === 'rover') return `MODE ROVER ${mode.dynamics}`
  const base = mode.id === '' ? 'MODE BASE' : `MODE BASE ${mode.id}`
  if (mode.kind === 'survey') return `${base} TIME ${mode.seconds} ${mode.reuse_m} ${mode.last}`
  if (mode.kind === 'ecef') return `${base} ${mode.x.toFixed(4)} ${mode.y.toFixed(4)} ${mode.z.toFixed(4)}`
  return `${base} ${mode.lat.toFixed(11)} ${mode.lon.toFixed(11)} ${mode.height.toFixed(6)}`
}

export const stationIdOf = (mode: Mode): number => (mode.kind === 'rover' ? 0 : Number(mode.id))

/** The position that was entered. @param undulation_m what an entered height is above: the geoid, or with 0 the ellipsoid */
export function enteredPosition(mode: Mode, undulation_m: number): Ecef | undefined {
  if (mode.kind === 'ecef') return { x: mode.x, y: mode.y, z: mode.z }
  if (mode.kind !== 'llh') return undefined
  return geodeticToEcef({ lat: mode.lat, lon: mode.lon, alt: mode.height + undulation_m })
}
