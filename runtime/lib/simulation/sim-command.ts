/** The faults of a simulated receiver as the command `sim`. */
import { offsetEnu } from 'rtk-base/gnss'
import { badValue } from 'rtk-base/plugin'
import type { SimulatedReceiver } from 'rtk-base/services'
import { Type } from 'typebox'

const number = (text: string | undefined, what: string): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value))
    throw badValue(`sim: ${what} must be a number, not '${text ?? ''}'`)
  return value
}
const positive = (text: string | undefined, what: string): number => {
  const value = number(text, what)
  if (value < 0) throw badValue(`sim: ${what} must not be negative`)
  return value
}
const enu = (east: string | undefined, north = '0', up = '0') =>
  [number(east, 'east'), number(north, 'north'), number(up, 'up')] as const
const howMany = (text: string | undefined): number | 'most' | 'all' =>
  text === 'most' || text === 'all' ? text : Math.floor(positive(text, 'how many'))
const onOff = (text: string | undefined): boolean => {
  if (text === 'on' || text === '1') return true
  if (text === 'off' || text === '0') return false
  throw badValue(`sim: expected on or off, not '${text ?? ''}'`)
}

/** Differences between the makes. */
export interface SimDialect {
  /** Whether the receiver has this configuration key, or command. */
  isKey(name: string): boolean
  /** Subcommands that this receiver cannot simulate. */
  lacks?: readonly string[]
}

const keyNamed = (key: string | undefined, { isKey }: SimDialect): string | undefined => {
  if (key === undefined || key === '' || key === 'off') return undefined
  if (isKey(key)) return key
  throw badValue(`sim: unknown configuration key '${key}'`)
}

/** The controls of `sim`: usage, help and action. */
const faults: Record<
  string,
  [args: string, help: string, run: (receiver: SimulatedReceiver, args: string[], dialect: SimDialect) => void]
> = {
  move: [
    'E N U [S]',
    'the antenna moves by metres, at once or steadily over S seconds',
    (receiver, [east, north, up, over]) => receiver.move(...enu(east, north, up), positive(over ?? '0', 'the time')),
  ],
  sway: [
    'E N U [PERIOD] [S]|off',
    'the antenna swings to both sides by metres, with a period of 2 s, for S seconds',
    (receiver, [east, north, up, period, over]) => {
      if (east === 'off') receiver.still()
      else {
        const [e, n, u] = enu(east, north, up)
        const over_s = over === undefined ? undefined : positive(over, 'the time')
        receiver.sway({ east: e, north: n, up: u }, Math.max(0.1, positive(period ?? '2', 'the period')), over_s)
      }
    },
  ],
  noise: [
    'quiet|typical|obstructed',
    'noise of the surroundings: multipath, ionosphere, slips, obstructions',
    (receiver, [name]) => {
      if (name !== 'quiet' && name !== 'typical' && name !== 'obstructed') {
        throw badValue(`sim: noise is quiet, typical or obstructed, not '${name ?? ''}'`)
      }
      receiver.noise(name)
    },
  ],
  'lose-lock': [
    'N|most|all [S]',
    'this many satellites lose lock (most: 80 %) and are not received for S seconds',
    (receiver, [which, away]) => receiver.loseLock(howMany(which), positive(away ?? '0', 'the time')),
  ],
  slip: [
    'N|most|all [CYCLES] [silent]',
    'the phases of this many satellites jump by cycles, also 0.5; silent: not shown by the lock indicators',
    (receiver, [which, cycles, silent]) => {
      if (silent !== undefined && silent !== 'silent') throw badValue(`sim: slip takes silent, not '${silent}'`)
      receiver.slip(howMany(which), number(cycles ?? '1', 'the cycles'), silent === 'silent')
    },
  ],
  satellites: [
    'N|off [MASK]',
    'at most N satellites are received, from MASK degrees up',
    (receiver, [most, mask]) => {
      const mask_deg = mask === undefined ? undefined : number(mask, 'the mask')
      receiver.satellites(most === 'off' ? undefined : positive(most, 'how many'), mask_deg)
    },
  ],
  corrections: [
    'M [E N U] [ID]|off',
    'another base M metres to the north sends corrections to rtcm-in: float after 3 s, fixed after 20 s; its position is wrong by E N U',
    (receiver, [away, east, north, up, id]) => {
      if (away === 'off') receiver.corrections(undefined)
      else {
        const [e, n, u] = enu(east ?? '0', north, up)
        const stationId = id === undefined ? undefined : positive(id, 'the station ID')
        receiver.corrections(number(away ?? '12000', 'the distance'), { east: e, north: n, up: u }, stationId)
      }
    },
  ],
  'wrong-fix': [
    'P [E N U]|off',
    'ambiguities are fixed wrongly with probability P, position error in metres',
    (receiver, [probability, east, north, up]) => {
      if (probability === 'off') receiver.wrongFix(0)
      else {
        const [e, n, u] = enu(east ?? '0.3', north ?? '-0.2', up ?? '0.6')
        const by = { east: e, north: n, up: u }
        receiver.wrongFix(Math.min(1, positive(probability ?? '1', 'the probability')), by)
      }
    },
  ],
  jam: [
    'DB|off [L1|L2]',
    'weakens all signals, or those of a band',
    (receiver, [loss, band]) => {
      if (band !== undefined && band !== 'L1' && band !== 'L2')
        throw badValue(`sim: the band is L1 or L2, not '${band}'`)
      receiver.jam(loss === 'off' ? 0 : number(loss, 'the loss in dB'), band)
    },
  ],
  spoof: [
    '0|1|2|3|off',
    'reported spoofing state: unknown, none, indicated, multiple',
    (receiver, [state]) => {
      const value = state === 'off' ? 1 : number(state, 'the state')
      if (value !== 0 && value !== 1 && value !== 2 && value !== 3) throw badValue('sim: spoof is 0, 1, 2 or 3')
      receiver.spoof(value)
    },
  ],
  antenna: [
    'ok|short|open',
    'state of the antenna supervisor; without ok nothing is received',
    (receiver, [state]) => {
      if (state !== 'ok' && state !== 'short' && state !== 'open') {
        throw badValue(`sim: antenna is ok, short or open, not '${state ?? ''}'`)
      }
      receiver.antenna(state)
    },
  ],
  unplug: ['', 'the device disappears', (receiver) => receiver.unplug()],
  replug: ['', 'the device returns as after a power cut', (receiver) => receiver.replug()],
  restart: [
    '[cold]',
    'it restarts: RAM is built of flash again, USB is away for 1.2 s; cold: the fix takes longer, and converges again',
    (receiver, [how]) => {
      if (how !== undefined && how !== 'cold') throw badValue(`sim: restart takes cold or nothing, not '${how}'`)
      receiver.restart(how === 'cold')
    },
  ],
  flash: [
    'rover|survey-in|fixed [E N U]',
    'a time mode left in its flash, fixed at this distance, with RTCM enabled',
    (receiver, [mode, east, north, up]) => {
      if (mode === 'rover' || mode === 'survey-in') receiver.flash(mode)
      else if (mode !== 'fixed') throw badValue(`sim: flash is rover, survey-in or fixed, not '${mode ?? ''}'`)
      else {
        const away = {
          east: number(east ?? '0', 'east'),
          north: number(north ?? '0', 'north'),
          up: number(up ?? '0', 'up'),
        }
        receiver.flash({ arp: offsetEnu(receiver.truth, away) })
      }
    },
  ],
  set: [
    'KEY VALUE [flash]',
    'someone else writes a key, through another port',
    (receiver, [key, value, layer = 'ram'], dialect) => {
      const name = keyNamed(key, dialect)
      if (name === undefined) throw badValue('sim: set needs a key and a value')
      if (layer !== 'ram' && layer !== 'flash') throw badValue(`sim: the layer is ram or flash, not '${layer}'`)
      receiver.set(name, number(value, 'the value'), layer)
    },
  ],
  nak: ['KEY|off', 'a key is refused', (receiver, key, dialect) => receiver.nak(keyNamed(key.join(' '), dialect))],
  ignore: [
    'KEY|off',
    'a key is acknowledged, but keeps its value',
    (receiver, key, dialect) => receiver.ignore(keyNamed(key.join(' '), dialect)),
  ],
  'drop-acks': [
    'N|off',
    'every N-th ACK or NAK gets lost',
    (receiver, [every]) => receiver.dropAcks(every === 'off' ? 0 : number(every ?? '2', 'how many')),
  ],
  'deaf-above': [
    'BAUD|off',
    'above this rate only garbage is heard of it',
    (receiver, [baud]) => receiver.deafAbove(baud === 'off' ? 0 : number(baud, 'the rate')),
  ],
  'wrong-1005': [
    'M|off',
    'its 1005 is wrong by M metres in X',
    (receiver, [error]) => receiver.wrongReference(error === 'off' ? 0 : number(error ?? '10', 'metres')),
  ],
  silence: ['on|off', 'it sends and answers nothing', (receiver, [on]) => receiver.silence(onOff(on))],
  corrupt: [
    'N',
    'the next N RTCM frames are damaged',
    (receiver, [frames]) => receiver.corrupt(number(frames ?? '1', 'the number of frames')),
  ],
}

/** The action `sim`, but for what it runs. */
export const simAction = {
  name: 'sim',
  summary: 'causes a fault of the simulated receiver (sim help lists the faults); without a value: shows the state',
  input: { line: Type.Optional(Type.String()) },
}

const known = ({ lacks = [] }: SimDialect) => Object.entries(faults).filter(([name]) => !lacks.includes(name))

/** One line for each. */
function helpText(dialect: SimDialect): string {
  const lines = known(dialect).map(([name, [args, help]]) => [`sim ${name} ${args}`.trim(), help])
  const width = Math.max(...lines.map(([usage]) => usage.length))
  return lines.map(([usage, help]) => `${usage.padEnd(width)}  ${help}`).join('\n')
}

/**
 * Runs the text behind `sim=`, e.g. `move 30 0 0` or `antenna open`; without text it only shows the state.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function runSimCommand(receiver: SimulatedReceiver, text: string | undefined, dialect: SimDialect): string {
  const [name = '', ...args] = (text ?? '').trim().split(/[\s,]+/)
  if (name === 'help') return helpText(dialect)
  if (name !== '') {
    const words = known(dialect)
    const [, fault] = words.find(([word]) => word === name) ?? []
    if (!fault) throw badValue(`sim: unknown '${name}'; known are help, ${words.map(([word]) => word).join(', ')}`)
    const [, , run] = fault
    run(receiver, args, dialect)
  }
  return receiver.describe()
}
