/**
 * The base of a simulated GNSS receiver of any make (`rtk-base/simulation`): seeded noise, a sky, a moving antenna with
 * its surroundings, observations epoch by epoch, the RTCM made from them, the serial line and its faults. Deterministic: the same
 * seed and the same times give the same numbers. The code is bundled with the plugin that imports it.
 *
 * ```ts
 * const model = new Model({ seed: 1, lat: 52, lon: 4, alt: 50 })
 * model.move(0.05, 0, 0, 10)                        // 5 cm to the east within 10 s
 * const epoch = model.epoch(utc_ms, 1, true)        // sky, tracked satellites, receiver clock
 * rtcmMessages({ epoch, stationId: 1, arp: model.truth, due: (type) => [1005, 1074].includes(type) })
 * ```
 */
export { Answers } from './answers.js'
export { Channel, type ChannelSnapshot, type SignalTrack } from './channel.js'
export { type CommandSettings, commandControl } from './command-control.js'
export { CommandDevice, type DeviceFamily, type DeviceSnapshot, type SolvedEpoch } from './command-device.js'
export { deviceControl, deviceState } from './control.js'
export { type DeviceTimes, SimulatedDevice } from './device.js'
export { type DeviceOptions, withDeviceOptions } from './device-options.js'
export {
  type Companion,
  type SimulatedControl,
  type SimulatedReceiverPlugin,
  simulatedReceiverPlugin,
} from './device-plugin.js'
export { ephemerisFrame, ephemerisType } from './ephemerides.js'
export { type LineDevice, ReceiverLine } from './line.js'
export {
  type AntennaState,
  type Band,
  type Epoch,
  type HowMany,
  lowest_deg,
  Model,
  type ModelOptions,
  ModelSnapshot,
  type Track,
} from './model.js'
export { type Enu, Motion, type MotionSnapshot, type Movement } from './motion.js'
export { type NoiseName, type NoiseProfile, noiseProfiles, Surroundings } from './noise.js'
export { GaussMarkov, Random } from './random.js'
export {
  glonassChannel,
  glonassInfo,
  type MsmRequest,
  msmFrames,
  msmObservations,
  type RtcmRequest,
  referenceFrame,
  rtcmMessages,
} from './rtcm.js'
export type { SimDialect } from './sim-command.js'
export { type ConstellationModel, constellations, type MsmSignal, type Sight, visibleFrom } from './sky.js'
export { type PvtSolution, Solver, type SolverOptions } from './solver.js'
export { type NavigationPage, navigationPage } from './subframes.js'
