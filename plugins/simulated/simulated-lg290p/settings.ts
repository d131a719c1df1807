/** The settings of an LG290P: most have an effect only after PQTMSAVEPAR and PQTMSRR, those of its outputs at once. */
import { roundTo } from 'rtk-base/gnss'
import { type Static, Type } from 'typebox'

export const baseMode = '2'
const roverModes = ['0', '1']
const epochs_ms = [50, 100, 200, 500, 1000]

const everyEpoch = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, [1]]))

/** The messages of a mode, which come when the mode is entered. */
const factoryOutputs = {
  rover: everyEpoch(['GGA', 'RMC', 'GLL', 'VTG', 'GSA', 'GSV']),
  base: everyEpoch(['RTCM3-1005', 'RTCM3-107X', 'RTCM3-108X', 'RTCM3-109X', 'RTCM3-111X', 'RTCM3-112X']),
}

const kept = ['PQTMCFGRCVRMODE', 'PQTMCFGSVIN', 'PQTMCFGRTCM', 'PQTMCFGCNST', 'PQTMCFGFIXRATE']
const areAccepted = (stored: Record<string, string[]>): boolean =>
  kept.every((command) => accept[command]?.(stored[command] ?? []) !== undefined)

/** By command, the values as they are read back. Plain data. */
export const Stored = Type.Refine(Type.Record(Type.String(), Type.Array(Type.String())), areAccepted)

const outputs = Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }))

/** Plain data. */
export const Settings = Type.Object({
  stored: Stored,
  stationId: Type.Integer({ minimum: 0, maximum: 4095 }),
  mask_deg: Type.Number({ minimum: -90, maximum: 90 }),
  /** By running mode, then by message: rate, then version or offset. */
  outputs: Type.Object({ rover: outputs, base: outputs }),
})
export type Settings = Static<typeof Settings>

export function factorySettings(): Settings {
  return {
    stored: {
      PQTMCFGRCVRMODE: ['1'],
      PQTMCFGSVIN: ['0', '0', '0.0', '0.0000', '0.0000', '0.0000'],
      PQTMCFGRTCM: ['4', '0', '-90.0', '07', '06', '1', '0'],
      PQTMCFGCNST: ['1', '1', '1', '1', '1', '1'],
      PQTMCFGFIXRATE: ['100'],
    },
    stationId: 290,
    mask_deg: 5,
    outputs: structuredClone(factoryOutputs),
  }
}

const isOneOf = (value: string, allowed: readonly string[]) => allowed.includes(value)
const isWhole = (value: string, most: number) => /^\d+$/.test(value) && Number(value) <= most
const isNumber = (value: string) => value !== '' && Number.isFinite(Number(value))

/** Stored form of written values; undefined: wrong parameters. */
const accept: Readonly<Record<string, (values: readonly string[]) => string[] | undefined>> = {
  PQTMCFGRCVRMODE: (values) => (isOneOf(values[0] ?? '', [...roverModes, baseMode]) ? [...values] : undefined),
  PQTMCFGSVIN: ([kind = '', seconds = '', acc = '', ...place]) => {
    const fits = isOneOf(kind, ['0', '1', '2']) && isWhole(seconds, 86_400) && isNumber(acc) && place.every(isNumber)
    const axes = place.map((axis) => Number(axis).toFixed(4))
    return fits && place.length === 3 ? [kind, seconds, Number(acc).toFixed(1), ...axes] : undefined
  },
  PQTMCFGRTCM: (values) => {
    const [msm = '', , , , , kind = '', every = ''] = values
    const fits =
      values.length === 7 && isOneOf(msm, ['4', '7']) && isOneOf(kind, ['0', '1', '2']) && isWhole(every, 3600)
    return fits ? [...values] : undefined
  },
  PQTMCFGCNST: (values) =>
    values.length === 6 && values.every((value) => isOneOf(value, ['0', '1'])) ? [...values] : undefined,
  PQTMCFGFIXRATE: (values) => (values.length === 1 && epochs_ms.includes(Number(values[0])) ? [...values] : undefined),
}

export const isStored = (command: string): boolean => Object.hasOwn(accept, command)

export function writeStored(settings: Settings, command: string, values: readonly string[]): boolean {
  const accepted = accept[command]?.(values)
  if (!accepted) return false
  const entersBase = command === 'PQTMCFGRCVRMODE' && accepted[0] === baseMode && modeOf(settings.stored) !== 'base'
  settings.stored[command] = accepted
  // The quirk of a base: its type of MSM is 4 again, and its epoch a second.
  if (entersBase) {
    settings.stored.PQTMCFGRTCM = ['4', ...(settings.stored.PQTMCFGRTCM ?? []).slice(1)]
    settings.stored.PQTMCFGFIXRATE = ['1000']
  }
  return true
}

export const modeOf = (stored: Settings['stored']): 'rover' | 'base' =>
  stored.PQTMCFGRCVRMODE?.[0] === baseMode ? 'base' : 'rover'

const messages: Readonly<Record<string, (rate: number, more: readonly string[], mode: 'rover' | 'base') => boolean>> = {
  ...Object.fromEntries(
    ['GGA', 'RMC', 'GLL', 'VTG', 'GSA', 'GSV', 'RTCM3-1005', 'RTCM3-1006', 'RTCM3-1033', 'RTCM3-1230'].map((name) => [
      name,
      (_rate: number, more: readonly string[]) => more.length === 0,
    ]),
  ),
  ...Object.fromEntries(
    ['107X', '108X', '109X', '111X', '112X', '113X'].map((name) => [
      `RTCM3-${name}`,
      (_rate: number, more: readonly string[]) => more.length === 1 && isWhole(more[0] ?? '', 255),
    ]),
  ),
  // Only at every epoch.
  ...Object.fromEntries(
    ['1019', '1020', '1041', '1042', '1044', '1046'].map((name) => [`RTCM3-${name}`, (rate: number) => rate <= 1]),
  ),
  PQTMPVT: (_rate, [version]) => version === '1',
  PQTMEPE: (_rate, [version]) => version === '2',
  PQTMEOE: (rate, [version]) => rate <= 1 && version === '1',
  PQTMSVINSTATUS: (_rate, [version], mode) => version === '1' && mode === 'base',
}

export const isMessage = (name: string): boolean => Object.hasOwn(messages, name)

/** @param more version or offset @returns false: wrong parameters */
export function writeRate(
  settings: Settings,
  mode: 'rover' | 'base',
  [name = '', rate = '', ...more]: readonly string[],
) {
  if (!isWhole(rate, 255) || !messages[name]?.(Number(rate), more, mode)) return false
  const outputs = settings.outputs[mode]
  delete outputs[name]
  if (Number(rate) > 0) outputs[name] = [rate, ...more].map(Number)
  return true
}

/** Settings that have an effect at once and are one number. */
export const numbers: Readonly<
  Record<string, { read(settings: Settings): string; write(settings: Settings, value: number): boolean }>
> = {
  PQTMCFGRSID: {
    read: ({ stationId }) => String(stationId),
    write: (settings, value) => {
      if (!Number.isInteger(value) || value < 0 || value > 4095) return false
      settings.stationId = value
      return true
    },
  },
  PQTMCFGELETHD: {
    read: ({ mask_deg }) => mask_deg.toFixed(1),
    write: (settings, value) => {
      if (!(Math.abs(value) <= 90)) return false
      settings.mask_deg = roundTo(value, 1)
      return true
    },
  },
}
