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
  /** It is there and has power; as after a power cut. */
  connect(): Done
  /** It is gone: unplugged, or its port is. The checks begin with that. */
  disconnect(): Done
  /** It is there, but says and answers nothing. */
  silence(on: boolean): Done
  /** It restarts by itself, and forgets what is volatile. */
  restart?(): Done
  /** It refuses to be put into a mode. */
  refuse?(on: boolean): Done
  /** Its 1005 is metres away from the reference that it was given. */
  wrongReference?(on: boolean): Done
  antenna?(status: Extract<AntennaStatus, 'ok' | 'short' | 'open'>): Done
  /** Strong interference: it can hardly work. */
  jam?(on: boolean): Done
  spoof?(on: boolean): Done
  /** Called once for each second of the station's clock, before the clock advances: for a device without its own clock. */
  second?(): Done
  /** Called when all is over. */
  end?(): Done
}
