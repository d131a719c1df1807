/** The programs on the simulated router, as far as a client has a use for them. */
import { createHash } from 'node:crypto'
import type { Device } from '../device/device.js'
import { verifyImage, withColons } from '../device/identity.js'
import { findSection } from '../uci/store.js'
import { download } from './download.js'
import { gsmctl } from './gsmctl.js'
import { type Result, result } from './parser.js'

interface ProgramInput {
  device: Device
  stdin: string
  run: (words: readonly string[]) => Promise<Result>
}
type Program = (args: string[], io: ProgramInput) => Result | Promise<Result>

const lines = (...texts: string[]) => `${texts.join('\n')}\n`

const manufacturing: Program = (args, { device: { identity } }) => {
  const { serial, name, mac, hwver, batch } = identity
  const fields: Record<string, string> = {
    sn: serial,
    '-s': serial,
    '--sn': serial,
    name,
    '-n': name,
    '--name': name,
    mac,
    '-m': mac,
    '--mac': mac,
    hwver,
    '-H': hwver,
    '--hwver': hwver,
    batch,
    '-b': batch,
    '--batch': batch,
  }
  const value = args[0] === undefined ? undefined : fields[args[0]]
  return value === undefined ? result(1, '', 'mnf_info: unknown option\n') : result(0, lines(value))
}

/** wget, curl and uclient-fetch, with the flags that matter. */
const fetcher =
  (name: string): Program =>
  async (args, { device }) => {
    const flags = args.filter((arg) => arg.startsWith('-'))
    const valued = [
      '-O',
      '-o',
      '-T',
      '--output-document',
      '--output',
      '-m',
      '--max-time',
      '--timeout',
      '--connect-timeout',
      '-t',
    ]
    const url = args.find((arg, index) => !arg.startsWith('-') && !valued.includes(args[index - 1] ?? ''))
    const outputFlags = name === 'curl' ? ['-o', '--output'] : ['-O', '--output-document']
    const output =
      args[args.findIndex((arg) => outputFlags.includes(arg)) + 1 || args.length] ??
      flags.flatMap((flag) => /^(?:--output(?:-document)?=|-[oO])(.+)/.exec(flag)?.[1] ?? [])[0]
    if (url === undefined) return result(1, '', `${name}: missing URL\n`)
    const insecure = flags.some(
      (flag) => flag === '--no-check-certificate' || flag === '--insecure' || /^-\w*k/.test(flag),
    )
    const follow = name !== 'curl' || flags.some((flag) => flag === '--location' || /^-\w*L/.test(flag))
    const got = await download(device.network, url, { insecure, follow })
    if ('error' in got) return result(name === 'curl' ? 22 : 8, '', `${name}: ${got.error}\n`)
    if (output === undefined && name === 'curl') return result(0, got.body.toString('latin1'))
    if (output === '-') return result(0, got.body.toString('latin1'))
    const file = output ?? `/tmp/${url.split('/').at(-1)}`
    const problem = device.files.write(file, got.body)
    return problem === undefined ? result(0) : result(1, '', `${name}: can't open '${file}': ${problem}\n`)
  }

const sysupgrade: Program = async (args, { device }) => {
  const source = args.find((arg) => !arg.startsWith('-'))
  if (source === undefined) return result(1, '', 'Usage: sysupgrade [<upgrade-option>...] <image file or URL>\n')
  const fetched = /^https?:/.test(source)
    ? await download(device.network, source, { insecure: false, follow: true })
    : undefined
  const image = fetched === undefined ? device.files.read(source) : 'body' in fetched ? fetched.body : undefined
  if (image === undefined) return result(1, '', `Image file '${source}' not found.\n`)
  const verified = verifyImage(image, device.firmware)
  if ('error' in verified) return result(1, '', `${verified.error}\nImage check failed.\n`)
  if (args.includes('-T') || args.includes('--test')) return result(0)
  device.upgrade(verified.version, !args.includes('-n'))
  // It ends all processes, including the caller: no answer.
  return new Promise(() => {})
}

const restart: Program = (_args, { device }) => {
  device.delays.after(2_000, () => device.onPower('reboot', device.options.reboot_s))
  return result(0)
}

const uci: Program = (args, { device }) => {
  const [command, path = ''] = args.filter((arg) => arg !== '-q')
  const [config = '', section = '', option = ''] = path.split('.')
  if (command === 'get') {
    const value = findSection(device.uci.view(config) ?? [], section)?.options.get(option)
    if (value === undefined) return result(1, '', 'uci: Entry not found\n')
    return result(0, lines(Array.isArray(value) ? value.join(' ') : value))
  }
  if (command === 'set') {
    // Uncommitted changes of the command line are in /tmp/.uci, which every process shares: written at once here.
    const [, target, , value] = /^([^=]+)=(['"]?)(.*)\2$/.exec(path) ?? []
    const [file = '', name = '', key = ''] = (target ?? '').split('.')
    return device.uci.write(file, name, key, value ?? '') ? result(0) : result(1, '', 'uci: Entry not found\n')
  }
  return command === 'commit' ? result(0) : result(255, '', 'uci: Invalid argument\n')
}

const service: Program = ([name, action], { device }) => {
  if (action === undefined) return result(1, '', 'Syntax: service <name> <command>\n')
  const restarts = ['reload', 'restart', 'start'].includes(action)
  if ((name === 'network' || name === 'mobifd') && restarts) device.reloadNetwork()
  return result(0)
}

const up: Program = ([name], { device }) => {
  if (name === undefined) return result(1, '', 'ifup: missing interface\n')
  if (name === 'ppp' || name.startsWith('mob')) device.reloadNetwork()
  return result(0)
}

const digestOf =
  (algorithm: string): Program =>
  (args, { device, stdin }) => {
    const [file] = args
    const data = file === undefined ? Buffer.from(stdin) : device.files.read(file)
    if (data === undefined) return result(1, '', `can't open '${file}': No such file or directory\n`)
    return result(0, lines(`${createHash(algorithm).update(data).digest('hex')}  ${file ?? '-'}`))
  }

const test: Program = (args, { device }) => {
  const [first = '', second = '', third] = args.filter((arg) => arg !== ']')
  if (first === '-f' || first === '-e') return result(device.files.read(second) ? 0 : 1)
  if (first === '-s') return result((device.files.read(second)?.length ?? 0) > 0 ? 0 : 1)
  if (first === '-n') return result(second === '' ? 1 : 0)
  if (first === '-z') return result(second === '' ? 0 : 1)
  if (second === '=') return result(first === third ? 0 : 1)
  return result(second === '!=' && first !== third ? 0 : 1)
}

/** `nohup`, `setsid`, `exec`, `timeout S`: they run the rest. */
const prefix =
  (skip: number): Program =>
  (args, { run }) =>
    run(args.slice(skip))

export const programs: Record<string, Program> = {
  gsmctl: async (args, { device }) => gsmctl(device, args),
  mnf_info: manufacturing,
  wget: fetcher('wget'),
  curl: fetcher('curl'),
  'uclient-fetch': fetcher('uclient-fetch'),
  sysupgrade,
  reboot: restart,
  firstboot: (_args, { device }) => {
    device.delays.after(2_000, () => device.onPower('factory', device.options.flash_s))
    return result(0)
  },
  uci,
  service,
  ifup: up,
  ifdown: ([name], { device }) => {
    if (name === 'ppp' || name?.startsWith('mob')) device.modem.dataOff = true
    return result(0)
  },
  test,
  '[': test,
  md5sum: digestOf('md5'),
  sha256sum: digestOf('sha256'),
  nohup: prefix(0),
  setsid: prefix(0),
  exec: prefix(0),
  timeout: prefix(1),
  sleep: async ([seconds], { device }) => {
    await device.delays.wait((Number(seconds) || 0) * 1000)
    return result(0)
  },
  cat: (args, { device, stdin }) => {
    if (args.length === 0) return result(0, stdin)
    const found = args.map((file) => ({ file, data: device.files.read(file) }))
    const missing = found.filter(({ data }) => data === undefined)
    const errors = missing.map(({ file }) => `cat: can't open '${file}': No such file or directory\n`).join('')
    return result(missing.length > 0 ? 1 : 0, found.map(({ data }) => data?.toString() ?? '').join(''), errors)
  },
  head: (args, { stdin }) => {
    const count = Number(/\d+/.exec(args.join(' '))?.[0] ?? 10)
    return result(0, stdin.split('\n').slice(0, count).join('\n').concat('\n'))
  },
  grep: (args, { stdin }) => {
    const wanted = args.find((arg) => !arg.startsWith('-')) ?? ''
    const found = stdin.split('\n').filter((line) => line !== '' && line.includes(wanted))
    return found.length > 0 ? result(0, lines(...found)) : result(1)
  },
  ls: ([folder = '/'], { device }) => {
    const names = device.files.list(folder)
    return names.length > 0 ? result(0, lines(...names)) : result(1, '', `ls: ${folder}: No such file or directory\n`)
  },
  rm: (args, { device }) => {
    const gone = args.filter((arg) => !arg.startsWith('-')).map((file) => device.files.remove(file))
    return result(gone.every(Boolean) || args.includes('-f') ? 0 : 1)
  },
  which: ([name = '']) => {
    const found = findProgram(name)
    return found === undefined ? result(1) : result(0, lines(`/usr/bin/${found}`))
  },
  echo: (args) => (args[0] === '-n' ? result(0, args.slice(1).join(' ')) : result(0, lines(args.join(' ')))),
  printf: (args) => result(0, (args[0] ?? '').replaceAll('\\n', '\n')),
  date: (_args, { device }) => result(0, lines(String(device.time_s))),
  uptime: (_args, { device }) =>
    result(0, lines(` up ${Math.floor(device.uptime_s / 60)} min,  load average: 0.14, 0.18, 0.12`)),
  hostname: (_args, { device }) => result(0, lines(device.uci.text('system', '@system[0]', 'hostname'))),
  ifconfig: (_args, { device }) =>
    result(0, lines(`br-lan    Link encap:Ethernet  HWaddr ${withColons(device.identity.mac)}`)),
  logger: () => result(0),
  sync: () => result(0),
  true: () => result(0),
  ':': () => result(0),
  false: () => result(1),
  exit: ([code]) => ({ ...result(Number(code) || 0), exits: true }),
}

/** The name of a command; undefined: unknown program. A script in /etc/init.d is `service NAME`. */
export function findProgram(command: string): string | undefined {
  if (/^\/etc\/init\.d\/[\w-]+$/.test(command)) return 'service'
  const name = command.replace(/^\/(usr\/)?s?bin\//, '')
  return Object.hasOwn(programs, name) || name === 'sh' || name === 'ash' ? name : undefined
}
