import { type AnyPlugin, definePlugin, type PluginContext } from '../../runtime/plugin.js'
import type { ServiceToken } from '../../schemas/services.js'

/**
 * A plugin that lets a test into a station: `start` gets its context, with the services that it needs.
 * @example probe([rtcmStream], (ctx) => { stream = ctx.services.use(rtcmStream) })
 */
export function probe(
  needs: readonly ServiceToken<unknown>[],
  start: (ctx: PluginContext) => void | Promise<void>,
): AnyPlugin {
  return definePlugin({ name: 'probe', version: '1.0.0', api: '^1.0.0', needs, setup: () => {}, start })
}
