/** The ASCII commands of a mosaic and its replies (echo, state and prompt as recorded; refusals and the login: assumed). */
import { isSetting, readSetting, type Settings, writeSetting } from './settings.js'

/** The receiver as commands use it. */
export interface CommandTarget {
  readonly settings: Settings
  /** Whether this connection may use commands. */
  isLoggedIn: boolean
  logIn(user: string, password: string): boolean
  save(): void
  /** @param cold orbits are forgotten @param factory the flash is erased too */
  resetCommand(cold: boolean, factory: boolean): void
}

export const port = 'USB1'
const prompt = `${port}>`
export const identity = { product: 'mosaic-G5 P3', name: 'GRB0060', serial: '0100019577', firmware: '1.1.0' }

const identification = () => {
  const { product, name, serial, firmware } = identity
  return [
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<rxproduct>',
      `  <hwplatform product="${product}" name="${name}" serialnr="${serial}" hwversion="1"/>`,
    ],
    ['  <firmware name="mosaic-G5" version="1.1.0" flavor="release"/>'.replace('1.1.0', firmware), '</rxproduct>'],
  ]
}
const capabilities = 'ReceiverCapabilities, Main, GPSL1CA+GPSL2PY+GPSL2C+GLOL1CA+GLOL2CA, none, APME, 50, 20'

const reply = (echo: string, lines: readonly string[], end = prompt) =>
  [`$R: ${echo}`, ...lines.map((line) => `  ${line}`), end].join('\r\n')
const refusal = (name: string, why: string) => `$R? ${name}: ${why}\r\n${prompt}`
const wrongArgument = (name: string, argument: string) => refusal(name, `Argument '${argument}' is invalid!`)

function listing(echo: string, pages: readonly (readonly string[])[]): string {
  const parts = pages.map((lines, i) => {
    const end = i < pages.length - 1 ? '---->' : prompt
    return [`$-- BLOCK ${i + 1} / ${pages.length}`, ...lines, '', end].join('\r\n')
  })
  return [`$R; ${echo}\r\n---->`, ...parts].join('')
}

type Run = (target: CommandTarget, echo: string, args: readonly string[]) => string

const table: Readonly<Record<string, Run>> = {
  getReceiverCapabilities: (_target, echo) => reply(echo, [capabilities]),
  lstInternalFile: (_target, echo, [file]) =>
    file === 'Identification' ? listing(echo, identification()) : wrongArgument('lstInternalFile', 'File'),
  exeCopyConfigFile: (target, echo, [from, to]) => {
    if (from !== 'Current' || to !== 'Boot') return wrongArgument('exeCopyConfigFile', 'Source')
    target.save()
    return reply(echo, ['CopyConfigFile, Current, Boot'])
  },
  exeResetReceiver: (target, echo, [level = '', erase = 'none']) => {
    if (level !== 'Soft' && level !== 'Hard') return wrongArgument('exeResetReceiver', 'Level')
    target.resetCommand(/SatData|all/.test(erase), /Config|all/.test(erase))
    return reply(echo, [`ResetReceiver, ${level}, ${erase}`], 'STOP>')
  },
}

export const isCommand = (name: string): boolean =>
  Object.hasOwn(table, name) || name === 'login' || isSetting(name.replace(/^[gs]et/, ''))

/** Carries out a line. @param isIgnored it is answered only */
export function runCommand(target: CommandTarget, line: string, isIgnored: boolean): string {
  if (/^S{10,}$/.test(line)) return prompt
  const [name = '', ...args] = line.split(',').map((word) => word.trim())
  if (name === 'login') {
    const isDone = target.logIn(args[0] ?? '', args[1] ?? '')
    return isDone
      ? `$R! LogIn\r\n  User ${args[0]} logged in.\r\n${prompt}`
      : refusal('LogIn', 'Wrong user name or password!')
  }
  if (!isCommand(name)) return refusal(name, 'Invalid command!')
  const isReading = name.startsWith('get') || name.startsWith('lst')
  if (!target.isLoggedIn && !isReading) return refusal(name, 'Not authorized!')
  if (Object.hasOwn(table, name)) return table[name](target, line, args)
  const setting = name.slice(3)
  if (isReading || isIgnored) {
    const state = readSetting(target.settings, setting, isReading ? args : [])
    return typeof state === 'string' ? wrongArgument(name, state) : reply(line, state)
  }
  const state = writeSetting(target.settings, setting, args)
  return typeof state === 'string' ? wrongArgument(name, state) : reply(line, state)
}

export const refusedReply = (line: string): string => refusal(line.split(',')[0] ?? '', 'Command refused!')
