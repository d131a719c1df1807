import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyPluginAsync, RouteOptions } from 'fastify'

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

export interface Upgrade {
  readonly handler: UpgradeHandler
  /** Role needed to open it if a login is set. */
  readonly role: LoginRole
}

/** The registrations of one instance of a plugin. */
export interface RouteOwner {
  readonly name: string
  /** Distinguishes two instances of one plugin: the leftovers of one are closed without touching the other's. */
  readonly key: object
  /** False while the plugin is not running: its routes answer 503. */
  live(): boolean
  /** Runs `fn` so that its errors are attributed to the plugin. */
  run<T>(fn: () => T): T
  failed(error: unknown, what: string): void
  readonly routes: readonly RouteOptions[]
  // biome-ignore lint/suspicious/noExplicitAny: the options' type is between the plugin and its Fastify plugin
  readonly plugins: readonly { plugin: FastifyPluginAsync<any>; options: object }[]
  /** By path; a path that ends with `/*` covers everything below it. */
  readonly upgrades: ReadonlyMap<string, Upgrade>
}

/** The role of a logged-in user: a viewer reads, an operator does everything. */
export type LoginRole = 'viewer' | 'operator'

/** The caller's role. Without a login (a password or a token) everybody on the local network is an operator. */
export type Role = 'none' | LoginRole
