/** The GNSS library for plugin authors (`rtk-base/gnss`): pure functions and small classes without I/O. */
export * from './framer.js'
export * from './geodesy.js'
export * from './gnss-time.js'
export * from './nmea.js'
export * from './reference-point.js'
export * from './rounding.js'
export * from './rtcm.js'
export * from './ubx.js'
