import { commandControl, simulatedReceiverPlugin, withDeviceOptions } from 'rtk-base/simulation'
import { lg290pControl } from './control.js'
import { ownOptions, SimulatedLg290p } from './receiver.js'

/** A Quectel LG290P behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default simulatedReceiverPlugin({
  name: 'simulated-lg290p',
  version: '1.0.0',
  options: withDeviceOptions(ownOptions),
  create: (options, ctx) => new SimulatedLg290p(options, ctx),
  control: (line) => commandControl(line, lg290pControl(line.device)),
})
