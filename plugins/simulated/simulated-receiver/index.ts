import { definePlugin } from 'rtk-base/plugin'
import { simulatedReceiver } from 'rtk-base/services'
import { ReceiverLine, runSimCommand, serveLine, simAction } from 'rtk-base/simulation'
import { receiverControl } from './control.js'
import { ReceiverOptions, ReceiverSnapshot } from './options.js'
import { SimulatedZed } from './receiver.js'
import { Played, RecordPlayer } from './replay/player.js'
import { isKey } from './ubx/keys.js'

/** A ZED-F9P (or X20P) behind a byte stream, for the receiver plugin of the same station and, over TCP, for any other program. */
export default definePlugin({
  name: 'simulated-receiver',
  version: '1.0.0',
  api: '^1.0.0',
  options: ReceiverOptions,
  provides: [simulatedReceiver],

  setup(ctx, options) {
    const port = new ReceiverLine(new SimulatedZed(options, ctx), ctx)
    const control = receiverControl(ctx, port)
    ctx.services.provide(simulatedReceiver, control)
    const sim = (line: string | undefined) => runSimCommand(control, line, { isKey })
    ctx.action({ ...simAction, run: ({ input }) => sim(input.line) })
    const { record, recordDelay_s } = options
    const player = record ? new RecordPlayer(ctx, record, recordDelay_s, sim) : undefined
    return { port, player, tcp: options.tcp }
  },

  async start(ctx, handoff, { port, player, tcp }) {
    const before = handoff.get('receiver', ReceiverSnapshot)
    if (before) port.device.restore(before)
    port.device.powerOn()
    if (tcp > 0) {
      const listener = ctx.net.listen(
        { name: 'line', host: '127.0.0.1', port: tcp, setting: 'simulated-receiver.tcp', maxConnections: 4 },
        (client) => serveLine(ctx, port, client),
      )
      ctx.status(`listens at 127.0.0.1:${listener.address?.port ?? tcp}`)
    }
    await player?.start(handoff.get('player', Played))
  },

  stop(_reason, { port, player }) {
    const handoff: [string, unknown][] = [['receiver', port.device.snapshot()]]
    if (player) handoff.push(['player', player.handoff])
    port.end()
    return handoff
  },
})
