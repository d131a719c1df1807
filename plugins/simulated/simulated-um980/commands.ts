/** The ASCII commands of a UM980: each is answered, then carried out. */
import { modeText } from './mode.js'
import { logs } from './output/logs.js'
import { applySetting, configDump, isOutput, maskDump, type Settings } from './settings.js'

/** The receiver as commands use it. */
export interface CommandTarget {
  readonly settings: Settings
  readonly com: number
  /** The entered position is not believed. */
  readonly refused: boolean
  /** After all answers of commands that were sent back to back. */
  say(data: string | Uint8Array | undefined): void
  modeText(text: string): string
  outputList(lines: readonly string[]): string
  log(name: string): Uint8Array | undefined
  settingChanged(words: readonly string[]): void
  save(): void
  /** @param factory the flash is erased too */
  resetCommand(cold: boolean, factory: boolean): void
  /** The signal group is kept in flash. The receiver starts again. */
  setSignalGroup(words: readonly string[]): boolean
}

/** Commands that ask or start something; false: wrong arguments. The others are settings. */
const table: Readonly<Record<string, (target: CommandTarget, args: readonly string[]) => boolean>> = {
  SAVECONFIG: (target) => {
    target.save()
    return true
  },
  RESET: (target, args) => {
    target.resetCommand(args.length > 0, false)
    return true
  },
  FRESET: (target) => {
    target.resetCommand(true, true)
    return true
  },
  LOGLIST: list,
  LOGLISTA: list,
  UNILOGLIST: list,
}

function list(target: CommandTarget): boolean {
  target.say(target.outputList(Object.entries(target.settings.outputs).map(([key, rate]) => `${key} ${rate}`)))
  return true
}

export const isCommand = (name: string): boolean =>
  name in table || ['MODE', 'CONFIG', 'MASK', 'UNMASK', 'UNLOG'].includes(name) || isOutput(name)

/** Carries out a command; the text behind `response: `. */
export function runCommand(target: CommandTarget, line: string): string {
  const words = line.toUpperCase().split(/[\s,]+/)
  const [name = ''] = words
  return carryOut(target, words) ? 'OK' : `PARSING FAILD NO MATCHING FUNC  ${name}`
}

function carryOut(target: CommandTarget, words: readonly string[]): boolean {
  const [name = '', ...args] = words
  if (Object.hasOwn(table, name)) return table[name](target, args)
  if (name === 'MODE' && args.length === 0) {
    target.say(target.modeText(modeText(target.settings.mode)))
    return true
  }
  if (name === 'CONFIG' && args.length === 0) {
    const refused = target.refused ? modeText(target.settings.mode) : undefined
    for (const text of configDump(target.settings, refused)) target.say(text)
    return true
  }
  if (name === 'MASK' && args.length === 0) {
    for (const text of maskDump(target.settings)) target.say(text)
    return true
  }
  if (name === 'CONFIG' && args[0] === 'SIGNALGROUP') return target.setSignalGroup(words)
  // Without a rate a log comes once.
  const isOnce = /[AB]$/.test(name) && isOutput(name) && args.every((word) => word.startsWith('COM'))
  if (isOnce) {
    target.say(name.slice(0, -1) in logs ? target.log(name) : undefined)
    return true
  }
  const isDone = applySetting(target.settings, words, target.com)
  if (isDone) target.settingChanged(words)
  return isDone
}
