/** The routes of a plugin, a route's own settings in `config`, and the caller's role that it receives. */
import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { Owner } from '../../../platform/guard/owner.js'

/** The role of a logged-in user: a viewer reads, an operator does everything. */
export type LoginRole = 'viewer' | 'operator'

/** The caller's role. Without a login (a password or a token) everybody on the local network is an operator. */
export type Role = 'none' | LoginRole

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a login too: pages and their assets, nothing that tells or changes anything. */
    public?: boolean
    /** Role needed for the route if a login is set; default: viewer for GET and HEAD, operator for the rest. */
    role?: LoginRole
    /** The handler must have begun its answer by then, instead of the runtime's 60 s. */
    timeout_ms?: number
    /** Errors are answered as plain text instead of JSON. */
    errors?: 'text'
    /**
     * Does not parse JSON: `'stream'` hands the body over as it comes (the route bounds it itself), `'buffer'` as bytes
     * (bounded by the route's `bodyLimit`).
     */
    rawBody?: 'stream' | 'buffer'
    /** The plugin that has the route; set by the HTTP server. */
    plugin?: string
    /** The instance that has the route; set by the HTTP server. */
    owner?: Owner | undefined
  }
  interface FastifySchema {
    /** For a description of the interface: one line. */
    summary?: string
    description?: string
    /** Describes queries without checking them: parameter objects of OpenAPI. */
    parameters?: readonly object[]
    /** Describes the body without checking it: a request body object of OpenAPI. */
    requestBody?: object
  }
  interface FastifyRequest {
    /** The caller's role; see `Role`. */
    readonly role: Role
    /** Name of the person who logged in with an access key of their own (service `accounts`); `''` for anybody else. */
    readonly user: string
  }
}

/** The registrations of one life of a plugin, or the runtime's own. */
export interface RouteSet {
  readonly name: string
  /** Undefined: the runtime itself. While it does not run, its routes answer 503. */
  readonly owner: Owner | undefined
  readonly routes: readonly RouteOptions[]
  // biome-ignore lint/suspicious/noExplicitAny: the options' type is between the plugin and its Fastify plugin
  readonly plugins: readonly { plugin: FastifyPluginAsync<any>; options: object }[]
}
