/** Commands of the simulated network, one line each. */
import { badValue } from 'rtk-base/plugin'
import type { Reach } from 'rtk-base/services'
import { EthernetPort } from './ethernet-port.js'
import type { SimulatedMachine } from './machine.js'
import { type AirNetwork, airNetwork, Radio } from './radio.js'

const number = (text: string | undefined, what: string, least: number, most: number): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value) || value < least || value > most)
    throw badValue(`sim-network: ${what} must be a number from ${least} to ${most}, not '${text ?? ''}'`)
  return value
}
const word = (text: string | undefined, what: string): string => {
  if (text === undefined || text === '') throw badValue(`sim-network: ${what} is missing`)
  return text
}
const onOff = (text: string | undefined): boolean => {
  if (text === 'on' || text === '1') return true
  if (text === 'off' || text === '0') return false
  throw badValue(`sim-network: expected on or off, not '${text ?? ''}'`)
}
const reaches = { unknown: '', none: '', local: '', portal: '', internet: '' } as const satisfies Record<Reach, ''>
const reach = (text = ''): Reach => {
  if (Object.hasOwn(reaches, text)) return text as Reach
  throw badValue(`sim-network: the reach is ${Object.keys(reaches).join(', ')}, not '${text}'`)
}

function port(machine: SimulatedMachine, name: string | undefined): EthernetPort {
  const one = machine.interface(word(name, 'the interface'))
  if (one instanceof EthernetPort) return one
  throw badValue(`sim-network: ${one.name} is not an Ethernet port`)
}
function radioOf({ all }: SimulatedMachine): Radio {
  const one = all.find((other) => other instanceof Radio)
  if (one) return one
  throw badValue('sim-network: the machine has no radio')
}
function airOf(machine: SimulatedMachine, ssid: string | undefined): AirNetwork {
  const { air } = radioOf(machine)
  const network = air.find((one) => one.ssid === ssid)
  if (network) return network
  throw badValue(`sim-network: networks are ${air.map((one) => one.ssid).join(', ') || 'none'}, not '${ssid ?? ''}'`)
}
/** An Ethernet port, or a network in the air: both have something behind them. */
function behind(machine: SimulatedMachine, name: string | undefined) {
  const one = machine.all.find((other) => other.name === name)
  return one instanceof EthernetPort ? one.network : airOf(machine, name)
}

type Control = readonly [
  args: string,
  help: string,
  run: (machine: SimulatedMachine, args: (string | undefined)[]) => void,
]

const controls: Readonly<Record<string, Control>> = {
  cable: [
    'PORT on|off',
    'a cable is plugged in or pulled',
    (machine, [name, on]) => port(machine, name).cable(onOff(on)),
  ],
  dhcp: [
    'PORT|SSID on|off',
    'the DHCP server behind it answers or not',
    (machine, [name, on]) => {
      behind(machine, name).dhcp = onOff(on)
      for (const one of machine.all) one.reconsider()
    },
  ],
  address: [
    'PORT|SSID IP/PREFIX [GATEWAY]',
    'addresses assigned by its DHCP server from the next lease on; without GATEWAY none',
    (machine, [name, address, gateway = '']) => {
      if (!/^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/.test(address ?? ''))
        throw badValue(`sim-network: the address is like 192.168.1.50/24, not '${address ?? ''}'`)
      Object.assign(behind(machine, name), { address, gateway })
    },
  ],
  reach: [
    'PORT|SSID unknown|none|local|portal|internet',
    'result of a connectivity check through it',
    (machine, [name, value]) => {
      behind(machine, name).reach = reach(value)
      machine.noteChange()
    },
  ],
  neighbour: [
    'PORT IP MAC|off',
    'a machine is heard on the interface, or is not any more',
    (machine, [name, ip, mac]) => {
      const { neighbours } = machine.interface(word(name, 'the interface'))
      if (mac === 'off') neighbours.delete(word(ip, 'the address'))
      else neighbours.set(word(ip, 'the address'), word(mac, 'the MAC address').toLowerCase())
      machine.noteChange()
    },
  ],
  activate: [
    'PORT',
    'the daemon (or another program) brings the port up unasked',
    (machine, [name]) => port(machine, name).activateByItself(),
  ],
  disconnect: [
    'INTERFACE',
    'another program disconnects it',
    (machine, [name]) => machine.interface(word(name, 'the interface')).drop(39),
  ],
  remove: [
    'INTERFACE',
    'the interface is taken out of the machine',
    (machine, [name]) => {
      const one = machine.interface(word(name, 'the interface'))
      one.present = false
      one.reconsider(36)
    },
  ],
  insert: [
    'INTERFACE',
    'it is back',
    (machine, [name]) => {
      const one = machine.interface(word(name, 'the interface'))
      one.present = true
      one.autoconnect = true
      one.reconsider()
    },
  ],
  managed: [
    'INTERFACE on|off',
    'the daemon manages the interface or not',
    (machine, [name, on]) => {
      const one = machine.interface(word(name, 'the interface'))
      one.managed = onOff(on)
      one.reconsider(3)
    },
  ],
  rfkill: [
    'on|off',
    'the radio is blocked or not',
    (machine, [on]) => {
      radioOf(machine).blocked = onOff(on)
    },
  ],
  network: [
    'SSID [PASSWORD|open] [CHANNEL] [DBM]',
    'this network is in the air from now on',
    (machine, [ssid, password = 'open', channel = '1', rssi = '-60']) => {
      const { air } = radioOf(machine)
      if (air.length >= 64) throw badValue('sim-network: there are 64 networks in the air already')
      const options = {
        ssid: word(ssid, 'the SSID'),
        password: password === 'open' ? '' : password,
        bssid: '',
        channel: number(channel, 'the channel', 1, 165),
        rssi: number(rssi, 'the signal', -100, -20),
        auth: '',
        address: '192.168.8.50/24',
        gateway: '192.168.8.1',
      } as const
      air.push(airNetwork(options, air.length))
    },
  ],
  'network-off': [
    'SSID',
    'this network disappears; joined stations are disconnected',
    (machine, [ssid]) => {
      const radio = radioOf(machine)
      const network = airOf(machine, ssid)
      radio.air.splice(radio.air.indexOf(network), 1)
      radio.lost(network, 53)
    },
  ],
  password: [
    'SSID PASSWORD|open',
    'the network gets another password; joined stations are disconnected',
    (machine, [ssid, password]) => {
      const network = airOf(machine, ssid)
      const now = word(password, 'the password')
      Object.assign(network, { password: now === 'open' ? '' : now, auth: now === 'open' ? 'open' : 'wpa2-psk' })
      radioOf(machine).lost(network, 8)
    },
  ],
  signal: [
    'SSID DBM',
    'how it is received',
    (machine, [ssid, rssi]) => {
      airOf(machine, ssid).rssi = number(rssi, 'the signal', -100, -20)
    },
  ],
  daemon: ['on|off', 'the network daemon runs or not', (machine, [on]) => machine.daemon(onOff(on))],
  slow: [
    'S|off',
    'every call takes S seconds',
    (machine, [delay]) => {
      machine.slow_ms = delay === 'off' ? 0 : number(delay, 'the time', 0, 3_600) * 1000
    },
  ],
  refuse: [
    'TEXT|off',
    'every call is refused with this reason',
    (machine, words) => {
      const text = word(words.join(' '), 'the reason')
      machine.refusal = text === 'off' ? '' : text
    },
  ],
}

function helpText(): string {
  const lines = Object.entries(controls).map(([name, [args, help]]) => [`sim-network ${name} ${args}`.trim(), help])
  const width = Math.max(...lines.map(([usage = '']) => usage.length))
  return lines.map(([usage = '', help]) => `${usage.padEnd(width)}  ${help}`).join('\n')
}

/**
 * Runs one line, e.g. `cable eth0 off`; an empty one only shows the state.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function runNetworkCommand(machine: SimulatedMachine, line: string): string {
  const text = line.trim()
  // Commas instead of blanks, as in a URL; beside blanks they belong to a word, e.g. a password.
  const [name = '', ...args] = text.split(/\s/.test(text) ? /\s+/ : ',')
  if (name === 'help') return helpText()
  if (name !== '') {
    const control = Object.hasOwn(controls, name) ? controls[name] : undefined
    if (!control) throw badValue(`sim-network: unknown '${name}'; known are help, ${Object.keys(controls).join(', ')}`)
    control[2](machine, args)
  }
  return machine.describe()
}
