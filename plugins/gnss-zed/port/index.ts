import { type ReplayOptions, ReplayPort } from './replay.js'
import { SerialDevice } from './serial.js'
import { TcpPort } from './tcp.js'
import type { Edges, ReceiverPort } from './types.js'

export type { Edges, PortSink, ReceiverPort } from './types.js'
export { ReplayPort, SerialDevice, TcpPort }

/**
 * The port that the option `port` names: a device path, `tcp://host:port` or `replay:<file>`.
 * @throws RangeError when the text is none of them
 */
export function portFrom(text: string, options: ReplayOptions, edges: Edges): ReceiverPort {
  if (text.startsWith('tcp://')) return new TcpPort(text, edges)
  if (text.startsWith('replay:')) return new ReplayPort(text.slice('replay:'.length), options, edges)
  if (text.startsWith('/')) return new SerialDevice(text)
  throw new RangeError(
    `'${text}' is no port: use a path as /dev/serial/by-id/…, tcp://host:port, replay:<file> or simulator`,
  )
}
