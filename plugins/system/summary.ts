import type { BaseStateName, UpdateStateName } from 'rtk-base/schemas'

export interface SummaryFacts {
  base: BaseStateName
  /** Of the GNSS procedure; `''` unknown. */
  status: string
  update: UpdateStateName
  /** The version that runs is on trial. */
  onTrial: boolean
  /** Who takes the RTCM stream. */
  outputs: number
  /** Why no RTCM goes out. */
  reason: string
}

const texts: Readonly<Record<BaseStateName, (facts: SummaryFacts) => string>> = {
  starting: ({ status }) => `starting${status === '' ? '' : ` (${status})`}`,
  surveying: () => 'surveying in',
  ready: ({ outputs }) => `fixed, ${outputs} ${outputs === 1 ? 'output' : 'outputs'}`,
  degraded: ({ reason }) => `no RTCM goes out: ${reason}`,
  updating: ({ update }) => `update: ${update}`,
  stopping: () => 'restarting',
}

/** What the station does, in a line. */
export function summaryOf(facts: SummaryFacts): string {
  const text = texts[facts.base](facts)
  return facts.onTrial ? `update on trial; ${text}` : text
}
