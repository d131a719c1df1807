/** Reference frames: positions that are years and continents apart made comparable. */
export { announcedAs, type DatumWish, type Drift, driftOf, epochNamed, frameNamed } from './announced.js'
export {
  epsgCodes,
  type FrameName,
  frameNames,
  frameTexts,
  movesWithPlate,
  type PlateName,
  plates,
  plateTexts,
} from './frames.js'
export { type DatedPosition, decimalYear, transformed } from './transform.js'
