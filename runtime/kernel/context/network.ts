import type { Trouble } from '../../../schemas/services.js'
import { Fetcher } from '../../fetch/index.js'
import type { PluginContext } from '../../plugin.js'
import type { Clock } from '../../ports/clock.js'
import type { Instance } from '../instance/instance.js'
import { argument, type ContextHost, opening } from './host.js'

/** `ctx.net`: listeners with sockets owned by the runtime. */
export function netOf(
  instance: Instance,
  { network }: ContextHost,
  errors: PluginContext['errors'],
): PluginContext['net'] {
  return {
    listen(options, onConnection) {
      opening(instance, `listener ${options.name}`)
      argument(`listener ${options.name}: its function`, onConnection, 'function')
      const code = `listen-${options.name}`
      const report = (trouble: Trouble | undefined) => {
        if (trouble === undefined) errors.clear(code)
        else errors.raise(code, trouble)
      }
      return network.listen(instance, options, onConnection, report, instance.live)
    },
  }
}

/** `ctx.fetch`: HTTP with limits; its connections go with the plugin. */
export function fetchOf({ scope }: Instance, clock: Clock): PluginContext['fetch'] {
  let fetcher: Fetcher | undefined
  return async (url, options) => {
    if (!fetcher) {
      const own = new Fetcher(clock, scope.signal)
      scope.own('connections of fetch', () => own.close())
      fetcher = own
    }
    return fetcher.fetch(url, options)
  }
}
