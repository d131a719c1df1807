export { posBlock, stateBlock, statusOf, zedBlock } from './blocks.js'
