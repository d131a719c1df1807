/** Commands of the simulated router, one line each. */
import { badValue } from 'rtk-base/plugin'
import { type Damage, damages } from './device/faults.js'
import { pinStates, technologies } from './mobile/operators.js'
import type { SimulatedTeltonika } from './router.js'

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

type Control = [args: string, help: string, run: (router: SimulatedTeltonika, args: (string | undefined)[]) => void]

const controls: Record<string, Control> = {
  reboot: [
    '[S]',
    'restarts and refuses connections for S seconds (reboot_s)',
    (router, [away]) => router.reboot(away === undefined ? undefined : number(away, 'the time', 0)),
  ],
  unplug: ['', 'no power: connections are refused', (router) => router.unplug()],
  replug: ['', 'power again: it boots for reboot_s', (router) => router.replug()],
  replace: [
    '[PSWD]',
    'replaced by another router: different MAC, serial number, IMEI and certificate, in factory state',
    (router, [pswd]) => router.replace(pswd),
  ],
  certificate: ['', 'creates a new certificate', (router) => router.certificate()],
  password: [
    'USER PSWD',
    'changes the login, sessions stay valid',
    (router, [user, pswd]) => router.password(word(user, 'the user'), word(pswd, 'the password')),
  ],
  expire: ['', 'ends all sessions', (router) => router.expire()],
  block: ['', 'logins from 127.0.0.1 are blocked', (router) => router.block()],
  unblock: ['', 'no address is blocked, attempts count from 0', (router) => router.unblock()],
  'first-login': ['on|off', 'REST requires a password change first', (router, [on]) => router.firstLogin(onOff(on))],
  firmware: [
    'VERSION',
    'this version is installed, e.g. RUTX_R_00.07.20',
    (router, [version]) => router.install(word(version, 'the version')),
  ],
  ubus: ['on|off', 'enables or disables JSON-RPC', (router, [on]) => router.transport('ubus', onOff(on))],
  rest: ['on|off', 'enables or disables the REST interface', (router, [on]) => router.transport('rest', onOff(on))],
  set: [
    'CONFIG.SECTION.OPTION VALUE',
    'writes and commits a value externally',
    (router, [path, value]) => {
      const [, config = '', section = '', option = ''] = /^([^.]+)\.(.+)\.([^.]+)$/.exec(path ?? '') ?? []
      if (option === '') throw badValue(`sim-router: set needs CONFIG.SECTION.OPTION, not '${path ?? ''}'`)
      router.set(config, section, option, value ?? '')
    },
  ],
  time: ['S', 'sets the clock error to S seconds', (router, [by]) => router.timeShift(number(by, 'the time'))],
  sim: [
    'ready|absent|pin|puk|error',
    'state of the SIM',
    (router, [state]) => router.sim(oneOf(pinStates, state, 'the state')),
  ],
  swap: [
    'IMSI ICCID [APN] [USER] [PSWD]',
    'another SIM (without APN its network accepts any APN)',
    (router, [imsi, iccid, apn, user, pswd]) =>
      router.swap(digits(imsi, 'the IMSI'), digits(iccid, 'the ICCID'), apn === undefined ? [] : [apn], user, pswd),
  ],
  signal: [
    'DBM|off',
    'RSSI, off: no reception',
    (router, [rssi]) => router.signal(rssi === 'off' ? undefined : number(rssi, 'the signal', -150)),
  ],
  technology: [
    'GSM|WCDMA|LTE|NR',
    'the serving technology, if there is a choice',
    (router, [name]) => router.technology(oneOf(technologies, name, 'the technology')),
  ],
  temperature: [
    'C|off',
    'temperature of the modem in degrees Celsius, off: no sensor',
    (router, [celsius]) =>
      router.temperature(celsius === 'off' ? undefined : Math.round(number(celsius, 'the temperature') * 10)),
  ],
  forbid: [
    'PLMN [off]',
    'this operator denies the SIM',
    (router, [plmn, off]) => router.forbid(digits(plmn, 'the PLMN'), off !== 'off'),
  ],
  'operator-control': [
    'on|off',
    'the modem can scan and select operators',
    (router, [on]) => router.operatorControl(onOff(on)),
  ],
  'auto-apn': ['on|off', "the router's own table has the APN of the SIM", (router, [on]) => router.autoApn(onOff(on))],
  uplink: [
    'on|off',
    'the mobile network forwards data, off: triggers the ping reboot',
    (router, [on]) => router.uplink(onOff(on)),
  ],
  'reboot-modem': ['', 'the modem restarts', (router) => router.rebootModem()],
  slow: [
    'S|off [PATTERN]',
    'answers take S seconds; PATTERN: part of object.method or of METHOD /api/path',
    (router, [delay, pattern]) => router.slow(delay === 'off' ? 0 : number(delay, 'the time', 0), pattern),
  ],
  garbage: [
    `${Object.keys(damages).join('|')}|off [N] [PATTERN]`,
    'the next N answers are damaged',
    (router, [kind, first, second]) => {
      const [times, pattern] = limits(first, second)
      router.garbage(kind === 'off' ? undefined : (oneOf(damages, kind, 'the kind') as Damage), times, pattern)
    },
  ],
  http: [
    'STATUS|off [N] [PATTERN]',
    'the next N answers are an HTML page with this status',
    (router, [status, first, second]) => {
      const [times, pattern] = limits(first, second)
      router.http(status === 'off' ? undefined : Math.min(599, number(status, 'the status', 200)), times, pattern)
    },
  ],
  fail: [
    'CALL status N|errno N [TEXT]|off',
    'a call fails, with a ubus status or with an errno in its data',
    (router, [call, kind, value, ...text]) => {
      const name = word(call, 'the call')
      if (kind === 'off') router.fail(name, undefined)
      else if (kind === 'status') router.fail(name, { status: number(value, 'the status', 0) })
      else if (kind === 'errno')
        router.fail(name, { errno: number(value, 'the errno'), error: text.join(' ') || 'Failed' })
      else throw badValue(`sim-router: fail takes status, errno or off, not '${kind ?? ''}'`)
    },
  ],
  missing: [
    'OBJECT [off]',
    'this object is not on the bus (-32000)',
    (router, [object, off]) => router.missing(word(object, 'the object'), off !== 'off'),
  ],
  deny: [
    'OBJECT[.METHOD] [off]',
    'the login lacks the right to it (-32002)',
    (router, [name, off]) => router.deny(word(name, 'the object'), off !== 'off'),
  ],
  clear: ['', 'ends slow, garbage, http, fail, missing, deny and first-login', (router) => router.clear()],
}

function helpText(): string {
  const lines = Object.entries(controls).map(([name, [args, help]]) => [`sim-router ${name} ${args}`.trim(), help])
  const width = Math.min(60, Math.max(...lines.map(([usage = '']) => usage.length)))
  return lines.map(([usage = '', help]) => `${usage.padEnd(width)}  ${help}`).join('\n')
}

/**
 * Runs one line, e.g. `signal -105` or `garbage json 3 gsm.modem0`; an empty one only shows the state.
 * @throws RTK_ERR_COMMAND_VALUE
 */
export function runCommand(router: SimulatedTeltonika, line: string): string {
  const text = line.trim()
  // Commas instead of blanks, as in a URL; beside blanks they belong to a word, e.g. a password.
  const [name = '', ...args] = text.split(/\s/.test(text) ? /\s+/ : ',')
  if (name === 'help') return helpText()
  if (name !== '') {
    const control = Object.hasOwn(controls, name) ? controls[name] : undefined
    if (!control) throw badValue(`sim-router: unknown '${name}'; known are help, ${Object.keys(controls).join(', ')}`)
    control[2](router, args)
  }
  return router.describe()
}
