/** Which address an attempt to reach a peer takes: the first steps of the recovery ladder. Pure; `Outbound` is its edge. */
import type { LinkInfo } from '../../../schemas/info/links.js'

export type DialStep = LinkInfo['step']
export type Family = 4 | 6

export interface DialAddress {
  readonly address: string
  readonly family: Family
}

/** State of the route to one peer. */
export interface DialState {
  /** Attempts that failed since one succeeded. */
  readonly failures: number
  /** The address of the connection that was good last. */
  readonly good: DialAddress | undefined
  /** The family that the last attempt failed with. */
  readonly failed: Family | undefined
  /** The last addresses resolved, and when (monotonic): used while no name server answers. */
  readonly known: { readonly addresses: readonly DialAddress[]; readonly at_ms: number } | undefined
}

export const untried: DialState = { failures: 0, good: undefined, failed: undefined, known: undefined }

/**
 * A name server that is away for longer than this must not tie a station to an address that may by now belong to
 * another host.
 */
const keep_ms = 24 * 3_600_000

/**
 * The strategy of the next attempt. First the address that worked, if the name still has it. Then all resolved
 * addresses in order; then only the other family, as its packets may take another route. Then the last two in turn. The
 * name is resolved for each attempt.
 */
export function stepOf({ failures }: DialState): DialStep {
  if (failures === 0) return 'reconnect'
  return failures % 2 === 1 ? 'resolve' : 'family'
}

/**
 * The addresses of the next attempt, in order.
 * @param answer addresses that the name resolves to now, never empty
 */
export function addressesFor(state: DialState, answer: readonly DialAddress[]): readonly DialAddress[] {
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

/** The name was resolved. */
export const resolved = (state: DialState, addresses: readonly DialAddress[], now_ms: number): DialState => ({
  ...state,
  known: { addresses, at_ms: now_ms },
})

/** The last resolved addresses, while no name server answers; undefined if they are too old. */
export function remembered({ known }: DialState, now_ms: number): readonly DialAddress[] | undefined {
  return known && now_ms - known.at_ms < keep_ms ? known.addresses : undefined
}

export const succeeded = (state: DialState, good: DialAddress | undefined): DialState => ({
  ...state,
  failures: 0,
  failed: undefined,
  good: good ?? state.good,
})

/** @param family of the connection that failed; undefined: none was made */
export const failed = (state: DialState, family: Family | undefined): DialState => ({
  ...state,
  failures: state.failures + 1,
  failed: family ?? addressesFor(state, state.known?.addresses ?? [])[0]?.family ?? state.failed,
})
