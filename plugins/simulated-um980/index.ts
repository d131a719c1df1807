import { definePlugin } from 'rtk-base/plugin'
import { simulatedReceiver } from 'rtk-base/services'
import { ReceiverLine, runSimCommand, serveLine, simHelp } from 'rtk-base/simulation'
import { dialect, um980Control } from './control.js'
import { Um980Options, type Um980Snapshot } from './options.js'
import { SimulatedUm980 } from './receiver.js'

/** A Unicore UM980 behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default definePlugin({
  name: 'simulated-um980',
  version: '1.0.0',
  api: '^1.1.0',
  options: Um980Options,
  provides: [simulatedReceiver],

  setup(ctx, options) {
    const line = new ReceiverLine(new SimulatedUm980(options, ctx), ctx)
    const control = um980Control(line)
    ctx.services.provide(simulatedReceiver, control)
    ctx.commands.add('sim', simHelp, ({ arg }) => runSimCommand(control, arg, dialect))
    return { line, tcp: options.tcp }
  },

  start(ctx, handoff, { line, tcp }) {
    const before = handoff.get('receiver') as Um980Snapshot | undefined
    if (before) line.device.restore(before)
    line.device.powerOn()
    if (tcp === 0) return
    const listener = ctx.net.listen(
      { name: 'line', host: '127.0.0.1', port: tcp, setting: 'simulated-um980.tcp', maxConnections: 4 },
      (client) => serveLine(ctx, line, client),
    )
    ctx.status(`listens at 127.0.0.1:${listener.address?.port ?? tcp}`)
  },

  stop(_reason, { line }) {
    const handoff: [string, unknown][] = [['receiver', line.device.snapshot()]]
    line.end()
    return handoff
  },
})
