export type { AntennaReport } from './antenna.js'
export { type Identity, ReceiverFacts } from './receiver-facts.js'
