import type { Trouble } from '../../../schemas/services.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import type { ContextHost } from './host.js'
import { opening } from './host.js'

/** `ctx.net`: listeners whose sockets the runtime owns. */
export function netOf(
  instance: Instance,
  { network }: ContextHost,
  errors: PluginContext['errors'],
): PluginContext['net'] {
  return {
    listen(options, onConnection) {
      opening(instance, `listener ${options.name}`)
      const code = `listen-${options.name}`
      const report = (trouble: Trouble | undefined) => {
        if (trouble === undefined) errors.clear(code)
        else errors.raise(code, trouble)
      }
      return network.listen(instance, options, onConnection, report, instance.live)
    },
  }
}
