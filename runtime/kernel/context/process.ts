import { anySignal } from '../../any-signal.js'
import type { PluginContext } from '../../plugin.js'
import type { ProcessPort } from '../../ports/processes.js'
import type { Instance } from '../instance/instance.js'

/** `ctx.process`: other programs, gone with the plugin. */
export function processOf({ scope }: Instance, processes: ProcessPort): PluginContext['process'] {
  return {
    async execFile(file, args, options = {}) {
      const { signal, release } = anySignal([scope.signal, options.signal])
      try {
        return await processes.execFile(file, args, { ...options, signal })
      } finally {
        release()
      }
    },
  }
}
