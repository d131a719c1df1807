export { runSimCommand, simHelp, simulatorControl } from './control.js'
export { SimulatedPort } from './port.js'
export { SimulatedZed, type SimulatorOptions, type SimulatorSnapshot } from './receiver.js'
