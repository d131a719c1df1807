/**
 * The services that the runtime and the shipped plugins offer to each other and to third parties (`rtk-base/services`), with
 * one source file for each provider. A plugin never imports another plugin's files, only these tokens.
 */
export * from './services/corrections.js'
export * from './services/device.js'
export * from './services/fleet.js'
export * from './services/integrity.js'
export * from './services/links.js'
export * from './services/mqtt.js'
export * from './services/network.js'
export * from './services/procedure.js'
export * from './services/radio.js'
export * from './services/raw.js'
export * from './services/receiver.js'
export * from './services/reception.js'
export * from './services/router.js'
export * from './services/rtcm.js'
export * from './services/runtime.js'
export * from './services/simulator.js'
export * from './services/station.js'
export * from './services/update.js'
export * from './services/verdict.js'
export { defineService, type ServiceToken } from './token.js'
