import type { AntennaStatus } from '../../../schemas/services.js'
import type { TestStation } from '../station.js'

type Done = void | Promise<void>

/**
 * The receiver behind the plugin that is tested: a simulator, or a recording that can be told what to do. What is optional is needed
 * where the plugin claims it: `antenna`, `jam` and `spoof` by `can.reports`; `restart`, `refuse` and `wrongReference` by every plugin
 * that configures its receiver (any mode but `listening`).
 */
export interface ReceiverDevice {
  /** Called once, as soon as the station runs: for a simulator that is driven through it, e.g. by its commands. */
  begin?(station: TestStation): Done
  /** The receiver is connected and has power, as after a power cut. */
  connect(): Done
  /** The receiver or its port is unplugged. The checks begin with this state. */
  disconnect(): Done
  /** The receiver is connected, but sends and answers nothing. */
  silence(on: boolean): Done
  /** The receiver restarts by itself and loses its volatile settings. */
  restart?(): Done
  /** The receiver refuses every change of its mode. */
  refuse?(on: boolean): Done
  /** The receiver sends a 1005 that is metres away from its reference. */
  wrongReference?(on: boolean): Done
  /** For a receiver that only sees whether its antenna draws current. */
  readonly seesNoShort?: boolean
  antenna?(status: Extract<AntennaStatus, 'ok' | 'short' | 'open'>): Done
  /** Strong interference: the receiver can hardly work. */
  jam?(on: boolean): Done
  spoof?(on: boolean): Done
  /** Called once for each second of the station's clock, before the clock advances: for a device without its own clock. */
  second?(): Done
  /** Called at the end. */
  end?(): Done
}
