import { RtkError } from '../../errors.js'
import type { ProcessPort } from '../../platform/ports/processes.js'
import { anySignal } from '../../platform/time/waits.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'

/** Programs that a plugin runs at the same time; further programs are queued. */
export const mostPrograms = 16
/** Queued programs; more are refused. */
export const mostWaitingPrograms = 256

/** `ctx.process`: other programs, gone with the plugin. */
export function processOf({ scope, name }: Instance, processes: ProcessPort): PluginContext['process'] {
  let running = 0
  const waiting: (() => void)[] = []
  const turn = async () => {
    if (running < mostPrograms) {
      running++
      return
    }
    if (waiting.length >= mostWaitingPrograms)
      throw new RtkError(
        'RTK_ERR_PROCESS_LIMIT',
        `${name}: ${mostPrograms} programs run and ${mostWaitingPrograms} wait already`,
      )
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  return {
    async execFile(file, args, options = {}) {
      await turn()
      const { signal, release } = anySignal([scope.signal, options.signal])
      try {
        return await processes.execFile(file, args, { ...options, signal })
      } finally {
        release()
        leave()
      }
    },
  }
}
