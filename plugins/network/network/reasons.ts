/**
 * Why a device is in its state: NetworkManager's numbers (nm-dbus-interface.h, NMDeviceStateReason), their categories for callers,
 * and their texts. Numbers unrelated to failures are omitted: `reasonText` shows them by number.
 */

import { RtkError, unavailable } from 'rtk-base/plugin'
import { type NetworkFailure, type NetworkInterface, networkErrors } from 'rtk-base/services'

interface Reason {
  readonly text: string
  readonly failure?: NetworkFailure
}

export const deviceReasons = {
  0: { text: '' },
  2: { text: 'the network daemon manages the interface now' },
  3: { text: 'the network daemon does not manage the interface', failure: 'no interface' },
  4: { text: 'the interface could not be configured' },
  5: { text: 'the address settings could not be applied', failure: 'no address' },
  6: { text: 'the address is no longer valid', failure: 'no address' },
  7: { text: 'wrong password: the network did not accept it, or none is set', failure: 'wrong password' },
  8: { text: 'the access point ended the association', failure: 'no carrier' },
  9: { text: 'wpa_supplicant rejected the settings' },
  10: { text: 'wpa_supplicant failed' },
  11: { text: 'the association took too long: the signal may be weak, or the password wrong', failure: 'timeout' },
  15: { text: 'the DHCP client could not be started', failure: 'no address' },
  16: { text: 'the DHCP client failed', failure: 'no address' },
  17: { text: 'no DHCP server answered', failure: 'no address' },
  18: { text: 'the DHCP server of the access point could not be started: is dnsmasq installed, is its port in use?' },
  19: { text: 'the DHCP server of the access point ended: is its port in use by another program?' },
  20: { text: 'a link-local address could not be obtained', failure: 'no address' },
  21: { text: 'a link-local address could not be obtained', failure: 'no address' },
  22: { text: 'a link-local address could not be obtained', failure: 'no address' },
  35: { text: 'the firmware of the interface is missing' },
  36: { text: 'the interface was removed', failure: 'no interface' },
  37: { text: 'the network daemon is asleep' },
  38: { text: 'the profile was deleted', failure: 'superseded' },
  39: { text: 'it was disconnected on request', failure: 'superseded' },
  40: { text: 'no cable, or the carrier was lost', failure: 'no carrier' },
  42: { text: 'wpa_supplicant is available now' },
  53: { text: 'no network of this name is in reach', failure: 'not found' },
  60: { text: 'another profile was activated', failure: 'superseded' },
  64: { text: 'another machine uses the same address', failure: 'no address' },
  65: { text: 'the interface does not support this kind of address' },
} as const satisfies Readonly<Record<number, Reason>>

const known: Readonly<Record<number, Reason>> = deviceReasons

/** For a person; `''` for no reason. */
export const reasonText = (reason: number): string => known[reason]?.text ?? `reason ${reason} of the network daemon`

export const failureOf = (reason: number): NetworkFailure => known[reason]?.failure ?? 'other'

/** The daemon rejected or could not complete a request. `networkFailureOf` reads `failure` from the error. */
export const networkError = (text: string, failure: NetworkFailure = 'other', cause?: unknown): RtkError =>
  new RtkError(networkErrors.RTK_ERR_NETWORK, text, { cause: { failure, ...(cause === undefined ? {} : { cause }) } })

/** An activation that ended in a device state reason instead of a connection. */
export const activationError = (name: string, reason: number): RtkError =>
  networkError(`${name}: ${reasonText(reason) || 'the connection was not established'}`, failureOf(reason))

const kinds = { ethernet: 'Ethernet', wifi: 'WiFi' }
export const noInterface = (name: string, kind: NetworkInterface['kind']): RtkError =>
  networkError(`${name}: this machine has no such ${kinds[kind]} interface`, 'no interface')

export const daemonAway = (failure: string): RtkError => unavailable(failure)

export const notManaged = (name: string): RtkError =>
  networkError(
    `${name}: the network daemon is configured not to manage the interface (see plugins/network/network/README.md)`,
    'no interface',
  )
