import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { ReceiverLine } from './line.js'

/** Of a line without a rate, as a serial server has it at its far end. */
const anyRate = 0

/** Any program can have the receiver's line, one at a time, and not while the station itself has it. */
export async function serveLine({ log }: PluginContext, line: ReceiverLine, client: Connection): Promise<void> {
  if (line.isOpen) {
    log.warn('a program wants the simulated receiver, but its line is in use: it is not served')
    client.destroy()
    return
  }
  client.onData((bytes) => void line.write(bytes))
  client.onClose(() => void line.close())
  await line.open(line.rate || anyRate, {
    data: (bytes) => void client.write(Buffer.from(bytes)),
    closed: () => client.destroy(),
  })
}
