import type { RouteOptions } from 'fastify'
import type { HttpRoute } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import { isReading } from '../access.js'

export const routeTaken = (what: string, first: string, second: string) =>
  new RtkError(
    'RTK_ERR_ROUTE_TAKEN',
    first === second ? `${first} registers ${what} twice` : `${what} belongs to both ${first} and ${second}`,
  )

/** Who has which route. Parameter names do not tell routes apart, their place does. */
export class RouteTable {
  readonly #owners = new Map<string, { owner: string; automatic: boolean }>()
  readonly #reserved = new Map<string, string>()
  readonly #entries: HttpRoute[] = []
  lastConflict: { what: string; owner: string } | undefined

  /** Keeps a path for one owner, whatever the method. */
  reserve(path: string, owner: string): void {
    this.#reserved.set(path, owner)
  }

  /** @throws RTK_ERR_ROUTE_TAKEN when the path is kept for somebody else. */
  checkReserved(path: string, what: string, owner: string): void {
    const keeper = this.#reserved.get(path)
    if (keeper !== undefined && keeper !== owner) throw routeTaken(what, keeper, owner)
  }

  /** @throws RTK_ERR_ROUTE_TAKEN */
  add(route: RouteOptions & { routePath?: string }, owner: string): void {
    const path = route.url.replace(/:[A-Za-z0-9_]+/g, ':')
    for (const method of [route.method].flat()) {
      const what = `${method} ${route.url}`
      this.checkReserved(path, what, owner)
      const key = `${method} ${path} ${JSON.stringify(route.constraints ?? {})}`
      const other = this.#owners.get(key)
      // The HEAD that Fastify adds to a GET gives way to one that somebody wrote; Fastify itself settles that.
      const automatic = method === 'HEAD' && this.#owners.get(key.replace(/^HEAD/, 'GET'))?.owner === owner
      this.lastConflict = other === undefined ? undefined : { what, owner: other.owner }
      if (other !== undefined && !other.automatic && !automatic) throw routeTaken(what, other.owner, owner)
      this.#owners.set(key, { owner, automatic })
      if (method !== 'HEAD' && method !== 'OPTIONS') this.#entries.push(entryOf(route, method, owner))
    }
  }

  /** Every route, but for those that answer a HEAD or an OPTIONS alone. */
  get entries(): readonly HttpRoute[] {
    return this.#entries
  }
}

/** Who may use the route where tokens are set: a viewer reads, an operator does the rest, unless it says otherwise. */
export function neededRole(
  method: string,
  { public: isPublic, role }: NonNullable<RouteOptions['config']>,
): HttpRoute['role'] {
  return isPublic ? 'none' : (role ?? (isReading(method) ? 'viewer' : 'operator'))
}

function entryOf({ url, schema, config = {} }: RouteOptions, method: string, plugin: string): HttpRoute {
  return {
    method,
    url,
    plugin,
    schema: { ...(schema as Record<string, unknown> | undefined) },
    role: neededRole(method, config),
    body: config.rawBody ?? 'json',
    textErrors: config.errors === 'text',
  }
}
