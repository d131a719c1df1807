/** The faults of the simulated receiver as a service and as the command `sim`. */
import { offsetEnu } from 'rtk-base/gnss'
import { badValue, unavailable } from 'rtk-base/plugin'
import type { SimulatedReceiver } from 'rtk-base/services'
import { type ConfigPair, configKeys, keyId } from '../ubx/index.js'
import { fixedSettings, outputSettings, surveySettings } from './factory.js'
import type { SimulatedPort } from './port.js'

export function simulatorControl(simulated: SimulatedPort | undefined): SimulatedReceiver {
  const port = () => {
    if (!simulated) throw unavailable('the receiver is not a simulated one: set gnss-zed.port to simulator')
    return simulated
  }
  const zed = () => port().zed
  return {
    get truth() {
      return zed().model.truth
    },
    move: (east, north, up) => zed().model.move(east, north, up),
    jam: (loss_db) => {
      zed().model.jam_db = Math.max(0, loss_db)
    },
    antenna: (state) => {
      zed().model.antenna = state
    },
    unplug: () => port().unplug(),
    replug: () => port().replug(),
    restart: () => zed().reset('restart', false),
    nak: (key) => {
      if (key === undefined) zed().config.refused.clear()
      else zed().config.refused.add(keyId(key))
    },
    ignore: (key) => {
      if (key === undefined) zed().config.ignored.clear()
      else zed().config.ignored.add(keyId(key))
    },
    set: (key, value, layer = 'ram') => {
      if (layer === 'ram') zed().set(keyId(key), value)
      else zed().config.store([[keyId(key), value]])
    },
    dropAcks: (every) => {
      zed().faults.dropAcks = every
    },
    deafAbove: (baud) => {
      port().deafAbove_baud = baud
    },
    flash: (mode) => {
      const { options, config } = zed()
      config.store(flashOf(mode))
      if (mode !== 'rover') config.store(outputSettings(options))
    },
    wrongReference: (error_m) => {
      zed().faults.wrongReference_m = error_m
    },
    silence: (on) => {
      zed().faults.silent = on
    },
    corrupt: (frames) => {
      zed().faults.corruptFrames = frames
    },
    value: (key, layer = 'ram') => zed().config.layerValue(keyId(key), layer),
    get received() {
      return { bytes: zed().receivedBytes, ...zed().config.written }
    },
    describe() {
      const { east, north, up } = zed().model.offset
      const { antenna, jam_db } = zed().model
      const parts = [
        port().plugged ? 'plugged' : 'unplugged',
        `moved E ${east} N ${north} U ${up} m`,
        `antenna ${antenna}`,
        `jam ${jam_db} dB`,
        `tmode ${zed().navigation.mode}`,
      ]
      if (zed().faults.silent) parts.push('silent')
      if (zed().faults.wrongReference_m !== 0) parts.push(`1005 wrong by ${zed().faults.wrongReference_m} m`)
      if (zed().config.refused.size > 0) parts.push(`refuses ${zed().config.refused.size} keys`)
      if (zed().config.ignored.size > 0) parts.push(`ignores ${zed().config.ignored.size} keys`)
      if (zed().faults.dropAcks > 0) parts.push(`loses every ${zed().faults.dropAcks}. ACK`)
      if (port().deafAbove_baud > 0) parts.push(`deaf above ${port().deafAbove_baud} baud`)
      return parts.join(', ')
    },
  }
}

function flashOf(mode: Parameters<SimulatedReceiver['flash']>[0]): readonly ConfigPair[] {
  if (mode === 'rover') return [[keyId('CFG-TMODE-MODE'), 0]]
  return mode === 'survey-in' ? surveySettings : fixedSettings(mode.arp)
}

type Run = (receiver: SimulatedReceiver, args: string[]) => void

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

const faults: Record<string, Run> = {
  move: (receiver, [east, north, up]) =>
    receiver.move(number(east, 'east'), number(north ?? '0', 'north'), number(up ?? '0', 'up')),
  jam: (receiver, [loss]) => receiver.jam(loss === 'off' ? 0 : number(loss, 'the loss in dB')),
  antenna: (receiver, [state]) => {
    if (state !== 'ok' && state !== 'short' && state !== 'open') {
      throw badValue(`sim: antenna is ok, short or open, not '${state ?? ''}'`)
    }
    receiver.antenna(state)
  },
  unplug: (receiver) => receiver.unplug(),
  replug: (receiver) => receiver.replug(),
  restart: (receiver) => receiver.restart(),
  nak: (receiver, [key]) => receiver.nak(keyNamed(key)),
  ignore: (receiver, [key]) => receiver.ignore(keyNamed(key)),
  set: (receiver, [key, value, layer = 'ram']) => {
    const name = keyNamed(key)
    if (name === undefined) throw badValue('sim: set needs a key and a value')
    if (layer !== 'ram' && layer !== 'flash') throw badValue(`sim: the layer is ram or flash, not '${layer}'`)
    receiver.set(name, number(value, 'the value'), layer)
  },
  'drop-acks': (receiver, [every]) => receiver.dropAcks(every === 'off' ? 0 : number(every ?? '2', 'how many')),
  'deaf-above': (receiver, [baud]) => receiver.deafAbove(baud === 'off' ? 0 : number(baud, 'the rate')),
  flash: (receiver, [mode, east, north, up]) => {
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
  'wrong-1005': (receiver, [error]) => receiver.wrongReference(error === 'off' ? 0 : number(error ?? '10', 'metres')),
  silence: (receiver, [on]) => receiver.silence(onOff(on)),
  corrupt: (receiver, [frames]) => receiver.corrupt(number(frames ?? '1', 'the number of frames')),
}

export const simHelp = `faults of the simulated receiver: ${Object.keys(faults).join(', ')}`

/**
 * Runs the text behind `sim=`, e.g. `move 30 0 0` or `antenna open`; without text it only tells the state.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function runSimCommand(receiver: SimulatedReceiver, text: string | undefined): string {
  const [name = '', ...args] = (text ?? '').trim().split(/[\s,]+/)
  if (name !== '') {
    const run = Object.hasOwn(faults, name) ? faults[name] : undefined
    if (!run) throw badValue(`sim: unknown '${name}'; known are ${Object.keys(faults).join(', ')}`)
    run(receiver, args)
  }
  return receiver.describe()
}
