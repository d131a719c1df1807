/** Errors of the simulated daemon: NetworkManager's numbers (nm-dbus-interface.h, NMDeviceStateReason) as far as it uses them. */
import { RtkError } from 'rtk-base/plugin'
import { type NetworkFailure, networkErrors } from 'rtk-base/services'

const reasons = {
  0: ['', 'other'],
  3: ['the network daemon does not manage the interface', 'no interface'],
  7: ['wrong password: the network did not accept it, or none is set', 'wrong password'],
  8: ['the access point ended the association', 'no carrier'],
  17: ['no DHCP server answered', 'no address'],
  36: ['the interface was removed', 'no interface'],
  39: ['it was disconnected on request', 'superseded'],
  40: ['no cable, or the carrier was lost', 'no carrier'],
  53: ['no network of this name is in reach', 'not found'],
  60: ['another profile was activated', 'superseded'],
} as const satisfies Readonly<Record<number, readonly [text: string, failure: NetworkFailure]>>
/** Why a device is in its state. */
export type Reason = keyof typeof reasons

/** For a person; `''` for no reason. */
export const reasonText = (reason: Reason): string => reasons[reason][0]

/** The daemon rejected or could not complete a request. */
export const refused = (text: string, failure: NetworkFailure = 'other'): RtkError =>
  new RtkError(networkErrors.RTK_ERR_NETWORK, text, { cause: { failure } })

/** An activation that ended in a reason instead of a connection. */
export const activationError = (name: string, reason: Reason): RtkError =>
  refused(`${name}: ${reasonText(reason) || 'the connection was not established'}`, reasons[reason][1])
