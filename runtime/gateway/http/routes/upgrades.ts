import { RtkError } from '../../../errors.js'
import type { RouteOwner, Upgrade } from './owner.js'
import { routeTaken } from './table.js'

export interface OwnedUpgrade extends Upgrade {
  readonly owner: RouteOwner
}

const pathRule = /^\/[^?#*\s]*\*?$/

/** Handlers of upgraded connections: exact paths, and prefixes (`/live/*`), of which the longest wins. */
export class UpgradeTable {
  readonly #exact = new Map<string, OwnedUpgrade>()
  /** `/live/` → handler of the paths below it. */
  readonly #prefixes = new Map<string, OwnedUpgrade>()
  #longestFirst: string[] = []

  /** @throws RTK_ERR_ROUTE_TAKEN naming both owners, RTK_ERR_ROUTES for a path that could never match */
  add(path: string, upgrade: Upgrade, owner: RouteOwner): void {
    if (!pathRule.test(path) || (path.endsWith('*') && !path.endsWith('/*'))) {
      const rule = 'a path begins with / and has * only as its end, after a /'
      throw new RtkError('RTK_ERR_ROUTES', `plugin ${owner.name}: upgrade ${JSON.stringify(path)}: ${rule}`)
    }
    const isPrefix = path.endsWith('*')
    const table = isPrefix ? this.#prefixes : this.#exact
    const key = isPrefix ? path.slice(0, -1) : path
    const other = table.get(key)?.owner
    if (other !== undefined) throw routeTaken(`the upgrade of ${path}`, other.name, owner.name)
    table.set(key, { ...upgrade, owner })
    if (isPrefix) this.#longestFirst = [...this.#prefixes.keys()].sort((a, b) => b.length - a.length)
  }

  find(path: string): OwnedUpgrade | undefined {
    const exact = this.#exact.get(path)
    if (exact !== undefined) return exact
    const prefix = this.#longestFirst.find((start) => path.startsWith(start))
    return prefix === undefined ? undefined : this.#prefixes.get(prefix)
  }
}
