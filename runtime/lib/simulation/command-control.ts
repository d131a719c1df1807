/** The service of a simulated receiver with text commands. Its "keys" are beginnings of commands. */
import { badValue } from 'rtk-base/plugin'
import type { SimulatedReceiver } from 'rtk-base/services'
import type { CommandDevice } from './command-device.js'
import { deviceControl, deviceState } from './control.js'
import type { SimulatedControl } from './device-plugin.js'
import type { ReceiverLine } from './line.js'

/** The part of the service that depends on the commands of a make. */
export interface CommandSettings {
  /** Name of the make in messages for people: `UM980`. */
  readonly model: string
  /** Faults of the command `sim` that this make cannot simulate. */
  readonly lacks: readonly string[]
  /** Whether the make has a command that begins with `text`. */
  isCommand(text: string): boolean
  /** Changes a setting as another program would at another port. @returns false: refused */
  set(command: string, value: number, layer: 'ram' | 'flash'): boolean
  /** The value of a setting. @throws RangeError for an unknown one */
  value(name: string, layer: 'ram' | 'flash'): number | undefined
}

export function commandControl(
  line: ReceiverLine<CommandDevice<object, object>>,
  settings: CommandSettings,
): SimulatedControl {
  const { device } = line
  const { model, lacks } = settings
  const lacking = (what: string) => () => {
    throw badValue(`sim: a simulated ${model} has no ${what}`)
  }
  const beginning = (set: Set<string>, text: string | undefined) => {
    if (text === undefined) set.clear()
    else set.add(text.toUpperCase())
  }
  const faults = deviceControl(line)
  const receiver: SimulatedReceiver = {
    ...faults,
    get truth() {
      return device.model.truth
    },
    spoof: lacks.includes('spoof') ? lacking('spoofing state') : faults.spoof,
    corrections: lacking('correction input'),
    wrongFix: lacking('correction input'),
    nak: (command) => beginning(device.refusedCommands, command),
    ignore: (command) => beginning(device.ignoredCommands, command),
    dropAcks: (every) => {
      device.answers.dropEvery = every
    },
    set: (command, value, layer = 'ram') => {
      if (!settings.set(command, value, layer))
        throw new RangeError(`the simulated receiver does not take ${command} ${value}`)
    },
    flash: (mode) => device.store(mode),
    value: (command, layer = 'ram') => {
      if (!settings.isCommand(command)) throw new RangeError(`the simulated receiver has no command ${command}`)
      return settings.value(command, layer === 'ram' ? 'ram' : 'flash')
    },
    get received() {
      return { bytes: device.received.bytes, ram: device.received.commands, bbr: 0, flash: device.flashWrites }
    },
    describe() {
      const parts = deviceState(line, device.describeMode(), `${device.flashWrites} flash writes`)
      if (device.refusedCommands.size > 0) parts.push(`refuses ${[...device.refusedCommands].join(', ')}`)
      if (device.ignoredCommands.size > 0) parts.push(`ignores ${[...device.ignoredCommands].join(', ')}`)
      if (device.answers.dropEvery > 0) parts.push(`loses every ${device.answers.dropEvery}. answer`)
      return parts.join(', ')
    },
  }
  return {
    receiver,
    dialect: { isKey: (text) => settings.isCommand(text), lacks: [...lacks, 'corrections', 'wrong-fix'] },
  }
}
