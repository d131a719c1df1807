import type { ErrorValues } from '../../../schemas/services.js'
import type { ListenOptions } from '../../gateway/net/types.js'
import { Fetcher } from '../../platform/fetch/index.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { argument, type ContextHost, members, opening } from './host.js'

const listenMembers = {
  name: 'string',
  host: 'string',
  port: 'number',
  setting: 'string',
  maxConnections: 'number',
  maxPerAddress: 'number',
  maxBuffered_bytes: 'number',
  rate: 'object',
  idle_ms: 'number',
  inherits: 'boolean',
} as const

function checkListener({ tls, ...options }: ListenOptions): void {
  const what = `listener ${options.name}`
  members(what, options, listenMembers)
  argument(`${what}: its host`, options.host, 'string')
  const { port } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`${what}: its port is 0 to 65535, not ${JSON.stringify(port)}`)
  if (tls !== undefined && typeof tls !== 'function') argument(`${what}: its tls`, tls, 'object')
}

/** `ctx.net`: listeners with sockets owned by the runtime. */
export function netOf(
  instance: Instance,
  { listeners }: ContextHost,
  errors: PluginContext['errors'],
): PluginContext['net'] {
  return {
    listen(options, onConnection) {
      argument('listener: its options', options, 'object')
      argument('listener: its name', options.name, 'string')
      opening(instance, `listener ${options.name}`)
      checkListener(options)
      argument(`listener ${options.name}: its function`, onConnection, 'function')
      const code = `listen-${options.name}`
      const report = (trouble: ErrorValues | undefined) => void errors.while(code, trouble)
      return listeners.listen(instance, options, onConnection, report, instance.live)
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
