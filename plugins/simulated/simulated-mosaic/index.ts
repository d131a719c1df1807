import { commandControl, simulatedReceiverPlugin, withDeviceOptions } from 'rtk-base/simulation'
import { mosaicControl } from './control.js'
import { ownOptions, SimulatedMosaic } from './receiver.js'

/** A Septentrio mosaic-G5 behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default simulatedReceiverPlugin({
  name: 'simulated-mosaic',
  version: '1.0.0',
  options: withDeviceOptions(ownOptions),
  create: (options, ctx) => new SimulatedMosaic(options, ctx),
  control: (line) => commandControl(line, mosaicControl(line.device)),
})
