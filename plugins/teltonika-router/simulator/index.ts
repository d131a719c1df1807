import { type SimulatedRouterOptions, SimulatedTeltonika } from './simulated-router.js'

export { simulatorHelp } from './commands.js'
export { firmwareImage } from './device/firmware.js'
export { type SimulatorClock, type SimulatorOptions, simulatorOptions } from './options.js'
export type { SimulatedRouterOptions, SimulatedTeltonika } from './simulated-router.js'

/** Listens on free ports of 127.0.0.1 when it resolves. @throws RTK_ERR_COMMAND_VALUE when the options contradict each other */
export const startSimulatedRouter = (options: SimulatedRouterOptions): Promise<SimulatedTeltonika> =>
  SimulatedTeltonika.start(options)
