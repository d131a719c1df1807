export { posBlock, standInSettings, standIns, stateBlock, statusOf, zedBlock } from './blocks.js'
