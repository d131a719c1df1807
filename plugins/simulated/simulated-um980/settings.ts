/** The settings of a UM980: in RAM until SAVECONFIG copies them to flash. Lines and factory values as recorded. */

import { type Static, Type } from 'typebox'
import { factoryMode, Mode, parseMode } from './mode.js'
import { configLine } from './output/frames.js'

const lines = Type.Record(Type.String(), Type.String())
/** The rate of the line is read from it. */
const portLine = Type.String({ pattern: '^CONFIG COM[1-3] [1-9]\\d*' })

/** Plain data. */
export const Settings = Type.Object({
  mode: Mode,
  /** Name → line, in the order of the dump. */
  config: Type.Unsafe<Record<string, string>>(
    Type.Intersect([lines, Type.Object({ COM1: portLine, COM2: portLine, COM3: portLine })]),
  ),
  mask_deg: Type.Number({ minimum: -90, maximum: 90 }),
  /** Constellations that are switched off, and what else MASK was given, each with its line. */
  masks: lines,
  /** `NAME COMn` → seconds. */
  outputs: Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 })),
})
export type Settings = Static<typeof Settings>

const maskNames: Readonly<Record<string, string>> = {
  GPS: 'GPS',
  GLO: 'GLONASS',
  GAL: 'Galileo',
  BDS: 'BeiDou',
  QZSS: 'QZSS',
}
const bauds = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600]

export function factorySettings(): Settings {
  const lines = [
    ...['ANTENNA POWERON', 'NMEAVERSION V410', 'VELSTDTHD DISABLE 0 0', 'RTK TIMEOUT 120', 'RTK RELIABILITY 3 1'],
    ...['PPP TIMEOUT 120', 'DGPS TIMEOUT 300', 'RTCMB1CB2A ENABLE', 'ANTENNADELTAHEN 0.0000 0.0000 0.0000'],
    ...['PPS ENABLE GPS POSITIVE 500000 1000 0 0', 'SIGNALGROUP 1', 'ANTIJAM AUTO', 'AGNSS DISABLE', 'LOGSEQ 1'],
    ...['CMDFORMAT 0', 'COM1 115200', 'COM2 115200', 'COM3 115200'],
  ]
  const config = Object.fromEntries(lines.map((line) => [keyOf(line.split(' ')), `CONFIG ${line}`]))
  return { mode: factoryMode, config, mask_deg: 5, masks: {}, outputs: {} }
}

/** Not in the dump of a factory state. */
const more = ['UNDULATION', 'BASEANTENNAMODEL', 'SELFANTENNAPCO', 'SBAS', 'MMP', 'SMOOTH', 'BASEOBSFILTER', 'PVTALG']
/** Settings of which there are several lines, by their next word. */
const several = ['RTK', 'PPP', 'SBAS']
const keyOf = ([name = '', next]: readonly string[]) => (several.includes(name) ? `${name} ${next}` : name)

const known =
  /^(RTCM(10(0[5-7]|1[39]|20|33|4[2-6]|[7-9][47])|11[0-3][47]|1230)|(VERSION|BESTNAV|RECTIME|STADOP|SATSINFO|BESTSAT|OBSVM|GPSUTC|GALUTC|BD3UTC|AGC|(GPS|BDS|BD3|GAL|GLO)EPH)[AB]|G[PN](GGA|RMC|GSA|GSV|VTG|ZDA|GLL|GST))$/
export const isOutput = (name: string): boolean => known.test(name)

/** Carries out one line that sets something. @param words in capitals @param com its port; false: it is refused */
export function applySetting(settings: Settings, words: readonly string[], com: number): boolean {
  const [name = '', ...args] = words
  if (name === 'MODE') {
    const mode = parseMode(args)
    if (mode) settings.mode = mode
    return mode !== undefined
  }
  if (name === 'CONFIG') return applyConfig(settings, args)
  if (name === 'MASK' || name === 'UNMASK') return applyMask(settings, name === 'MASK', args)
  if (name === 'UNLOG') return unlog(settings, args, com)
  return isOutput(name) && log(settings, name, args, com)
}

function applyConfig({ config }: Settings, args: readonly string[]): boolean {
  const key = keyOf(args)
  const isKnown = key in config || more.includes(args[0] ?? '')
  if (!isKnown || args.length < 2) return false
  if (/^COM\d$/.test(key) && !bauds.includes(Number(args[1]))) return false
  if (key === 'SIGNALGROUP' && !args.slice(1).every((value) => /^\d$/.test(value))) return false
  const height = key === 'UNDULATION' && args[1] !== 'AUTO' ? Number(args[1]) : 0
  if (!Number.isFinite(height)) return false
  const text = key === 'UNDULATION' && args[1] !== 'AUTO' ? `UNDULATION ${height.toFixed(4)}` : args.join(' ')
  config[key] = `CONFIG ${text}`
  return true
}

function applyMask(settings: Settings, on: boolean, [what = '', value]: readonly string[]): boolean {
  if (on && what !== '' && Number.isFinite(Number(what))) {
    if (Math.abs(Number(what)) > 90) return false
    settings.mask_deg = Number(what)
    return true
  }
  if (!(what in maskNames) && what !== 'RTCMCN0') return false
  delete settings.masks[what]
  if (on) settings.masks[what] = value === undefined ? `MASK ${what}` : `MASK ${what} ${value}`
  return true
}

function unlog(settings: Settings, args: readonly string[], com: number): boolean {
  const port = args.find((word) => /^COM[1-3]$/.test(word)) ?? `COM${com}`
  const name = args.find((word) => !word.startsWith('COM'))
  if (name !== undefined && !isOutput(name)) return false
  for (const key of Object.keys(settings.outputs)) {
    if (key.endsWith(` ${port}`) && (name === undefined || key.startsWith(`${name} `))) delete settings.outputs[key]
  }
  return true
}

function log({ outputs }: Settings, name: string, args: readonly string[], com: number): boolean {
  const port = /^COM[1-3]$/.test(args[0] ?? '') ? args[0] : undefined
  const [rate = '1', extra] = port ? args.slice(1) : args
  const seconds = rate === 'ONCHANGED' ? 1 : Number(rate)
  if (!(seconds >= 0) || extra !== undefined) return false
  const key = `${name} ${port ?? `COM${com}`}`
  delete outputs[key]
  if (seconds > 0) outputs[key] = seconds
  return true
}

export const maskedNames = ({ masks }: Settings): string[] =>
  Object.keys(masks).flatMap((name) => maskNames[name] ?? [])
export const leastCn0 = ({ masks }: Settings): number => Number(masks.RTCMCN0?.split(' ')[2] ?? 0)
export const baudOf = ({ config }: Settings, com: number): number => Number(config[`COM${com}`].split(' ')[2])

/** CONFIG UNDULATION; undefined: AUTO. */
export function enteredUndulation({ config }: Settings): number | undefined {
  const value = Number(config.UNDULATION?.split(' ')[2])
  return Number.isNaN(value) ? undefined : value
}

/** CONFIG BASEANTENNAMODEL name serial setup. */
export function antennaOf({ config }: Settings): { name: string; serial: string; setup: number } {
  const [, , name = '', serial = '', setup = '0'] = config.BASEANTENNAMODEL?.replaceAll('"', '').split(' ') ?? []
  return { name, serial, setup: Number(setup) & 255 }
}

/** Answer to `CONFIG`. @param refused the entered position is not where the receiver is */
export function configDump({ config }: Settings, refused: string | undefined): string[] {
  const lines = Object.entries(config).map(([key, text]) => configLine(key.split(' ')[0], text))
  return refused === undefined ? lines : [...lines, configLine('MODE', `${refused} position is not correct`)]
}

/** Answer to `MASK`. */
export const maskDump = ({ mask_deg, masks }: Settings): string[] =>
  [`MASK ${mask_deg.toFixed(1)}`, ...Object.values(masks)].map((text) => configLine('MASK', text))
