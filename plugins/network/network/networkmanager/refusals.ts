import { BusError, BusLost, BusTimeout } from 'rtk-base/link'
import type { RtkError } from 'rtk-base/plugin'
import type { NetworkFailure } from 'rtk-base/services'
import { daemonAway, networkError } from '../reasons.js'
import { service } from './names.js'

const longest = 300

/** Errors of the daemon that mean something to a caller; every other one is `other`. */
const failures: Readonly<Record<string, NetworkFailure>> = {
  [`${service}.PermissionDenied`]: 'not allowed',
  [`${service}.Settings.PermissionDenied`]: 'not allowed',
  [`${service}.Device.PermissionDenied`]: 'not allowed',
  'org.freedesktop.DBus.Error.AccessDenied': 'not allowed',
  'org.freedesktop.DBus.Error.InteractiveAuthorizationRequired': 'not allowed',
  [`${service}.UnknownDevice`]: 'no interface',
  [`${service}.Device.NotActive`]: 'superseded',
}

const hints: Partial<Record<NetworkFailure, string>> = {
  'not allowed': ' (this user may not: see the polkit rule in plugins/network/network/README.md)',
}

/** Errors of the bus: the daemon is gone. */
const away: ReadonlySet<string> = new Set([
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
  'org.freedesktop.DBus.Error.NoReply',
  'org.freedesktop.DBus.Error.Disconnected',
])

/** The text of a failed call. @param what e.g. `eth0: it was not switched off` */
export function refusal(what: string, error: unknown): RtkError {
  if (error instanceof BusLost) return daemonAway(`${what}: the connection to NetworkManager was lost`)
  if (error instanceof BusTimeout)
    return networkError(`${what}: NetworkManager did not answer (${error.message})`, 'timeout')
  if (!(error instanceof BusError)) return error as RtkError
  if (away.has(error.kind)) return daemonAway(`${what}: NetworkManager is not running`)
  const failure = failures[error.kind] ?? 'other'
  return networkError(`${what}: ${error.message.slice(0, longest)}${hints[failure] ?? ''}`, failure, error.kind)
}
