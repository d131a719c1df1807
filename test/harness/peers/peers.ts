import { spawnSync } from 'node:child_process'

/**
 * A reason to skip when a program of the machine is missing; false when it is there. With `CI=true` it is never a reason:
 * the test then runs and fails.
 */
export function noPeer(program: string): string | false {
  if (process.env.CI === 'true') return false
  const found = spawnSync('which', [program]).status === 0
  return found ? false : `${program} is not installed on this machine`
}
