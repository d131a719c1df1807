import type { PluginContext } from 'rtk-base/plugin'
import type { ReceiverLine } from './line.js'

/** Of a line without a rate, as a serial server has it at its far end. */
const anyRate = 0

/**
 * Any program on this machine can have the receiver's line, one at a time, and not while the station itself has it.
 * @param port of 127.0.0.1; in the plugin's option `tcp`
 */
export function listenOn(ctx: PluginContext, plugin: string, line: ReceiverLine, port: number): void {
  const listener = ctx.net.listen(
    { name: 'line', host: '127.0.0.1', port, setting: `${plugin}.tcp`, maxConnections: 4 },
    async (client) => {
      if (line.isOpen) {
        ctx.log.warn('a program wants the simulated receiver, but its line is in use: it is not served')
        client.destroy()
        return
      }
      client.onData((bytes) => void line.write(bytes))
      client.onClose(() => void line.close())
      await line.open(line.rate || anyRate, {
        data: (bytes) => void client.write(Buffer.from(bytes)),
        closed: () => client.destroy(),
      })
    },
  )
  ctx.status(`listens at 127.0.0.1:${listener.address?.port ?? port}`)
}
