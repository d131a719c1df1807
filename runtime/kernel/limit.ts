import { RtkError } from '../errors.js'
import type { Clock } from '../ports/clock.js'

/** Waits for `work`, at most `limit_ms`. @throws RTK_ERR_PLUGIN_TIMEOUT naming the plugin and the phase. */
export function withLimit<T>(
  clock: Clock,
  limit_ms: number,
  plugin: string,
  phase: string,
  work: PromiseLike<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.timer(limit_ms, () => {
      reject(new RtkError('RTK_ERR_PLUGIN_TIMEOUT', `${plugin}: ${phase} took longer than ${limit_ms / 1000} s`))
    })
    work.then(
      (value) => {
        void cancel()
        resolve(value)
      },
      (error) => {
        void cancel()
        reject(error)
      },
    )
  })
}
