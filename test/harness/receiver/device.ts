import type { AntennaStatus } from '../../../schemas/services.js'
import type { TestStation } from '../station.js'

type Done = void | Promise<void>

/**
 * Controls the receiver of the tested plugin: a simulator, or a recording with faults. `antenna`, `jam` and `spoof` are required if
 * `can.reports` lists the report. `restart`, `refuse` and `wrongReference` are required if the plugin configures its receiver (any mode
 * except `listening`).
 */
export interface ReceiverDevice {
  /** Called once, as soon as the station runs, e.g. for a simulator that is controlled by commands of the station. */
  begin?(station: TestStation): Done
  /** The receiver is connected and has power, as after a power cut. */
  connect(): Done
  /** The receiver or its port is unplugged. The checks begin with this state. */
  disconnect(): Done
  /** The receiver is connected, but sends and answers nothing. */
  silence(on: boolean): Done
  /** The receiver restarts unexpectedly and loses its volatile settings. */
  restart?(): Done
  /** The receiver refuses every change of its mode. */
  refuse?(on: boolean): Done
  /** The receiver sends a 1005 that is metres away from its reference. */
  wrongReference?(on: boolean): Done
  /** true: the receiver only sees whether its antenna draws current, so a short is expected to be reported as `open`. */
  readonly seesNoShort?: boolean
  antenna?(status: Extract<AntennaStatus, 'ok' | 'short' | 'open'>): Done
  /** Strong interference: the receiver can hardly work (`critical`). */
  jam?(on: boolean): Done
  spoof?(on: boolean): Done
  /** Called once for each second of the station's clock, before the clock advances: for a device without its own clock. */
  second?(): Done
  /** Called at the end. */
  end?(): Done
}
