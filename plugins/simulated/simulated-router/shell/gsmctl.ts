/** `gsmctl`: each flag prints a value on a line of its own; joined flags print in their order (reference §6). */
import type { Device } from '../device/device.js'
import { runAt } from '../mobile/at.js'
import { pinStates } from '../mobile/operators.js'
import { type Facts, factsOf, hardware, registrationOf, signalOf } from '../mobile/readings.js'
import { type Result, result } from './result.js'

/** A fact by its name, or what prints it. */
type Flag = keyof Facts | ((device: Device) => string)

const notAvailable = 'N/A'
const moduleOf = ({ firmware }: Device) => (firmware.legacy ? hardware.legacy : hardware.current)

const shared: Record<string, Flag> = {
  i: 'imei',
  m: (device) => moduleOf(device).model,
  w: (device) => moduleOf(device).manuf,
  y: (device) => moduleOf(device).firmware,
  x: 'imsi',
  J: 'iccid',
  o: 'operator',
  f: 'plmn',
  t: 'netMode',
  C: 'cell',
  j: 'connection',
  P: 'attached',
  c: 'temperature',
  u: 'pin',
  T: () => '1',
  a: 'serial',
}

const legacy: Record<string, Flag> = {
  z: ({ modem }) => pinStates[modem.sim.state].sim.toLowerCase(),
  g: ({ modem }) => {
    const { status, status_id } = registrationOf(modem)
    return status_id === 1 ? 'registered (home)' : status_id === 5 ? 'registered (roaming)' : status.toLowerCase()
  },
  q: ({ modem }) => String(signalOf(modem)?.rssi ?? ''),
  W: 'rsrp',
  Z: 'sinr',
  M: 'rsrq',
  E: 'ecio',
  X: 'rscp',
}

const current: Record<string, Flag> = {
  z: ({ modem }) => pinStates[modem.sim.state].sim,
  g: ({ modem }) => registrationOf(modem).status,
  q: ({ modem }) =>
    Object.entries(signalOf(modem) ?? { rssi: notAvailable })
      .map(([name, value]) => `${name.toUpperCase()}: ${value}`)
      .join('\n'),
}

const usage = 'Usage: gsmctl [options]\n'

export async function gsmctl(device: Device, args: readonly string[]): Promise<Result> {
  const { modem, firmware } = device
  const flags = { ...shared, ...(firmware.legacy ? legacy : current) }
  const rest = args[0] === '-O' || args[0] === '-N' ? args.slice(2) : args
  const [first = '', argument] = rest
  if (first === '-Q') {
    modem.start()
    return result(0, 'OK\n')
  }
  if (!modem.online) return result(1, '', 'Failed to connect to the modem\n')
  if (first === '-A' || first === '--at') {
    if (argument === undefined) return result(1, '', usage)
    const answer = await runAt(device, argument)
    return result(answer.endsWith('OK') ? 0 : 1, `${answer}\n`)
  }
  if (first === '-e' || first === '-r') {
    const { sent, received } = modem.traffic
    return argument === undefined ? result(1, '', usage) : result(0, `${first === '-e' ? sent : received}\n`)
  }
  if (first === '-Y') {
    modem.search()
    return result(0, 'OK\n')
  }
  const letters = /^-(\w+)$/.exec(first)?.[1] ?? ''
  if (letters === '' || ![...letters].every((letter) => Object.hasOwn(flags, letter))) return result(1, '', usage)
  if (modem.scanning) return result(1, '', 'Modem is busy\n')
  const facts = factsOf(device)
  const shown = (flag: Flag = () => '') => (typeof flag === 'string' ? (facts[flag] ?? notAvailable) : flag(device))
  return result(0, [...letters].map((letter) => `${shown(flags[letter])}\n`).join(''))
}
