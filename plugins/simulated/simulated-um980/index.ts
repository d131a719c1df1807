import { commandControl, simulatedReceiverPlugin, withDeviceOptions } from 'rtk-base/simulation'
import { um980Control } from './control.js'
import { ownOptions, SimulatedUm980 } from './receiver.js'

/** A Unicore UM980 behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default simulatedReceiverPlugin({
  name: 'simulated-um980',
  version: '1.0.0',
  options: withDeviceOptions(ownOptions),
  create: (options, ctx) => new SimulatedUm980(options, ctx),
  control: (line) => commandControl(line, um980Control(line.device)),
})
