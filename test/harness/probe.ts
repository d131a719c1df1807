import { type AnyPlugin, definePlugin, type PluginContext } from '../../runtime/plugin.js'
import type { ServiceToken } from '../../schemas/services.js'

/**
 * A plugin that gives a test access to a station: `start` gets the plugin's `ctx`, which can use the services in `needs`.
 * @example probe([rtcmStream], (ctx) => { stream = ctx.services.use(rtcmStream) })
 */
export function probe(
  needs: readonly ServiceToken<unknown>[],
  start: (ctx: PluginContext) => void | Promise<void>,
): AnyPlugin {
  return definePlugin({ name: 'probe', version: '1.0.0', api: '^1.0.0', needs, setup: () => {}, start })
}

/**
 * A service of which a test needs only some members. Other members that the token requires are undefined, or throw when called.
 * @param given the members that the test needs. The other members are added to this same object, which is returned
 */
export function partOf<T>({ id, shape = {} }: ServiceToken<T>, given: Partial<T>): T {
  const part = given as Record<string, unknown>
  for (const [member, kind] of Object.entries(shape)) {
    if (member in part) continue
    const unexpected = () => {
      throw new Error(`nobody should call ${id}.${member} here`)
    }
    part[member] = kind === 'function' ? unexpected : undefined
  }
  return part as T
}
