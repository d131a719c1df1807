import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { Owner } from '../../../platform/guard/owner.js'

/** The registrations of one life of a plugin, or the runtime's own. */
export interface RouteSet {
  readonly name: string
  /** Undefined: the runtime itself. While it does not run, its routes answer 503. */
  readonly owner: Owner | undefined
  readonly routes: readonly RouteOptions[]
  // biome-ignore lint/suspicious/noExplicitAny: the options' type is between the plugin and its Fastify plugin
  readonly plugins: readonly { plugin: FastifyPluginAsync<any>; options: object }[]
}
