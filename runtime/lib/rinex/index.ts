/**
 * RINEX files made from the raw data of receivers (`rtk-base/rinex`): read the data with `readRaw`, which returns the
 * contents and writes the files. Also antenna calibrations (ANTEX).
 */
export {
  type AntennaCalibration,
  type AntexSummary,
  type PhaseCentre,
  readAntex,
} from './antex.js'
export { type RawSummary, type RinexChoice, type RinexEvent, type RinexOutput, readRaw } from './convert.js'
export { rinexName } from './file-name.js'
export type { GlonassBiases } from './glonass-biases.js'
export type { StationFacts } from './header.js'
export type { FileContents, Origin, RinexVersion } from './observation-file.js'
export type { ObservationEpoch, SatelliteObservations, SignalObservation, SystemLetter } from './observations.js'
export { type RinexPreset, type RinexPresetName, rinexPresets, spanTrouble, systemsIn } from './presets.js'
export type { ObservationSource, RawSource, Skipped } from './sources/raw-reader.js'
