/** Commands of the simulated radio, one line each. */
import { badValue } from 'rtk-base/plugin'
import type { RadioView } from './state.js'

const number = (text: string | undefined, what: string, least: number, most: number): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value) || value < least || value > most)
    throw badValue(`sim-radio: ${what} must be a number from ${least} to ${most}, not '${text ?? ''}'`)
  return value
}
const macOf = (text = ''): string => {
  const mac = text.toLowerCase()
  if (/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) return mac
  throw badValue(`sim-radio: a MAC address is like 02:00:5e:00:00:01, not '${text}'`)
}
const onOff = (text: string | undefined): boolean => {
  if (text === 'on' || text === 'off') return text === 'on'
  throw badValue(`sim-radio: expected on or off, not '${text ?? ''}'`)
}
const programs = ['iw', 'busctl', 'wpa_cli', 'ip', 'resolvectl', 'kill']
const programOf = (text = ''): string => {
  if (programs.includes(text)) return text
  throw badValue(`sim-radio: programs are ${programs.join(', ')}, not '${text}'`)
}
const mostClients = 300

type Control = readonly [args: string, help: string, run: (machine: RadioView, args: (string | undefined)[]) => void]

const controls: Readonly<Record<string, Control>> = {
  client: [
    'MAC [DBM] [IP]',
    'a client joins the access point',
    (machine, [mac, rssi = '-55', ip = '']) => {
      const { clients } = machine.state
      if (clients.size >= mostClients) throw badValue(`sim-radio: there are ${mostClients} clients already`)
      clients.set(macOf(mac), {
        rssi_dbm: number(rssi, 'the signal', -100, -10),
        ip,
        heardAt_ms: machine.now_ms(),
        talks: true,
      })
    },
  ],
  'client-off': ['MAC', 'a client leaves', (machine, [mac]) => void machine.state.clients.delete(macOf(mac))],
  silent: [
    'MAC',
    'a client stays and sends nothing any more',
    (machine, [mac]) => {
      const client = machine.state.clients.get(macOf(mac))
      if (client) Object.assign(client, { talks: false, heardAt_ms: machine.now_ms() })
    },
  ],
  both: [
    'CHANNELS',
    'access point and uplink at once, on this many channels; 0: unsupported',
    (machine, [channels]) => {
      machine.state.bothChannels = number(channels, 'the number of channels', 0, 4)
    },
  ],
  announces: [
    'on|off',
    'the driver announces a switch of channel',
    (machine, [on]) => {
      machine.state.announces = onOff(on)
    },
  ],
  missing: [
    'PROGRAM on|off',
    'the program is not installed',
    (machine, [program, on]) => {
      if (onOff(on)) machine.state.missing.add(programOf(program))
      else machine.state.missing.delete(programOf(program))
    },
  ],
  fails: [
    'PROGRAM TEXT|off',
    'the program exits with 1 and prints this',
    (machine, [program, ...words]) => {
      const stderr = words.join(' ')
      if (stderr === 'off') machine.state.faults.delete(programOf(program))
      else machine.state.faults.set(programOf(program), { code: 1, stdout: '', stderr })
    },
  ],
  says: [
    'PROGRAM TEXT|off',
    'the program succeeds and prints this for any request',
    (machine, [program, ...words]) => {
      const stdout = words.join(' ')
      if (stdout === 'off') machine.state.faults.delete(programOf(program))
      else machine.state.faults.set(programOf(program), { code: 0, stdout, stderr: '' })
    },
  ],
  slow: [
    'PROGRAM S',
    'the program needs S seconds; 0 ends it',
    (machine, [program, seconds]) => {
      machine.state.slow_ms.set(programOf(program), number(seconds, 'the time', 0, 3_600) * 1000)
    },
  ],
  leases: [
    'written|garbage|missing',
    'the file of the DHCP leases',
    (machine, [kind]) => {
      if (kind !== 'written' && kind !== 'garbage' && kind !== 'missing')
        throw badValue(`sim-radio: leases are written, garbage or missing, not '${kind ?? ''}'`)
      machine.state.leases = kind
    },
  ],
}

/** Runs one line, e.g. `client 02:00:5e:00:00:01 -60 192.168.4.20`; an empty one only shows the state. @throws RTK_ERR_COMMAND_VALUE */
export function runRadioCommand(machine: RadioView, line: string): string {
  const text = line.trim()
  const [name = '', ...args] = text.split(/\s/.test(text) ? /\s+/ : ',')
  if (name === 'help')
    return Object.entries(controls)
      .map(([word, [usage, help]]) => `sim-radio ${word} ${usage}  ${help}`)
      .join('\n')
  if (name !== '') {
    const control = Object.hasOwn(controls, name) ? controls[name] : undefined
    if (!control) throw badValue(`sim-radio: unknown '${name}'; known are help, ${Object.keys(controls).join(', ')}`)
    control[2](machine, args)
  }
  const { clients, country, txPower_dbm, maxStations, routes, dns, dhcpReloads, added } = machine.state
  return [
    `country ${country}, ${txPower_dbm} dBm, at most ${maxStations} clients`,
    `clients ${[...clients.keys()].join(' ') || 'none'}`,
    `routes ${[...routes.values()].join(' | ') || 'none'}`,
    `dns ${[...dns].map(([one, server]) => `${one} ${server}`).join(' | ') || 'none'}`,
    `dhcp reloads ${dhcpReloads}`,
    `added ${[...added].join(' ') || 'none'}`,
  ].join('; ')
}
