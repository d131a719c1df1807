/** Provided by the runtime: the routes that answer now, for a description of the interface. */
import { defineService } from '../token.js'

export interface HttpRoute {
  method: string
  /** As Fastify writes it: `/reference/history/:id`, `/ui/*`. */
  url: string
  plugin: string
  /** Of the route: `summary`, `description`, JSON Schemas of `querystring`, `params`, `body`, `response`. */
  schema: Readonly<Record<string, unknown>>
  /** Who may use it where tokens are set. */
  role: 'none' | 'viewer' | 'operator'
  /** How the body is read. */
  body: 'json' | 'stream' | 'buffer' | 'ignore'
  /** Errors are one line of text. */
  textErrors: boolean
}

export interface HttpRoutes {
  list(): readonly HttpRoute[]
}
export const httpRoutes = defineService<HttpRoutes>('http-routes')
