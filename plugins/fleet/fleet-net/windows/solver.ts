import { setImmediate } from 'node:timers/promises'
import { Mutex } from 'async-mutex'
import { type Baseline, baselineInSteps, type Station } from 'rtk-base/baseline'
import type { Solver } from './windows.js'

/** One pair after the other, in the thread of the service: the processor has other work. */
export class OwnThread implements Solver {
  readonly #turn = new Mutex()
  #isStopped = false

  solve(from: Station, to: Station): Promise<Baseline> {
    return this.#turn.runExclusive(() =>
      baselineInSteps(from, to, async () => {
        await setImmediate()
        if (this.#isStopped) throw new Error('stopped')
      }),
    )
  }

  stop(): void {
    this.#isStopped = true
  }
}
