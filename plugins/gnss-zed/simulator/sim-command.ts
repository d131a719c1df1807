/** The faults of the simulated receiver as the command `sim`. */
import { offsetEnu } from 'rtk-base/gnss'
import { badValue } from 'rtk-base/plugin'
import type { SimulatedReceiver } from 'rtk-base/services'
import { configKeys } from '../ubx/index.js'

const number = (text: string | undefined, what: string): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value))
    throw badValue(`sim: ${what} must be a number, not '${text ?? ''}'`)
  return value
}
const onOff = (text: string | undefined): boolean => {
  if (text === 'on' || text === '1') return true
  if (text === 'off' || text === '0') return false
  throw badValue(`sim: expected on or off, not '${text ?? ''}'`)
}

const keyNamed = (key: string | undefined): string | undefined => {
  if (key === undefined || key === 'off') return undefined
  if (configKeys.some(({ name }) => name === key)) return key
  throw badValue(`sim: there is no configuration key '${key}'`)
}

/** The controls of `sim`: usage, help, and what is done. */
const faults: Record<string, [args: string, help: string, run: (receiver: SimulatedReceiver, args: string[]) => void]> =
  {
    move: [
      'E N U',
      'the antenna moves by metres',
      (receiver, [east, north, up]) =>
        receiver.move(number(east, 'east'), number(north ?? '0', 'north'), number(up ?? '0', 'up')),
    ],
    corrections: [
      'M|off',
      'another base M metres to the north sends corrections to rtcm-in: float after 3 s, fixed after 20 s',
      (receiver, [away]) => receiver.corrections(away === 'off' ? undefined : number(away ?? '12000', 'the distance')),
    ],
    jam: [
      'DB|off',
      'all signals are weaker',
      (receiver, [loss]) => receiver.jam(loss === 'off' ? 0 : number(loss, 'the loss in dB')),
    ],
    antenna: [
      'ok|short|open',
      'the supervisor says so, and nothing is received',
      (receiver, [state]) => {
        if (state !== 'ok' && state !== 'short' && state !== 'open') {
          throw badValue(`sim: antenna is ok, short or open, not '${state ?? ''}'`)
        }
        receiver.antenna(state)
      },
    ],
    unplug: ['', 'the device vanishes', (receiver) => receiver.unplug()],
    replug: ['', 'it is back as after a power cut', (receiver) => receiver.replug()],
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
      'what someone left in its flash as time mode, fixed so far away; with RTCM on',
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
      (receiver, [key, value, layer = 'ram']) => {
        const name = keyNamed(key)
        if (name === undefined) throw badValue('sim: set needs a key and a value')
        if (layer !== 'ram' && layer !== 'flash') throw badValue(`sim: the layer is ram or flash, not '${layer}'`)
        receiver.set(name, number(value, 'the value'), layer)
      },
    ],
    nak: ['KEY|off', 'a key is refused', (receiver, [key]) => receiver.nak(keyNamed(key))],
    ignore: [
      'KEY|off',
      'a key is acknowledged, but keeps its value',
      (receiver, [key]) => receiver.ignore(keyNamed(key)),
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
    silence: ['on|off', 'it says and answers nothing', (receiver, [on]) => receiver.silence(onOff(on))],
    corrupt: [
      'N',
      'the next N RTCM frames are damaged',
      (receiver, [frames]) => receiver.corrupt(number(frames ?? '1', 'the number of frames')),
    ],
  }

export const simHelp = 'faults of the simulated receiver (sim help lists them); alone it shows the state'

/** One line for each. */
function helpText(): string {
  const lines = Object.entries(faults).map(([name, [args, help]]) => [`sim ${name} ${args}`.trim(), help])
  const width = Math.max(...lines.map(([usage]) => usage.length))
  return lines.map(([usage, help]) => `${usage.padEnd(width)}  ${help}`).join('\n')
}

/**
 * Runs the text behind `sim=`, e.g. `move 30 0 0` or `antenna open`; without text it only shows the state.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function runSimCommand(receiver: SimulatedReceiver, text: string | undefined): string {
  const [name = '', ...args] = (text ?? '').trim().split(/[\s,]+/)
  if (name === 'help') return helpText()
  if (name !== '') {
    const fault = Object.hasOwn(faults, name) ? faults[name] : undefined
    if (!fault) throw badValue(`sim: unknown '${name}'; known are help, ${Object.keys(faults).join(', ')}`)
    const [, , run] = fault
    run(receiver, args)
  }
  return receiver.describe()
}
