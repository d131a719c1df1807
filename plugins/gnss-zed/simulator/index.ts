export { simulatorControl } from './control.js'
export { SimulatedPort } from './port.js'
export { SimulatedZed, type SimulatorOptions, type SimulatorSnapshot } from './receiver.js'
export { runSimCommand, simHelp } from './sim-command.js'
