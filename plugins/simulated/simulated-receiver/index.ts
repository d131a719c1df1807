import { simulatedReceiverPlugin } from 'rtk-base/simulation'
import { receiverControl } from './control.js'
import { ReceiverOptions } from './options.js'
import { SimulatedZed } from './receiver.js'
import { RecordPlayer } from './replay/player.js'

/** A ZED-F9P (or X20P) behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default simulatedReceiverPlugin({
  name: 'simulated-receiver',
  version: '1.0.0',
  options: ReceiverOptions,
  create: (options, ctx) => new SimulatedZed(options, ctx),
  control: receiverControl,
  companion: ({ record, recordDelay_s }, ctx, sim) =>
    record === undefined ? undefined : new RecordPlayer(ctx, record, recordDelay_s, sim),
})
