import type { CommandSettings } from 'rtk-base/simulation'
import { isCommand } from './commands.js'
import type { SimulatedLg290p } from './receiver.js'
import { isMessage, numbers, type Settings, writeRate } from './settings.js'

/** The settings of a simulated LG290P for somebody else: the rate of a message by its name, or a number by its command. */
export function lg290pControl(receiver: SimulatedLg290p): CommandSettings {
  const settingsOf = (layer: 'ram' | 'flash'): Settings => (layer === 'ram' ? receiver.settings : receiver.flash)
  return {
    model: 'LG290P',
    lacks: ['spoof'],
    isCommand: (text) => isCommand(text.toUpperCase().split(/[\s,]/)[0] ?? ''),
    set(name, value, layer) {
      const { runningMode: mode } = receiver
      const settings = settingsOf(layer)
      if (!isMessage(name)) return numbers[name]?.write(settings, value) ?? false
      const [, ...more] = settings.outputs[mode][name] ?? []
      return writeRate(settings, mode, [name, ...[value, ...more].map(String)])
    },
    value(name, layer) {
      const settings = settingsOf(layer)
      const number = numbers[name]?.read(settings)
      return number === undefined ? settings.outputs[receiver.runningMode][name]?.[0] : Number(number)
    },
  }
}
