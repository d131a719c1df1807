/** Broadcast orbits: ephemerides from RTCM and from receivers' navigation pages, positions and directions from them. */

export { SubframeAssembler } from './assembler.js'
export type {
  CommonEphemeris,
  Ephemeris,
  GlonassEphemeris,
  KeplerConstellation,
  KeplerEphemeris,
  OrbitConstellation,
} from './ephemeris.js'
export { isPlausible } from './ephemeris.js'
export { decodeEphemeris, encodeEphemeris, isEphemeris } from './messages.js'
export { Orbits } from './orbits.js'
export {
  type ExpectedRange,
  expectedRange,
  type SatelliteDirection,
  type SatelliteState,
  satelliteDirection,
  satelliteState,
} from './satellite.js'
