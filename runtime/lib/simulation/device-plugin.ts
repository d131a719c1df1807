/** The plugin of a simulated receiver: its line, its faults as a service and a command, and what survives a reload. */
import { badValue, definePlugin, type PluginContext } from 'rtk-base/plugin'
import { type SimulatedReceiver, simulatedReceiver } from 'rtk-base/services'
import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { modelControl, modelState } from './control.js'
import type { SimulatedDevice } from './device.js'
import { type DeviceOptions, deviceOptions } from './device-options.js'
import { ReceiverLine, serveLine } from './line.js'
import { runSimCommand, type SimDialect, simAction } from './sim-command.js'

type AnyDevice = SimulatedDevice<object, object>

/** The part of `simulated-receiver` that depends on the commands of a make. */
export interface DeviceControl {
  /** Whether the make has a command that begins with `text`. */
  isCommand(text: string): boolean
  /** Changes a setting as another program would at another port. @returns false: refused */
  set(command: string, value: number, layer: 'ram' | 'flash'): boolean
  /** The value of a setting. @throws RangeError for an unknown one */
  value(name: string, layer: 'ram' | 'flash'): number | undefined
}

/** Definition of the plugin of a simulated receiver. */
export interface SimulatedReceiverPlugin<P extends TProperties, D extends AnyDevice> {
  readonly name: string
  readonly version: string
  /** Name in messages for people: `UM980`. */
  readonly model: string
  /** Options that only this make has, in addition to `deviceOptions`. */
  readonly own: P
  /** Faults of the command `sim` that this make cannot simulate. */
  readonly lacks: readonly string[]
  create(options: DeviceOptions & Static<TObject<P>>, ctx: PluginContext): D
  control(device: D): DeviceControl
}

/** Makes the plugin of a simulated receiver: it provides `simulated-receiver`, and has the command `sim` and the option `tcp`. */
export function simulatedReceiverPlugin<P extends TProperties, D extends AnyDevice>({
  name,
  version,
  model,
  own,
  lacks,
  create,
  control: controlOf,
}: SimulatedReceiverPlugin<P, D>) {
  return definePlugin({
    name,
    version,
    api: '^1.0.0',
    options: Type.Object({ ...deviceOptions, ...own }, { additionalProperties: false }),
    provides: [simulatedReceiver],

    setup(ctx, options) {
      const given = options as DeviceOptions & Static<TObject<P>>
      const line = new ReceiverLine(create(given, ctx), ctx)
      const own = controlOf(line.device)
      const control = deviceControl(line, own, model, lacks)
      const dialect: SimDialect = {
        isKey: (text) => own.isCommand(text),
        lacks: [...lacks, 'corrections', 'wrong-fix'],
      }
      ctx.services.provide(simulatedReceiver, control)
      ctx.action({ ...simAction, run: ({ input }) => runSimCommand(control, input.line, dialect) })
      return { line, tcp: given.tcp }
    },

    start(ctx, handoff, { line, tcp }) {
      const before = handoff.get('receiver', line.device.shape)
      if (before) line.device.restore(before)
      line.device.powerOn()
      if (tcp === 0) return
      const listener = ctx.net.listen(
        { name: 'line', host: '127.0.0.1', port: tcp, setting: `${name}.tcp`, maxConnections: 4 },
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
}

/** The service of a simulated receiver. Its "keys" are beginnings of commands. */
export function deviceControl(
  line: ReceiverLine<AnyDevice>,
  own: DeviceControl,
  name: string,
  lacks: readonly string[],
): SimulatedReceiver {
  const { device } = line
  const { model, faults } = device
  const lacking = (what: string) => () => {
    throw badValue(`sim: a simulated ${name} has no ${what}`)
  }
  const beginning = (set: Set<string>, text: string | undefined) => {
    if (text === undefined) set.clear()
    else set.add(text.toUpperCase())
  }
  return {
    port: line,
    get truth() {
      return model.truth
    },
    ...modelControl(model, line),
    restart: (cold = false) => device.reset(cold),
    spoof: lacks.includes('spoof')
      ? lacking('spoofing state')
      : (state) => {
          faults.spoofing = state
        },
    corrections: lacking('correction input'),
    wrongFix: lacking('correction input'),
    nak: (command) => beginning(device.refusedCommands, command),
    ignore: (command) => beginning(device.ignoredCommands, command),
    dropAcks: (every) => {
      device.answers.dropEvery = every
    },
    set: (command, value, layer = 'ram') => {
      if (!own.set(command, value, layer))
        throw new RangeError(`the simulated receiver does not take ${command} ${value}`)
    },
    flash: (mode) => device.store(mode),
    wrongReference: (error_m) => {
      faults.wrongReference_m = error_m
    },
    silence: (on) => {
      faults.silent = on
    },
    corrupt: (frames) => {
      faults.corruptFrames = frames
    },
    value: (command, layer = 'ram') => {
      if (!own.isCommand(command)) throw new RangeError(`the simulated receiver has no command ${command}`)
      return own.value(command, layer === 'ram' ? 'ram' : 'flash')
    },
    get received() {
      return { bytes: device.received.bytes, ram: device.received.commands, bbr: 0, flash: device.flashWrites }
    },
    describe() {
      const parts = [...modelState(model, line, device.describeMode()), `${device.flashWrites} flash writes`]
      if (faults.silent) parts.push('silent')
      if (faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${faults.wrongReference_m} m`)
      if (device.refusedCommands.size > 0) parts.push(`refuses ${[...device.refusedCommands].join(', ')}`)
      if (device.ignoredCommands.size > 0) parts.push(`ignores ${[...device.ignoredCommands].join(', ')}`)
      if (device.answers.dropEvery > 0) parts.push(`loses every ${device.answers.dropEvery}. answer`)
      return parts.join(', ')
    },
  }
}
