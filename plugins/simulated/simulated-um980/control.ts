import type { CommandSettings } from 'rtk-base/simulation'
import { isCommand } from './commands.js'
import type { SimulatedUm980 } from './receiver.js'
import { applySetting } from './settings.js'

/** The settings of a simulated UM980 for whoever has another of its ports. */
export function um980Control(um980: SimulatedUm980): CommandSettings {
  const settingsOf = (layer: 'ram' | 'flash') => (layer === 'ram' ? um980.settings : um980.flash)
  return {
    model: 'UM980',
    lacks: ['spoof'],
    isCommand: (text) => isCommand(text.toUpperCase().split(' ')[0]),
    set(command, value, layer) {
      const words = [...command.toUpperCase().split(' '), String(value)]
      const isTaken = applySetting(settingsOf(layer), words, um980.com)
      if (isTaken && layer === 'ram') um980.settingChanged(words)
      return isTaken
    },
    value(name, layer) {
      const { mask_deg, config, outputs } = settingsOf(layer)
      if (name === 'MASK') return mask_deg
      const line = config[name.replace('CONFIG ', '')]
      return line === undefined ? outputs[`${name} COM${um980.com}`] : Number(line.split(' ')[2])
    },
  }
}
