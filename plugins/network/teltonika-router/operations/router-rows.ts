/** The router itself: identity, access point, commands, settings, restart and firmware. */
import { limits_ms } from '../transport/call.js'
import {
  ask,
  get,
  mustSucceed,
  optional,
  overUbus,
  post,
  printed,
  run,
  ubus,
  uciCommit,
  uciGet,
  uciSet,
  write,
} from './build.js'
import { versionIn } from './dialect.js'
import { fields, mac, object, text } from './fields.js'
import type { BoardFacts, Exec, ExecAnswer, RouterAccessPoint, Rows, SystemState, UciPlace, Way } from './operations.js'
import { fieldOf, isObject, listOf, macOf, numberOf, outputOf, sectionsOf, textOf } from './parse.js'

const device = get('/api/system/device/status')

/** @param uptime its name */
const systemBy =
  (uptime: string) =>
  (answer: unknown): SystemState | undefined => {
    const uptime_s = numberOf(fieldOf(answer, uptime))
    return uptime_s === undefined ? undefined : { uptime_s, time_s: numberOf(fieldOf(answer, 'localtime')) ?? 0 }
  }

/** `mnfinfo` of an answer. */
const boardIn = (answer: unknown): BoardFacts | undefined =>
  object(
    fields({
      serial: text('serial'),
      macaddr: mac('mac', 'macEth'),
      hw: text('name'),
      hwver: text('hwver'),
      hwbatch: text('batch'),
    }),
  )(fieldOf(answer, 'mnfinfo'))

/** By the program `mnf_info`. @param read what it printed */
const boardBy = (flags: string, read: (answer: unknown) => string): Way<undefined, BoardFacts> => ({
  together: true,
  calls: () => ['sn', 'mac', 'name', 'hwver', 'batch'].map((what) => run('mnf_info', [flags + what], optional)),
  read(answers) {
    const [serial = '', mac, hw = '', hwver = '', hwbatch = ''] = answers.map(read)
    const macaddr = macOf(mac)
    return serial === '' && macaddr === '' ? undefined : { serial, macaddr, hw, hwver, hwbatch }
  },
})

/** `/etc/version`, by reading it or by `cat`. */
const versionFile: readonly Way<undefined, string>[] = [
  ask(ubus('file', 'read', { path: '/etc/version' }), (answer) => versionIn(fieldOf(answer, 'data')) || undefined),
  ask(run('cat', ['/etc/version']), (answer) => versionIn(outputOf(answer)) || undefined),
]

/** The first access point of `network.wireless status`: of all radios, or of the requested one. */
function accessPointIn(status: unknown): Pick<RouterAccessPoint, 'ssid' | 'pswd'> | undefined {
  const radios = isObject(status) && 'interfaces' in status ? [status] : Object.values(isObject(status) ? status : {})
  for (const radio of radios) {
    for (const one of listOf(fieldOf(radio, 'interfaces'))) {
      if (fieldOf(one, 'config', 'mode') !== 'ap') continue
      return { ssid: textOf(fieldOf(one, 'config', 'ssid')), pswd: textOf(fieldOf(one, 'config', 'key')) }
    }
  }
  return undefined
}

const accessPointBy = (args: Record<string, unknown>): Way<undefined, RouterAccessPoint> => ({
  together: true,
  calls: () => [ubus('network.wireless', 'status', args), ubus('iwinfo', 'info', { device: 'wlan0' }, optional)],
  read([status, info]) {
    const accessPoint = accessPointIn(status)
    return accessPoint && { ...accessPoint, bssid: macOf(fieldOf(info, 'bssid')) }
  },
})

const execBy = (method: string): Way<Exec, ExecAnswer> => ({
  writes: true,
  calls: ({ command, params }) => [
    ubus('file', method, { command, params: [...params] }, { limit_ms: limits_ms.scan }),
  ],
  read([answer]) {
    if (!isObject(answer)) return undefined
    return {
      code: numberOf(answer.code) ?? 0,
      stdout: typeof answer.stdout === 'string' ? answer.stdout : '',
      stderr: typeof answer.stderr === 'string' ? answer.stderr : '',
    }
  },
})

const uciBy = (method: string): Way<UciPlace, unknown> => ({
  calls: ({ config, section, option }) => [
    ubus('uci', method, {
      config,
      ...(section !== undefined && { section }),
      ...(option !== undefined && { option }),
    }),
  ],
  read: ([answer]) => fieldOf(answer, 'values') ?? fieldOf(answer, 'value'),
})

/** A script for `sh`; its values are passed as arguments, so that nothing in a URL is executed. */
const script = (lines: string, ...args: readonly string[]) =>
  run('/bin/sh', ['-c', lines, 'sh', ...args], { limit_ms: limits_ms.scan, ...mustSucceed })
const image = '/tmp/rtk-base-firmware.img'

/** Download, check and flash; a step that fails ends it. The simulated router recognises this text. */
export const firmwareScript = [
  `rm -f ${image}`,
  `wget -q -O ${image} "$1" || curl -fsSL -o ${image} "$1" || { echo "the download failed" >&2; exit 2; }`,
  `sysupgrade -T ${image} || { rm -f ${image}; echo "the image is not for this router" >&2; exit 3; }`,
  `(sleep 3; sysupgrade ${image}) >/dev/null 2>&1 &`,
].join('\n')

export const routerRows: Rows<
  | 'system'
  | 'version'
  | 'board'
  | 'deviceName'
  | 'accessPoint'
  | 'reboot'
  | 'factory'
  | 'exec'
  | 'uciGet'
  | 'uciState'
  | 'uciSet'
  | 'uciCommit'
  | 'installFirmware'
> = {
  system: {
    ...overUbus(ask(ubus('system', 'info'), systemBy('uptime'))),
    '7/rest': [ask(get('/api/system/device/usage/status'), systemBy('uptime_seconds'))],
  },
  version: {
    'legacy/ubus': versionFile,
    '7/ubus': [ask(ubus('vuci.system', 'version'), (answer) => versionIn(answer) || undefined), ...versionFile],
    '7/rest': [ask(device, (answer) => versionIn(fieldOf(answer, 'static', 'fw_version')) || undefined)],
  },
  board: {
    'legacy/ubus': [boardBy('', printed)],
    '7/ubus': [ask(ubus('mnfinfo', 'get'), boardIn), boardBy('--', (answer) => textOf(outputOf(answer)))],
    '7/rest': [ask(device, boardIn)],
  },
  deviceName: {
    ...overUbus(ask(uciGet('system', 'system'), text('values.devicename', 'values.hostname'))),
    '7/rest': [ask(device, text('static.device_name', 'static.hostname'))],
  },
  accessPoint: {
    ...overUbus<Way<undefined, RouterAccessPoint>>(accessPointBy({}), accessPointBy({ device: 'radio0' }), {
      calls: () => [ubus('uci', 'get', { config: 'wireless', type: 'wifi-iface' })],
      read([answer]) {
        const accessPoint = sectionsOf(answer).find(({ values }) => values.mode === 'ap')?.values
        return accessPoint && { bssid: '', ssid: textOf(accessPoint.ssid), pswd: textOf(accessPoint.key) }
      },
    }),
    '7/rest': [
      {
        calls: () => [get('/api/wireless/interfaces/status'), get('/api/wireless/interfaces/config', optional)],
        read([status, config]) {
          const isAp = (one: unknown) => /^(ap|master)$/i.test(textOf(fieldOf(one, 'mode')))
          const shown = listOf(status).find(isAp)
          if (shown === undefined) return undefined
          const id = textOf(fieldOf(shown, 'wifi_id'), fieldOf(shown, 'id'))
          const settings = listOf(config)
          const own = settings.find((one) => id !== '' && [fieldOf(one, 'id'), fieldOf(one, 'wifi_id')].includes(id))
          const setting = own ?? settings.find((one) => fieldOf(one, 'ssid') === fieldOf(shown, 'ssid'))
          return {
            bssid: macOf(fieldOf(shown, 'bssid')),
            ssid: textOf(fieldOf(shown, 'ssid')),
            pswd: textOf(fieldOf(setting, 'key'), fieldOf(setting, 'password')),
          }
        },
      },
    ],
  },
  reboot: {
    ...overUbus(write({ mayBreakOff: true, calls: () => [ubus('rpc-sys', 'reboot')] })),
    '7/rest': [write({ mayBreakOff: true, calls: () => [post('/api/system/actions/reboot')] })],
  },
  factory: {
    ...overUbus(write({ mayBreakOff: true, calls: () => [ubus('rpc-sys', 'factory')] })),
    '7/rest': [
      write({ mayBreakOff: true, calls: () => [post('/api/firmware/actions/factory_reset', { user_defaults: '0' })] }),
    ],
  },
  exec: overUbus(execBy('exec2'), execBy('exec')),
  uciGet: overUbus(uciBy('get')),
  uciState: overUbus(uciBy('state')),
  uciSet: overUbus(write({ calls: ({ config, section, values }) => [uciSet(config, section, values)] })),
  uciCommit: overUbus(write({ calls: ({ config }) => [uciCommit(config)] })),
  // Over REST the image is uploaded: firmware.ts.
  installFirmware: overUbus(write({ calls: ({ url }) => [script(firmwareScript, url)] })),
}
