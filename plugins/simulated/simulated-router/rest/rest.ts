/** The table of REST paths, by method; `*` matches one part of the path. */

import type { Device } from '../device/device.js'
import type { Firmware } from '../device/identity.js'
import { isObject } from '../ubus/object.js'
import { type Endpoint, failure, type RestAnswer } from './answer.js'
import { config, unblockAll, wirelessStatus } from './config.js'
import { execAt, modemReboot, modemStatus, modemsStatus, restartConnection, scanNetwork } from './modems.js'
import {
  deviceStatus,
  factoryReset,
  firmwareProgress,
  login,
  logout,
  reboot,
  sessionStatus,
  unauthorizedStatus,
  upgradeFirmware,
  uploadFirmware,
  usage,
  verifyFirmware,
} from './system.js'

interface Entry {
  run: Endpoint
  /** No login needed. */
  open?: boolean
  /** Only these versions have it. */
  when?: (firmware: Firmware) => boolean
  /** The body is a file. */
  upload?: boolean
}

/** SIM cards moved below their modem. */
const moved = ({ minor }: Firmware) => minor >= 6

const table: Record<string, Entry> = {
  'POST login': { run: login, open: true },
  'POST logout': { run: logout },
  'GET session/status': { run: sessionStatus },
  'GET unauthorized/status': { run: unauthorizedStatus, open: true },
  'GET system/device/usage/status': { run: usage },
  'GET system/device/status': { run: deviceStatus },
  'POST system/actions/reboot': { run: reboot },
  'POST firmware/actions/factory_reset': { run: factoryReset },
  'POST firmware/actions/upload_device_firmware': { run: uploadFirmware, upload: true },
  'POST firmware/actions/verify': { run: verifyFirmware },
  'POST firmware/actions/upgrade': { run: upgradeFirmware },
  'GET firmware/device/progress/status': { run: firmwareProgress },
  'GET modems/status': { run: modemsStatus },
  'GET modems/status/*': { run: modemStatus },
  'POST modems/*/actions/reboot': { run: modemReboot },
  'POST modems/*/actions/restart_connection': { run: restartConnection },
  'POST modems/*/actions/exec_at': { run: execAt },
  'POST modems/*/actions/scan_network': { run: scanNetwork },
  'GET interfaces/config': { run: config.interfaces.read },
  'GET interfaces/config/*': { run: config.interfaces.read },
  'PUT interfaces/config/*': { run: config.interfaces.update },
  'GET sim_cards/config': { run: config.simCards.read, when: (firmware) => !moved(firmware) },
  'GET sim_cards/config/*': { run: config.simCards.read, when: (firmware) => !moved(firmware) },
  'PUT sim_cards/config/*': { run: config.simCards.update, when: (firmware) => !moved(firmware) },
  'GET modems/*/sim_cards/config': { run: config.simCards.list, when: moved },
  'GET modems/*/sim_cards/config/*': { run: config.simCards.read, when: moved },
  'PUT modems/*/sim_cards/config/*': { run: config.simCards.update, when: moved },
  'GET auto_reboot/ping_wget/config': { run: config.pingReboot.read },
  'POST auto_reboot/ping_wget/config': { run: config.pingReboot.add },
  'GET auto_reboot/ping_wget/config/*': { run: config.pingReboot.read },
  'PUT auto_reboot/ping_wget/config/*': { run: config.pingReboot.update },
  'GET access_control/security/config': { run: config.security.read },
  'PUT access_control/security/config': { run: config.security.update },
  'POST access_control/security/attempts/actions/unblock_all': { run: unblockAll },
  'GET wireless/interfaces/status': { run: wirelessStatus },
  'GET wireless/interfaces/config': { run: config.accessPoints.read },
  'GET wireless/interfaces/config/*': { run: config.accessPoints.read },
  'PUT wireless/interfaces/config/*': { run: config.accessPoints.update },
}

/** @returns the entry and the matches of the stars; undefined without a match */
export function findEndpoint(
  method: string,
  path: string,
  firmware: Firmware,
): (Entry & { path: string[] }) | undefined {
  const parts = [method, ...path.split('/')]
  for (const [pattern, entry] of Object.entries(table)) {
    const [verb = '', route = ''] = pattern.split(' ')
    const wanted = [verb, ...route.split('/')]
    if (wanted.length !== parts.length || entry.when?.(firmware) === false) continue
    if (!wanted.every((part, index) => part === '*' || part === parts[index])) continue
    return { ...entry, path: parts.filter((_part, index) => wanted[index] === '*') }
  }
  return undefined
}

export interface RestCall {
  method: string
  /** Without `/api/`. */
  path: string
  authorization: string
  contentType: string
  raw: Buffer
  address: string
}

function dataOf({ raw, path }: RestCall): Record<string, unknown> | undefined {
  if (raw.length === 0) return {}
  try {
    const body: unknown = JSON.parse(raw.toString())
    if (!isObject(body)) return undefined
    if (path === 'login') return body
    return body.data === undefined ? {} : isObject(body.data) ? body.data : undefined
  } catch {
    return undefined
  }
}

export async function answerRest(device: Device, call: RestCall): Promise<RestAnswer> {
  const { method, path, authorization, contentType, raw, address } = call
  const entry = findEndpoint(method, path, device.firmware)
  const token = /^Bearer (.+)$/.exec(authorization)?.[1]
  const session = token === undefined ? undefined : device.tokens.use(token)
  if (entry?.open !== true && session === undefined) return failure(token === undefined ? 'unauthorised' : 'token')
  if (entry === undefined) return failure('notImplemented', `${method} /api/${path}`)
  if (device.faults.isDenied(path, method)) return failure('unauthorised')
  const data = entry.upload ? {} : dataOf(call)
  if (data === undefined) return failure('request', 'Body')
  const isLogin = path === 'login'
  if (isLogin) device.logins.most = Math.max(device.logins.most, ++device.logins.now)
  try {
    await device.delays.wait(device.faults.delay_ms(`${method} /api/${path}`))
    const failing = device.faults.failure(path)
    if (failing !== undefined)
      return failure('request', 'error' in failing ? failing.error : `status ${failing.status}`)
    return await entry.run({ device, session, path: entry.path, data, raw, contentType, address })
  } finally {
    if (isLogin) device.logins.now--
  }
}
