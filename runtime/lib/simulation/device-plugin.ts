/** The plugin of a simulated receiver: its line, its faults as a service and a command, and what survives a reload. */
import { definePlugin, type PluginContext } from 'rtk-base/plugin'
import { type SimulatedReceiver, simulatedReceiver } from 'rtk-base/services'
import type { Static, TInteger, TObject, TSchema } from 'typebox'
import type { SimulatedDevice } from './device.js'
import { ReceiverLine, serveLine } from './line.js'
import { runSimCommand, type SimDialect, simAction } from './sim-command.js'

/** Something that runs beside the simulated receiver, such as the replay of a record. */
export interface Companion {
  /** @param before what the previous instance handed over */
  start(before: unknown): void | Promise<void>
  readonly handoff: unknown
  /** Schema of `handoff`. */
  readonly shape: TSchema
}

/** The service of a simulated receiver, and the words of the command `sim` that depend on the make. */
export interface SimulatedControl {
  readonly receiver: SimulatedReceiver
  readonly dialect: SimDialect
}

/** Definition of the plugin of a simulated receiver. */
export interface SimulatedReceiverPlugin<O extends TObject<{ tcp: TInteger }>, D extends SimulatedDevice> {
  readonly name: string
  readonly version: string
  /** Schema of all options of the plugin. */
  readonly options: O
  create(options: Static<O>, ctx: PluginContext): D
  control(line: ReceiverLine<D>, ctx: PluginContext): SimulatedControl
  /** @param sim runs a line of the command `sim` */
  companion?(options: Static<O>, ctx: PluginContext, sim: (line: string) => void): Companion | undefined
}

/** Makes the plugin of a simulated receiver: it provides `simulated-receiver`, and has the command `sim` and the option `tcp`. */
export function simulatedReceiverPlugin<O extends TObject<{ tcp: TInteger }>, D extends SimulatedDevice>(
  make: SimulatedReceiverPlugin<O, D>,
) {
  const { name, version, options } = make
  return definePlugin({
    name,
    version,
    api: '^1.0.0',
    options,
    provides: [simulatedReceiver],

    setup(ctx, entered) {
      const options = entered as Static<O>
      const line = new ReceiverLine(make.create(options, ctx), ctx)
      const { receiver, dialect } = make.control(line, ctx)
      const sim = (text: string | undefined) => runSimCommand(receiver, text, dialect)
      ctx.services.provide(simulatedReceiver, receiver)
      ctx.action({ ...simAction, run: ({ input }) => sim(input.line) })
      return { line, tcp: (options as { tcp: number }).tcp, companion: make.companion?.(options, ctx, sim) }
    },

    async start(ctx, handoff, { line, tcp, companion }) {
      const before = handoff.get('receiver', line.device.shape)
      if (before) line.device.restore(before)
      line.device.powerOn()
      if (tcp > 0) {
        const listener = ctx.net.listen(
          { name: 'line', host: '127.0.0.1', port: tcp, setting: `${name}.tcp`, maxConnections: 4 },
          (client) => serveLine(ctx, line, client),
        )
        ctx.status(`listens at 127.0.0.1:${listener.address?.port ?? tcp}`)
      }
      await companion?.start(handoff.get('companion', companion.shape))
    },

    stop(_reason, { line, companion }) {
      const handoff: [string, unknown][] = [['receiver', line.device.snapshot()]]
      if (companion) handoff.push(['companion', companion.handoff])
      line.end()
      return handoff
    },
  })
}
