import type { Test } from 'tap'
import { Random } from '../../runtime/lib/simulation/random.js'

/**
 * Random moments of a test. Its seed is a comment in the output; `RTK_BASE_TEST_SEED` repeats it.
 */
export function seeded(t: Pick<Test, 'comment'>): Random {
  const seed = Number(process.env.RTK_BASE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  t.comment(`RTK_BASE_TEST_SEED=${seed}`)
  return new Random(seed)
}
