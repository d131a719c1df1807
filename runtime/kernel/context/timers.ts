import { guard, isThenable } from '../../platform/guard/guard.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Dispose, PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { argument } from './host.js'

/** Periods from here on share their wake-ups. */
const shared_ms = 250

/** `ctx.timers`: gated, attributed, isolated, gone with the plugin. */
export function timersOf(instance: Instance, clock: Clock): PluginContext['timers'] {
  const { scope } = instance
  /** Nobody waits for a run. */
  const options = { limit_ms: Number.POSITIVE_INFINITY, whileStopping: true }
  const guarded = (fn: () => unknown) => guard(instance, 'timer', fn, options)
  const checked = (ms: unknown, fn: unknown) => {
    argument('timer: its time', ms, 'number')
    argument('timer: its function', fn, 'function')
  }
  return {
    after(ms, fn) {
      checked(ms, fn)
      const run = guarded(fn)
      const over = scope.own(
        `timer after ${ms} ms`,
        clock.timer(ms, () => {
          void over()
          run()
        }),
      )
      return over
    },
    every(ms, fn) {
      checked(ms, fn)
      const run = guarded(fn)
      let cancel: Dispose = () => {}
      let stopped = false
      let due_ms = clock.monotonic() + ms
      const wait = ms >= shared_ms && clock.tick ? clock.tick : clock.timer.bind(clock)
      const arm = () => {
        if (stopped || scope.closed) return
        cancel = wait(Math.max(0, due_ms - clock.monotonic()), () => {
          // Late wake-ups, as after a suspend, are not made up for: the next one is whole periods on from the planned time.
          const late_ms = Math.max(0, clock.monotonic() - due_ms)
          due_ms += ms * (1 + Math.floor(late_ms / Math.max(1, ms)))
          const running: unknown = run()
          if (isThenable(running)) void running.then(arm, arm)
          else arm()
        })
      }
      const stop = scope.own(`timer every ${ms} ms`, () => {
        stopped = true
        return cancel()
      })
      arm()
      return stop
    },
  }
}
