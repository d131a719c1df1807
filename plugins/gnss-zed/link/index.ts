export { RateMemory } from './rate-memory.js'
export { linkTick_ms, ReceiverLink } from './receiver-link.js'
export { noSimulator, SimulatedLine } from './simulated-line.js'
export { UbxDialog } from './ubx-dialog.js'
