/** How often a message should come. */
import { isMsm } from 'rtk-base/gnss'
import type { Receiver } from 'rtk-base/services'
import { interval_ms } from './station-messages.js'

/** @returns seconds; undefined where nobody says so */
export function nominal_s(type: number, receiver: Receiver['intervals_s']): number | undefined {
  if (isMsm(type)) return receiver?.observations
  if (type === 1005 || type === 1006) return receiver?.reference
  if (type === 1008 || type === 1033) return Math.max(interval_ms / 1000, receiver?.reference ?? 0)
  return undefined
}
