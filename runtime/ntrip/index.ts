/** The parts of NTRIP that casters, pushers and clients share (`rtk-base/ntrip`). */
export * from './chunked.js'
export * from './get.js'
export * from './head.js'
export * from './options.js'
export * from './outlet.js'
export * from './selection.js'
export * from './source-table.js'
export * from './visit.js'
