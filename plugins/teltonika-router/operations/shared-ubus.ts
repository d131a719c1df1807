/** Ways that both generations have over ubus. */

import { limits_ms } from '../transport/index.js'
import { mustSucceed, run, ubus, uciCommit, uciGet, uciSet, write } from './build.js'
import { versionIn } from './generation.js'
import type { AccessPoint, Column, ExecAnswer, PingReboot, UciPlace, Way } from './operations.js'
import { fieldOf, firstOf, isObject, isOn, listOf, macOf, numberOf, outputOf, sectionsOf, textOf } from './parse.js'

const asPlace = ({ config, section, option }: UciPlace) => ({
  config,
  ...(section !== undefined && { section }),
  ...(option !== undefined && { option }),
})

function execAnswer(answer: unknown): ExecAnswer | undefined {
  if (!isObject(answer)) return undefined
  return {
    code: numberOf(answer.code) ?? 0,
    stdout: typeof answer.stdout === 'string' ? answer.stdout : '',
    stderr: typeof answer.stderr === 'string' ? answer.stderr : '',
  }
}

/** The first access point of `network.wireless status`: of every radio, or of the one that was asked for. */
function accessPointIn(status: unknown): Pick<AccessPoint, 'ssid' | 'pswd'> | undefined {
  const radios = isObject(status) && 'interfaces' in status ? [status] : Object.values(isObject(status) ? status : {})
  for (const radio of radios) {
    for (const one of listOf(fieldOf(radio, 'interfaces'))) {
      if (fieldOf(one, 'config', 'mode') !== 'ap') continue
      return { ssid: textOf(fieldOf(one, 'config', 'ssid')), pswd: textOf(fieldOf(one, 'config', 'key')) }
    }
  }
  return undefined
}

const iwinfo = ubus('iwinfo', 'info', { device: 'wlan0' }, { optional: true })

const accessPointBy = (args: Record<string, unknown>): Way<undefined, AccessPoint> => ({
  together: true,
  calls: () => [ubus('network.wireless', 'status', args), iwinfo],
  read([status, info]) {
    const found = accessPointIn(status)
    if (!found) return undefined
    return { ...found, bssid: macOf(fieldOf(info, 'bssid')) }
  },
})

/** A script for `sh`; what belongs into it comes as arguments, so that nothing in a URL is read as a command. */
const script = (text: string, ...args: readonly string[]) =>
  run('/bin/sh', ['-c', text, 'sh', ...args], { limit_ms: limits_ms.scan, ...mustSucceed })
const image = '/tmp/rtk-base-firmware.img'

/** Download, check and flash; a step that fails ends it. */
const firmwareScript = [
  `rm -f ${image}`,
  `wget -q -O ${image} "$1" || curl -fsSL -o ${image} "$1" || { echo "the download failed" >&2; exit 2; }`,
  `sysupgrade -T ${image} || { rm -f ${image}; echo "the image is not for this router" >&2; exit 3; }`,
  `(sleep 3; sysupgrade ${image}) >/dev/null 2>&1 &`,
].join('\n')

export const sharedUbus = {
  system: [
    {
      calls: () => [ubus('system', 'info')],
      read([info]) {
        const uptime_s = numberOf(fieldOf(info, 'uptime'))
        return uptime_s === undefined ? undefined : { uptime_s, time_s: numberOf(fieldOf(info, 'localtime')) ?? 0 }
      },
    },
  ],
  deviceName: [
    {
      calls: () => [uciGet('system', 'system')],
      read: ([answer]) => textOf(fieldOf(answer, 'values', 'devicename'), fieldOf(answer, 'values', 'hostname')),
    },
  ],
  accessPoint: [
    accessPointBy({}),
    accessPointBy({ device: 'radio0' }),
    {
      calls: () => [ubus('uci', 'get', { config: 'wireless', type: 'wifi-iface' })],
      read([answer]) {
        const found = sectionsOf(answer).find(({ values }) => values.mode === 'ap')?.values
        return found && { bssid: '', ssid: textOf(found.ssid), pswd: textOf(found.key) }
      },
    },
  ],
  reboot: [write({ mayBreakOff: true, calls: () => [ubus('rpc-sys', 'reboot')] })],
  factory: [write({ mayBreakOff: true, calls: () => [ubus('rpc-sys', 'factory')] })],
  exec: [
    {
      writes: true,
      calls: ({ command, params }) => [
        ubus('file', 'exec2', { command, params: [...params] }, { limit_ms: limits_ms.scan }),
      ],
      read: ([answer]) => execAnswer(answer),
    },
    {
      writes: true,
      calls: ({ command, params }) => [run(command, params, { limit_ms: limits_ms.scan })],
      read: ([answer]) => execAnswer(answer),
    },
  ],
  uciGet: [
    {
      calls: (place) => [ubus('uci', 'get', asPlace(place))],
      read: ([answer]) => fieldOf(answer, 'values') ?? fieldOf(answer, 'value'),
    },
  ],
  uciState: [
    {
      calls: (place) => [ubus('uci', 'state', asPlace(place))],
      read: ([answer]) => fieldOf(answer, 'values') ?? fieldOf(answer, 'value'),
    },
  ],
  uciSet: [write({ calls: ({ config, section, values }) => [uciSet(config, section, values)] })],
  uciCommit: [write({ calls: ({ config }) => [uciCommit(config)] })],
  pingReboot: [
    {
      calls: () => [ubus('uci', 'get', { config: 'ping_reboot' })],
      read([answer]): PingReboot {
        const values = sectionsOf(answer, 'ping_reboot')[0]?.values
        const host = values?.host
        return {
          enabled: isOn(values?.enable),
          host: textOf(firstOf(host)),
          ...(Array.isArray(host) && { isList: true }),
        }
      },
    },
  ],
  setPingReboot: [
    write({
      needs: ['pingSection'],
      calls: ({ enabled, host, isList }, { pingSection }) => {
        const values = {
          enable: enabled ? '1' : '0',
          action: '1',
          ...(host !== '' && { host: isList ? [host] : host }),
        }
        const change =
          pingSection === ''
            ? ubus('uci', 'add', { config: 'ping_reboot', type: 'ping_reboot', values })
            : ubus('uci', 'set', { config: 'ping_reboot', section: pingSection, values })
        return [change, uciCommit('ping_reboot')]
      },
    }),
  ],
  pingSection: [
    {
      calls: () => [ubus('uci', 'get', { config: 'ping_reboot' })],
      read: ([answer]) => sectionsOf(answer, 'ping_reboot')[0]?.name ?? '',
    },
  ],
  installFirmware: [write({ calls: ({ url }) => [script(firmwareScript, url)] })],
} as const satisfies Partial<Column>

/** `/etc/version`, by reading it or by `cat`. */
export const versionFile = [
  {
    calls: () => [ubus('file', 'read', { path: '/etc/version' })],
    read: ([answer]) => versionIn(fieldOf(answer, 'data')) || undefined,
  },
  { calls: () => [run('cat', ['/etc/version'])], read: ([answer]) => versionIn(outputOf(answer)) || undefined },
] as const satisfies readonly Way<undefined, string>[]
