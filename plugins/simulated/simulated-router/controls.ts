/** The controls of the simulated router: one line of text each, for people and for tests. */
import { badValue } from 'rtk-base/plugin'
import type { Device } from './device/device.js'
import { type Damage, damages } from './device/faults.js'
import type { Power } from './device/power.js'
import { pinStates, technologies } from './mobile/operators.js'

const number = (text: string | undefined, what: string, least = Number.NEGATIVE_INFINITY): number => {
  const value = Number(text)
  if (text === undefined || text === '' || !Number.isFinite(value)) {
    throw badValue(`sim-router: ${what} must be a number, not '${text ?? ''}'`)
  }
  if (value < least) throw badValue(`sim-router: ${what} must be ${least} or more, not ${text}`)
  return value
}
const word = (text: string | undefined, what: string): string => {
  if (text === undefined) throw badValue(`sim-router: ${what} is missing`)
  return text
}
const onOff = (text: string | undefined): boolean => {
  if (text === 'on' || text === '1') return true
  if (text === 'off' || text === '0') return false
  throw badValue(`sim-router: expected on or off, not '${text ?? ''}'`)
}
const oneOf = <T extends string>(table: Readonly<Record<T, unknown>>, text: string | undefined, what: string): T => {
  if (text !== undefined && Object.hasOwn(table, text)) return text as T
  throw badValue(`sim-router: ${what} is ${Object.keys(table).join(', ')}, not '${text ?? ''}'`)
}
const digits = (text: string | undefined, what: string): string => {
  if (text !== undefined && /^\d{5,20}$/.test(text)) return text
  throw badValue(`sim-router: ${what} is a row of digits, not '${text ?? ''}'`)
}
/** `[N] [PATTERN]`: a number alone counts answers, a word alone is a pattern. */
const limits = (first: string | undefined, second: string | undefined): [times: number, pattern: string] =>
  first === undefined || /^\d+$/.test(first)
    ? [first === undefined ? Number.POSITIVE_INFINITY : Number(first), second ?? '']
    : [Number.POSITIVE_INFINITY, first]

/** Parts of the router that the controls act on. */
export interface Controlled {
  readonly device: Device
  readonly power: Power
  /** The web server presents a new certificate. */
  certificate(): void
}

type Control = [args: string, help: string, run: (router: Controlled, args: (string | undefined)[]) => void]

const controls: Record<string, Control> = {
  reboot: [
    '[S]',
    'restarts and refuses connections for S seconds (reboot_s)',
    ({ device, power }, [away]) =>
      power.restart('reboot', away === undefined ? device.options.reboot_s : number(away, 'the time', 0)),
  ],
  unplug: ['', 'no power: connections are refused', ({ power }) => power.unplug()],
  replug: ['', 'power again: it boots for reboot_s', ({ power }) => power.replug()],
  replace: [
    '[PSWD]',
    'replaced by another router: different MAC, serial number, IMEI and certificate, in factory state',
    ({ device, power, certificate }, [pswd]) => {
      device.replace()
      if (pswd !== undefined) device.credentials.pswd = pswd
      certificate()
      power.restart('factory', 0)
    },
  ],
  certificate: ['', 'creates a new certificate', ({ certificate }) => certificate()],
  password: [
    'USER PSWD',
    'changes the login, sessions stay valid',
    ({ device }, [user, pswd]) => {
      device.credentials = { user: word(user, 'the user'), pswd: word(pswd, 'the password') }
    },
  ],
  expire: [
    '',
    'ends all sessions',
    ({ device }) => {
      device.sessions.clear()
      device.tokens.clear()
    },
  ],
  block: ['', 'logins from 127.0.0.1 are blocked', ({ device }) => device.loginBlock.block('127.0.0.1')],
  unblock: ['', 'no address is blocked, attempts count from 0', ({ device }) => device.loginBlock.unblock()],
  'first-login': [
    'on|off',
    'REST requires a password change first',
    ({ device }, [on]) => {
      device.faults.firstLogin = onOff(on)
    },
  ],
  firmware: [
    'VERSION',
    'this version is installed, e.g. RUTX_R_00.07.20',
    ({ device }, [version]) => device.install(word(version, 'the version')),
  ],
  ubus: [
    'on|off',
    'enables or disables JSON-RPC',
    ({ device }, [on]) => {
      device.ubusOn = onOff(on)
    },
  ],
  rest: [
    'on|off',
    'enables or disables the REST interface',
    ({ device }, [on]) => {
      device.restOn = onOff(on)
    },
  ],
  set: [
    'CONFIG.SECTION.OPTION VALUE',
    'writes and commits a value externally',
    ({ device }, [path, value]) => {
      const [, config = '', section = '', option = ''] = /^([^.]+)\.(.+)\.([^.]+)$/.exec(path ?? '') ?? []
      if (option === '') throw badValue(`sim-router: set needs CONFIG.SECTION.OPTION, not '${path ?? ''}'`)
      if (!device.uci.write(config, section, option, value ?? ''))
        throw badValue(`unknown section ${config}.${section}`)
    },
  ],
  time: [
    'S',
    'sets the clock error to S seconds',
    ({ device }, [by]) => {
      device.timeShift_s = number(by, 'the time')
    },
  ],
  sim: [
    'ready|absent|pin|puk|error',
    'state of the SIM',
    ({ device }, [state]) => device.modem.insert({ state: oneOf(pinStates, state, 'the state') }),
  ],
  swap: [
    'IMSI ICCID [APN] [USER] [PSWD]',
    'another SIM (without APN its network accepts any APN)',
    ({ device }, [imsi, iccid, apn, user = '', pswd = '']) =>
      device.modem.insert({
        state: 'ready',
        imsi: digits(imsi, 'the IMSI'),
        iccid: digits(iccid, 'the ICCID'),
        apn: apn === undefined ? [] : [apn],
        user,
        pswd,
      }),
  ],
  signal: [
    'DBM|off',
    'RSSI, off: no reception',
    ({ device: { modem } }, [text]) => {
      const rssi_dbm = text === 'off' ? undefined : number(text, 'the signal', -150)
      if ((rssi_dbm === undefined) !== (modem.rssi_dbm === undefined)) modem.search()
      modem.rssi_dbm = rssi_dbm
    },
  ],
  technology: [
    'GSM|WCDMA|LTE|NR',
    'the serving technology, if there is a choice',
    ({ device }, [name]) => {
      device.modem.technology = oneOf(technologies, name, 'the technology')
    },
  ],
  temperature: [
    'C|off',
    'temperature of the modem in degrees Celsius, off: no sensor',
    ({ device }, [celsius]) => {
      device.modem.temperature_dC = celsius === 'off' ? undefined : Math.round(number(celsius, 'the temperature') * 10)
    },
  ],
  forbid: [
    'PLMN [off]',
    'this operator denies the SIM',
    ({ device }, [text, off]) => {
      const forbidden = digits(text, 'the PLMN')
      for (const operator of device.modem.operators) {
        if (operator.plmn === forbidden) operator.forbidden = off !== 'off'
      }
    },
  ],
  'operator-control': [
    'on|off',
    'the modem can scan and select operators',
    ({ device }, [on]) => {
      device.modem.operatorControl = onOff(on)
    },
  ],
  'auto-apn': [
    'on|off',
    "the router's own table has the APN of the SIM",
    ({ device }, [on]) => {
      device.modem.autoApnKnown = onOff(on)
    },
  ],
  uplink: [
    'on|off',
    'the mobile network forwards data, off: triggers the ping reboot',
    ({ device }, [on]) => {
      device.modem.uplink = onOff(on)
      device.pingReboot.check()
    },
  ],
  'reboot-modem': ['', 'the modem restarts', ({ device }) => device.modem.start()],
  slow: [
    'S|off [PATTERN]',
    'answers take S seconds; PATTERN: part of object.method or of METHOD /api/path',
    ({ device }, [delay, pattern]) =>
      device.faults.slow(delay === 'off' ? 0 : 1000 * number(delay, 'the time', 0), pattern ?? ''),
  ],
  garbage: [
    `${Object.keys(damages).join('|')}|off [N] [PATTERN]`,
    'the next N answers are damaged',
    ({ device }, [kind, first, second]) => {
      const [times, pattern] = limits(first, second)
      device.faults.damage(kind === 'off' ? undefined : (oneOf(damages, kind, 'the kind') as Damage), times, pattern)
    },
  ],
  http: [
    'STATUS|off [N] [PATTERN]',
    'the next N answers are an HTML page with this status',
    ({ device }, [status, first, second]) => {
      const [times, pattern] = limits(first, second)
      device.faults.http(
        status === 'off' ? undefined : Math.min(599, number(status, 'the status', 200)),
        times,
        pattern,
      )
    },
  ],
  fail: [
    'CALL status N|errno N [TEXT]|off',
    'a call fails, with a ubus status or with an errno in its data',
    ({ device: { faults } }, [call, kind, value, ...text]) => {
      const name = word(call, 'the call')
      if (kind === 'off') faults.fail(name, undefined)
      else if (kind === 'status') faults.fail(name, { status: number(value, 'the status', 0) })
      else if (kind === 'errno')
        faults.fail(name, { errno: number(value, 'the errno'), error: text.join(' ') || 'Failed' })
      else throw badValue(`sim-router: fail takes status, errno or off, not '${kind ?? ''}'`)
    },
  ],
  missing: [
    'OBJECT [off]',
    'this object is not on the bus (-32000)',
    ({ device }, [object, off]) => device.faults.missing(word(object, 'the object'), off !== 'off'),
  ],
  deny: [
    'OBJECT[.METHOD] [off]',
    'the login lacks the right to it (-32002)',
    ({ device }, [name, off]) => device.faults.deny(word(name, 'the object'), off !== 'off'),
  ],
  clear: ['', 'ends slow, garbage, http, fail, missing, deny and first-login', ({ device }) => device.faults.clear()],
}

function helpText(): string {
  const lines = Object.entries(controls).map(([name, [args, help]]) => [`sim-router ${name} ${args}`.trim(), help])
  const width = Math.min(60, Math.max(...lines.map(([usage = '']) => usage.length)))
  return lines.map(([usage = '', help]) => `${usage.padEnd(width)}  ${help}`).join('\n')
}

/**
 * Runs one line, e.g. `signal -105` or `garbage json 3 gsm.modem0`; an empty one does nothing.
 * @returns the text of `help`, else undefined
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function control(router: Controlled, line: string): string | undefined {
  const text = line.trim()
  // Commas instead of blanks, as in a URL; beside blanks they belong to a word, e.g. a password.
  const [name = '', ...args] = text.split(/\s/.test(text) ? /\s+/ : ',')
  if (name === 'help') return helpText()
  if (name === '') return undefined
  const [, , run] = (Object.hasOwn(controls, name) ? controls[name] : undefined) ?? []
  if (!run) throw badValue(`sim-router: unknown '${name}'; known are help, ${Object.keys(controls).join(', ')}`)
  run(router, args)
  return undefined
}
