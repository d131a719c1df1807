/** The commands of an LG290P: sentences whose answers have the same name. */
import { isMessage, isStored, numbers, type Settings, writeRate, writeStored } from './settings.js'

/** The receiver as commands use it. */
export interface CommandTarget {
  readonly settings: Settings
  readonly runningMode: 'rover' | 'base'
  /** Into flash. Its answer comes when that is done. */
  save(answer: string): void
  restoreFactory(): void
  /** At once and without an answer: those on their way are lost. */
  reset(): void
}

const wrong = 'ERROR,1'
const unknown = 'ERROR,3'
export const version = 'LG290P03AANR02A01S,2025/12/12,10:05:52'
const uniqueId = '16,4C47323930503033'

const known = ['PQTMVERNO', 'PQTMUNIQID', 'PQTMCFGMSGRATE', 'PQTMCLRMSG', 'PQTMSAVEPAR', 'PQTMRESTOREPAR', 'PQTMSRR']
export const isCommand = (name: string): boolean =>
  known.includes(name) || isStored(name) || Object.hasOwn(numbers, name) || isMessage(name)

/** Carries out a command. @returns its answer behind the name; undefined: none, or not yet */
export function runCommand(
  target: CommandTarget,
  [name = '', access, ...values]: readonly string[],
): string | undefined {
  const { settings, runningMode } = target
  if (name === 'PQTMVERNO') return version
  if (name === 'PQTMUNIQID') return `OK,${uniqueId}`
  if (name === 'PQTMCLRMSG') {
    settings.outputs[runningMode] = {}
    return 'OK'
  }
  if (name === 'PQTMSAVEPAR') {
    target.save(name)
    return undefined
  }
  if (name === 'PQTMRESTOREPAR') {
    target.restoreFactory()
    return 'OK'
  }
  if (name === 'PQTMSRR') {
    target.reset()
    return undefined
  }
  if (name === 'PQTMCFGMSGRATE') return messageRate(target, access, values)
  const number = Object.hasOwn(numbers, name) ? numbers[name] : undefined
  if (!number && !isStored(name)) return unknown
  if (access === 'R') return ['OK', number ? number.read(settings) : settings.stored[name]].join()
  if (access !== 'W') return wrong
  const isDone = number ? number.write(settings, Number(values[0] || Number.NaN)) : writeStored(settings, name, values)
  return isDone ? 'OK' : wrong
}

function messageRate({ settings, runningMode }: CommandTarget, access: string | undefined, values: readonly string[]) {
  const [message = ''] = values
  if (!isMessage(message)) return wrong
  if (access === 'R') return ['OK', message, settings.outputs[runningMode][message] ?? 0].join()
  return access === 'W' && writeRate(settings, runningMode, values) ? 'OK' : wrong
}
