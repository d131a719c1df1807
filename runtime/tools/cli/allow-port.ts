import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { messageOf, RtkError } from '../../errors.js'
import { parseArgs } from './parse-args.js'

export const allowPortHelp = `rtk-base allow-port DEVICE

Prints a systemd drop-in that lets the service of the Debian package open a serial port whose driver its unit does not
list in DeviceAllow:
  rtk-base allow-port /dev/ttyX0 | sudo tee /etc/systemd/system/rtk-base.service.d/port.conf
  sudo systemctl daemon-reload && sudo systemctl restart rtk-base

  DEVICE   e.g. /dev/ttyX0, or its link below /dev/serial
`

/** `rtk-base allow-port DEVICE`. */
export async function allowPortCommand(args: string[]): Promise<number> {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} })
  const [device, ...more] = positionals
  if (!device || more.length > 0) {
    throw new RtkError('RTK_ERR_USAGE', `allow-port takes one device, not "${positionals.join(' ')}"`)
  }
  process.stdout.write(portDropIn(device, statOf(device), readFileSync('/proc/devices', 'utf8')))
  return 0
}

/** @throws RTK_ERR_USAGE */
function statOf(device: string): Stats {
  try {
    return statSync(realpathSync(device))
  } catch (error) {
    throw new RtkError('RTK_ERR_USAGE', `${device} cannot be found: ${messageOf(error)}`)
  }
}

/** The device number of Linux: 12 bits above the lowest 8, more of them from bit 32 on. */
const majorOf = (rdev: number): number =>
  Number((BigInt(rdev) >> 8n) & 0xfffn) | Number((BigInt(rdev) >> 32n) & ~0xfffn)

/**
 * By the name of its driver, as a number that was given at this start of the machine may be another one's at the next.
 * @param devices the text of /proc/devices
 * @throws RTK_ERR_USAGE
 */
export function portDropIn(device: string, stat: Pick<Stats, 'rdev' | 'isCharacterDevice'>, devices: string): string {
  if (!stat.isCharacterDevice()) throw new RtkError('RTK_ERR_USAGE', `${device} is not a character device`)
  const major = majorOf(stat.rdev)
  const characters = devices.split(/^Block devices:/m)[0] ?? ''
  const names = [...characters.matchAll(/^ *(\d+) (\S+)$/gm)].flatMap(([, number, name = '']) =>
    Number(number) === major && !name.startsWith('/') ? [name] : [],
  )
  if (names.length === 0) {
    throw new RtkError('RTK_ERR_USAGE', `${device}: /proc/devices names no driver for its number ${major}`)
  }
  const lines = names.map((name) => `DeviceAllow=char-${name} rw\n`).join('')
  return `# For ${device}.\n[Service]\n${lines}`
}
