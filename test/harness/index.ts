/** What tests of the project and of third-party plugins are written with (`rtk-base/testing`). */
export * from './conformance.js'
export * from './fake-receiver.js'
export * from './manual-clock.js'
export * from './probe.js'
export * from './process.js'
export * from './pty.js'
export * from './sample.js'
export * from './station.js'
