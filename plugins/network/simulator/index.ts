export { type SimulatorOptions, simulatorOptions } from './options.js'
export { SimulatedMachine } from './simulated-machine.js'
