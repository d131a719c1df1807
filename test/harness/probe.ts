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

/**
 * A service with the members that a test is about: the others that its token asks for are undefined, or throw when they are called.
 * @param given gets these members too, and stays in the hands of the test
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
