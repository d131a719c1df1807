export type { AntennaReport } from './antenna.js'
export { type BandReport, worstJamming } from './radio.js'
export { type Identity, ReceiverFacts } from './receiver-facts.js'
