import { Fetcher } from '../../fetch/index.js'
import type { PluginContext } from '../../plugin.js'
import type { Clock } from '../../ports/clock.js'
import type { Instance } from '../instance/instance.js'

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
