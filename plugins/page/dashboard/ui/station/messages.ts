/** Messages of the event stream, besides the document. */

export interface Hello {
  serial: string
  version: string
  sha256: string
  hardware: string
  role: 'viewer' | 'operator'
  /** Address of map tiles with `{z}`, `{x}`, `{y}`; '' for none. */
  tiles: string
  /** Attribution that the provider of the map wants under it. */
  attribution: string
}
export interface SkySignal {
  name: string
  cno: number
  used: boolean
}
export interface SkySatellite {
  sys: string
  id: number
  az: number | null
  el: number | null
  cno: number
  used: boolean
  signals: SkySignal[]
}
export interface Point {
  x: number
  y: number
  z: number
}
export interface CurvePoint {
  t: number
  now: Point
  mean: Point
  acc: number
}
export interface LogLine {
  level: number
  time: number
  plugin: string
  msg: string
}
/** The panel of a plugin: names of files below `/ui/panels/PLUGIN/`. */
export interface PanelEntry {
  plugin: string
  title: string
  entry: string
  styles: string[]
}
