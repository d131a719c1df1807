import { readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Devices that are no receivers, and that a question may confuse: modems, programmers, radios of home automation. */
const others = /modem|lte|5g|_ec2|_rm5|sim7|sierra|huawei|telit|zte|zigbee|zwave|arduino|stlink|j-link/i
const serial = /^tty(ACM|USB|AMA|S)\d+$|^serial\d$/
const most = 8

/**
 * Serial devices that may be a receiver: those of `serial/by-id`, whose names stay the same, then the others.
 * @param root the folder `/dev`
 */
export function serialDevices(root = '/dev'): string[] {
  const byId = list(join(root, 'serial', 'by-id')).filter((path) => !others.test(path))
  const known = new Set(list(join(root, 'serial', 'by-id')).map(target))
  const plain = list(root).filter((path) => serial.test(path.slice(root.length + 1)))
  // A serial port of the board that nothing uses still exists: only those that the system names as its serial ports are looked at.
  const boards = plain.filter((path) => !/ttyS\d+$/.test(path))
  const unique = new Map<string, string>()
  for (const path of [...byId, ...boards]) {
    const node = target(path)
    const isOther = known.has(node) && !byId.includes(path)
    if (!isOther && !unique.has(node)) unique.set(node, path)
  }
  return [...unique.values()].slice(0, most)
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

function target(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
