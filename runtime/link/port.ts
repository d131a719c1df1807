import type { PluginContext } from '../plugin.js'

export type { BytePort, PortSink } from '../../schemas/byte-port.js'

/** Time, as the plugin's context gives it. */
export type Edges = Pick<PluginContext, 'clock' | 'timers'>
