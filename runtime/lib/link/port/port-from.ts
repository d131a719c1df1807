import type { BytePort } from '../../../../schemas/byte-port.js'
import type { PluginContext } from '../../../plugin.js'
import { type ReplayOptions, ReplayPort } from './replay.js'
import { SerialDevice } from './serial.js'
import { type DialEdges, TcpPort } from './tcp.js'

/**
 * Makes the port for a text: a device path, `tcp://host:port` or `replay:<file>`.
 * @throws RangeError when the text is none of them
 */
export function portFrom(
  text: string,
  options: ReplayOptions,
  edges: DialEdges & Partial<Pick<PluginContext, 'log'>>,
): BytePort {
  if (text.startsWith('tcp://')) return new TcpPort(text, edges)
  if (text.startsWith('replay:')) return new ReplayPort(text.slice('replay:'.length), options, edges)
  if (text.startsWith('/')) return new SerialDevice(text, edges.log)
  throw new RangeError(
    `'${text}' does not name a port: use a path such as /dev/serial/by-id/…, tcp://host:port or replay:<file>`,
  )
}
