const first_ms = 1_000
const longest_ms = 60_000

/**
 * How long to wait before attempt `attempt` (0 is the first retry): 1 s doubling to 60 s with full jitter, so that a
 * fleet does not come back to its broker in step.
 * @param random between 0 and 1
 */
export function backoff_ms(attempt: number, random: number): number {
  return Math.round(random * Math.min(longest_ms, first_ms * 2 ** Math.min(attempt, 16)))
}
