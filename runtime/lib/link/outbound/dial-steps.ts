/**
 * Chooses the address for an attempt to reach a peer: the first steps of the recovery ladder (see the plugin
 * `recovery`). Pure functions; `Outbound` applies them.
 */
import type { LinkInfo } from '../../../../schemas/info/links.js'
import { isIP } from '../../../platform/address/address.js'
import type { HostAddress } from '../../../platform/ports/network.js'

/** The strategy of an attempt: see `stepOf`. */
export type DialStep = LinkInfo['step']
/** IPv4 or IPv6. */
export type IpFamily = HostAddress['family']

/** State of the route to one peer. */
export interface DialState {
  /** Failed attempts since the last success. */
  readonly failures: number
  /** The address of the last successful connection. */
  readonly good: HostAddress | undefined
  /** The address family of the last failed attempt. */
  readonly failed: IpFamily | undefined
  /** The last resolved addresses, and when they were resolved (monotonic). Used while no name server answers. */
  readonly known: { readonly addresses: readonly HostAddress[]; readonly at_ms: number } | undefined
  /** The peer is an address, not a name: there is nothing to resolve, and no other address. */
  readonly isLiteral: boolean
}

/** State before the first attempt to reach a name. */
export const untried: DialState = {
  ...{ failures: 0, good: undefined, failed: undefined, known: undefined },
  isLiteral: false,
}

/** State before the first attempt. @param peer `host:port`, an IPv6 address with or without brackets */
export function untriedPeer(peer: string): DialState {
  const host = peer.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return { ...untried, isLiteral: isIP(host) !== 0 }
}

/**
 * A name server that is away for longer than this must not tie a station to an address that may by now belong to
 * another host.
 */
const keep_ms = 24 * 3_600_000

/**
 * The strategy of the next attempt. First the address that worked last, if the name still resolves to it. Then all
 * resolved addresses in order. Then only those of the other family (IPv4 or IPv6), whose packets may take another
 * route. Then these last two strategies in turn. The name is resolved for each attempt. A literal address has no
 * alternative.
 */
export function stepOf({ failures, isLiteral }: DialState): DialStep {
  if (failures === 0 || isLiteral) return 'reconnect'
  return failures % 2 === 1 ? 'resolve' : 'family'
}

/**
 * The addresses of the next attempt, in order.
 * @param answer addresses that the name resolves to now, never empty
 */
export function addressesFor(state: DialState, answer: readonly HostAddress[]): readonly HostAddress[] {
  const step = stepOf(state)
  const { good, failed } = state
  if (step === 'resolve') return answer
  if (step === 'reconnect') {
    const same = answer.find(({ address }) => address === good?.address)
    return same ? [same, ...answer.filter((one) => one !== same)] : answer
  }
  const others = answer.filter(({ family }) => family !== failed)
  if (others.length > 0 && others.length < answer.length) return others
  // One family only: its addresses take turns.
  const turn = (state.failures / 2) % answer.length
  return [...answer.slice(turn), ...answer.slice(0, turn)]
}

/** The state after the name was resolved. */
export const resolved = (state: DialState, addresses: readonly HostAddress[], now_ms: number): DialState => ({
  ...state,
  known: { addresses, at_ms: now_ms },
})

/** The last resolved addresses, while no name server answers; undefined if they are too old. */
export function remembered({ known }: DialState, now_ms: number): readonly HostAddress[] | undefined {
  return known && now_ms - known.at_ms < keep_ms ? known.addresses : undefined
}

/** The state after an attempt succeeded. */
export const succeeded = (state: DialState, good: HostAddress | undefined): DialState => ({
  ...state,
  failures: 0,
  failed: undefined,
  good: good ?? state.good,
})

/** @param family address family of the failed connection; undefined: no connection was made */
export const failed = (state: DialState, family: IpFamily | undefined): DialState => ({
  ...state,
  failures: state.failures + 1,
  failed: family ?? addressesFor(state, state.known?.addresses ?? [])[0]?.family ?? state.failed,
})
