import type { PluginContext } from 'rtk-base/plugin'
import { type ReceiverLine, serveLine } from 'rtk-base/simulation'

/** For programs on this machine. */
export function listenOn(ctx: PluginContext, line: ReceiverLine, port: number): void {
  const listener = ctx.net.listen(
    { name: 'line', host: '127.0.0.1', port, setting: 'simulated-receiver.tcp', maxConnections: 4 },
    (client) => serveLine(ctx, line, client),
  )
  ctx.status(`listens at 127.0.0.1:${listener.address?.port ?? port}`)
}
