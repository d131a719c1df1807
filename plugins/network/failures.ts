import { RtkError, unavailable } from 'rtk-base/plugin'
import type { NetworkFailure, NetworkInterface } from 'rtk-base/services'
import { failureOf, reasonText } from './reasons.js'

/** The daemon refused, or could not complete, what was asked of it. `networkFailureOf` reads `failure` from the error. */
export const networkError = (text: string, failure: NetworkFailure = 'other', cause?: unknown): RtkError =>
  new RtkError('RTK_ERR_NETWORK', text, { cause: { failure, ...(cause === undefined ? {} : { cause }) } })

/** An activation that ended in a device state reason instead of a connection. */
export const activationError = (name: string, reason: number): RtkError =>
  networkError(`${name}: ${reasonText(reason) || 'the connection was not established'}`, failureOf(reason))

const kinds = { ethernet: 'Ethernet', wifi: 'WiFi' }
export const noInterface = (name: string, kind: NetworkInterface['kind']): RtkError =>
  networkError(`${name}: this machine has no such ${kinds[kind]} interface`, 'no interface')

export const daemonAway = (failure: string): RtkError => unavailable(failure)

export const notManaged = (name: string): RtkError =>
  networkError(
    `${name}: the network daemon is configured not to manage the interface (see plugins/network/README.md)`,
    'no interface',
  )
