import type { Receiver } from '../../../schemas/services.js'

type Status = 'offline' | 'stalled' | 'identify' | 'acquire' | 'fixed'

export const isIdentified = ({ identity }: Pick<Receiver, 'identity'>): boolean =>
  identity.module !== '' || identity.serial !== ''

/**
 * `gnss.state.status` by evidence alone, for a receiver without a procedure: the first line that is true.
 * @param flows RTCM observations come from it
 */
export function receiverStatus(receiver: Pick<Receiver, 'identity' | 'link' | 'mode'>, flows: boolean): Status {
  const { link, mode } = receiver
  if (link !== 'up') return link
  const isListening = mode === 'listening'
  if ((isListening || mode === 'fixed') && flows) return 'fixed'
  return !isListening && !isIdentified(receiver) ? 'identify' : 'acquire'
}
