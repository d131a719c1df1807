/** UBX as the ZED-F9P speaks it: layouts as data, one codec, and the configuration keys by name. */
export * from './config.js'
export * from './fields.js'
export * from './keys.js'
export * from './layout.js'
export * from './layouts-mon.js'
export * from './layouts-nav.js'
export * from './signals.js'
