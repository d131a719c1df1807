import type { Edges } from 'rtk-base/link'
import { ReceiverLine } from 'rtk-base/simulation'
import type { ReceiverOptions } from './options.js'
import { SimulatedZed } from './receiver.js'

/** The line of the simulated ZED. */
export class SimulatedPort extends ReceiverLine<SimulatedZed> {
  constructor(options: ReceiverOptions, edges: Edges) {
    super(new SimulatedZed(options, edges), edges)
    this.zed.onRestart = () => {
      if (!this.hasBaud) this.reenumerate()
    }
  }

  get zed(): SimulatedZed {
    return this.device
  }
}
