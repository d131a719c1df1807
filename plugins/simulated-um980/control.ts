/** The faults of the simulated UM980 as the service `simulated-receiver`. Its "keys" are commands. */
import { badValue } from 'rtk-base/plugin'
import type { SimulatedReceiver } from 'rtk-base/services'
import { modelControl, modelState, type ReceiverLine, type SimDialect } from 'rtk-base/simulation'
import { isCommand } from './commands.js'
import { modeText } from './mode.js'
import type { SimulatedUm980 } from './receiver.js'
import { applySetting } from './settings.js'

/** What a UM980 has nothing for, or what is not simulated. */
export const dialect: SimDialect = {
  isKey: (name) => isCommand(name.toUpperCase().split(' ')[0]),
  lacks: ['spoof', 'corrections', 'wrong-fix'],
}
const lacks = (what: string) => badValue(`sim: a simulated UM980 has no ${what}`)

export function um980Control(line: ReceiverLine<SimulatedUm980>): SimulatedReceiver {
  const um980 = line.device
  const { model, faults } = um980
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
    restart: (cold = false) => um980.restart(cold),
    spoof: () => {
      throw lacks('spoofing state')
    },
    corrections: () => {
      throw lacks('correction input')
    },
    wrongFix: () => {
      throw lacks('correction input')
    },
    nak: (command) => beginning(um980.refusedCommands, command),
    ignore: (command) => beginning(um980.ignoredCommands, command),
    dropAcks: (every) => {
      um980.answers.dropEvery = every
    },
    set: (command, value, layer = 'ram') => {
      const words = [...command.toUpperCase().split(' '), String(value)]
      if (!applySetting(layer === 'ram' ? um980.settings : um980.flash, words, um980.com))
        throw new RangeError(`the simulated receiver does not take ${words.join(' ')}`)
      if (layer === 'ram') um980.settingChanged(words)
    },
    flash: (mode) => um980.store(mode),
    wrongReference: (error_m) => {
      faults.wrongReference_m = error_m
    },
    silence: (on) => {
      faults.silent = on
    },
    corrupt: (frames) => {
      faults.corruptFrames = frames
    },
    value: (name, layer = 'ram') => {
      if (!dialect.isKey(name)) throw new RangeError(`the simulated receiver has no command ${name}`)
      const settings = layer === 'ram' ? um980.settings : um980.flash
      if (name === 'MASK') return settings.mask_deg
      const line = settings.config[name.replace('CONFIG ', '')]
      return line === undefined ? settings.outputs[`${name} COM${um980.com}`] : Number(line.split(' ')[2])
    },
    get received() {
      return { bytes: um980.received.bytes, ram: um980.received.commands, bbr: 0, flash: um980.flashWrites }
    },
    describe() {
      const reference = um980.navigation.state.reference ? 'FIXEDPOS' : 'no reference'
      const parts = modelState(model, line, modeText(um980.settings.mode))
      parts.push(um980.refused ? 'position refused' : reference, `${um980.flashWrites} flash writes`)
      if (faults.silent) parts.push('silent')
      if (faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${faults.wrongReference_m} m`)
      if (um980.refusedCommands.size > 0) parts.push(`refuses ${[...um980.refusedCommands].join(', ')}`)
      if (um980.ignoredCommands.size > 0) parts.push(`ignores ${[...um980.ignoredCommands].join(', ')}`)
      if (um980.answers.dropEvery > 0) parts.push(`loses every ${um980.answers.dropEvery}. answer`)
      return parts.join(', ')
    },
  }
}
