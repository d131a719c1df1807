export { SimulatedRadioMachine } from './machine.js'
