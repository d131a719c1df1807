import type { RouteOptions } from 'fastify'
import type { HttpRoute } from '../../../../schemas/services.js'
import { RtkError } from '../../../errors.js'
import { isReading } from '../access.js'

export const routeTaken = (what: string, first: string, second: string) =>
  new RtkError(
    'RTK_ERR_ROUTE_TAKEN',
    first === second ? `${first} registers ${what} twice` : `${what} belongs to both ${first} and ${second}`,
  )

/** The owner of each route. Two routes differ by the position of their parameters, not by the parameter names. */
export class RouteTable {
  readonly #owners = new Map<string, { owner: string; automatic: boolean }>()
  readonly #reserved = new Map<string, string>()
  readonly #entries: HttpRoute[] = []
  lastConflict: { what: string; owner: string } | undefined

  /** Keeps a path for one owner, for every method. */
  reserve(path: string, owner: string): void {
    this.#reserved.set(path, owner)
  }

  /**
   * @throws RTK_ERR_ROUTE_TAKEN if the path is reserved by another owner.
   */
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
      // Fastify's automatic HEAD for a GET yields to an explicit HEAD; Fastify itself resolves that.
      const automatic = method === 'HEAD' && this.#owners.get(key.replace(/^HEAD/, 'GET'))?.owner === owner
      this.lastConflict = other === undefined ? undefined : { what, owner: other.owner }
      if (other !== undefined && !other.automatic && !automatic) throw routeTaken(what, other.owner, owner)
      this.#owners.set(key, { owner, automatic })
      if (method !== 'HEAD' && method !== 'OPTIONS') this.#entries.push(entryOf(route, method, owner))
    }
  }

  /** Methods that this path has, in the order of registration. @param path without a query */
  methodsOf(path: string): string[] {
    const parts = path.split('/')
    const isHere = ({ url }: HttpRoute) => {
      const wanted = url.split('/')
      const rest = wanted.indexOf('*')
      if (rest < 0 ? wanted.length !== parts.length : wanted.length > parts.length) return false
      return wanted.every((part, n) => (rest >= 0 && n >= rest) || part.startsWith(':') || part === parts[n])
    }
    return [...new Set(this.#entries.filter(isHere).map(({ method }) => method))]
  }

  /** Paths that can be requested as they are, without parameters. */
  get paths(): string[] {
    return [...new Set(this.#entries.map(({ url }) => url))].filter((url) => !/[:*]/.test(url))
  }

  /** Every route, except those that only answer a HEAD or an OPTIONS. */
  get entries(): readonly HttpRoute[] {
    return this.#entries
  }
}

/**
 * Role needed for the route if a login is set: viewer to read, operator for the rest, unless the route overrides it.
 */
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
