import { misfit } from '../../../schemas/token.js'
import { RtkError } from '../../errors.js'
import { guard } from '../../platform/guard/guard.js'
import type { PluginContext, ServiceToken } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { argument, type ContextHost, tokenOf } from './host.js'

/** `ctx.services`: services that plugins offer to each other. */
export function servicesOf(instance: Instance, host: ContextHost): PluginContext['services'] {
  const { name } = instance
  const find = (id: string) => host.findService(id, instance)
  return {
    provide<T>(token: ServiceToken<T>, value: T) {
      tokenOf('provided service', token)
      if (!instance.definition.provides?.some(({ id }) => id === token.id)) {
        throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} provides ${token.id} but does not name it in provides`)
      }
      const wrong = misfit(token, value)
      if (wrong !== '') {
        throw new RtkError(
          'RTK_ERR_SERVICE_SHAPE',
          `${name} provides ${token.id} ${token.version}, but the object it provides ${wrong}`,
        )
      }
      instance.services.set(token.id, value)
    },
    use<T>(token: ServiceToken<T>): T {
      tokenOf('used service', token)
      if (instance.inSetup) {
        throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} uses ${token.id} in setup: use it from start on`)
      }
      const value = find(token.id)
      if (value === undefined) {
        throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} uses ${token.id}, which no plugin provides now`)
      }
      return value as T
    },
    find<T>(token: ServiceToken<T>) {
      tokenOf('service', token)
      return find(token.id) as T | undefined
    },
    watch<T>(token: ServiceToken<T>, fn: (service: T | undefined) => unknown) {
      tokenOf('watched service', token)
      if (instance.inSetup) {
        throw new RtkError('RTK_ERR_SERVICE_MISSING', `${name} watches ${token.id} in setup: watch it from start on`)
      }
      argument(`watch of ${token.id}: its function`, fn, 'function')
      const call = guard(instance, `watch of ${token.id}`, fn)
      return host.watchService(instance, token.id, (service) => call(service as T | undefined))
    },
  }
}
