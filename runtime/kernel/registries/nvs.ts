import { RtkError } from '../../errors.js'
import { isProtected, type Store } from '../../platform/store/store.js'
import { quote } from '../../platform/validate.js'
import { configNamespace } from './config-values.js'

const keyRule = /^[^\p{Cc}]{1,64}$/u
const longestValue_bytes = 4_000
const mostNamespaces = 64
const mostBytes = 256 * 1024

/** In the store, the prefix separates a user's namespaces from those of the service. */
const userPrefix = 'nvs.'
const pluginPrefix = 'plugin.'
const defaultNamespace = 'user'

export interface NvsDeps {
  store: Store
  /** Change parameters that may be shown: those with a live owner that are not secret. */
  isShown(parameter: string): boolean
  isPlugin(name: string): boolean
}

/** Access rules of `/nvs`: user namespaces freely, the service's own read-only, the protected namespace not at all. */
export class Nvs {
  readonly #deps: NvsDeps

  constructor(deps: NvsDeps) {
    this.#deps = deps
  }

  async namespaces(): Promise<string[]> {
    const shown = (name: string) => {
      if (name.startsWith(userPrefix)) return [name.slice(userPrefix.length)]
      if (name.startsWith(pluginPrefix)) return [name.slice(pluginPrefix.length)]
      return name === configNamespace ? [name] : []
    }
    return (await this.#deps.store.namespaces()).flatMap(shown).sort()
  }

  /** @throws RTK_ERR_NVS_PROTECTED, RTK_ERR_NVS_VALUE */
  async read(namespace: string): Promise<Record<string, unknown>> {
    checkNamespace(namespace)
    const { store, isShown } = this.#deps
    if (namespace === configNamespace) {
      const entries = Object.entries(await store.entries(configNamespace))
      return Object.fromEntries(entries.filter(([name, value]) => isShown(name) && isScalar(value)))
    }
    const owned = await this.#isOwned(namespace)
    const entries = Object.entries(await store.entries(`${owned ? pluginPrefix : userPrefix}${namespace}`))
    return Object.fromEntries(entries.filter(([, value]) => isScalar(value)))
  }

  /** Durable when it resolves. @throws RTK_ERR_NVS_VALUE, _LIMIT, _OWNED, _PROTECTED, RTK_ERR_STORE_WRITE */
  async write(namespace: string, values: unknown): Promise<number> {
    const name = namespace === '' ? defaultNamespace : namespace
    checkNamespace(name)
    if (name === configNamespace || (await this.#isOwned(name))) {
      throw new RtkError('RTK_ERR_NVS_OWNED', `namespace ${name} belongs to the service: change it with POST /change`)
    }
    const entries = checkValues(values)
    await this.#checkRoom(name, entries)
    await this.#deps.store.batch(entries.map(([key, value]) => ({ namespace: `${userPrefix}${name}`, key, value })))
    return entries.length
  }

  async #isOwned(namespace: string): Promise<boolean> {
    if (this.#deps.isPlugin(namespace)) return true
    return (await this.#deps.store.namespaces()).includes(`${pluginPrefix}${namespace}`)
  }

  async #checkRoom(namespace: string, entries: readonly [string, unknown][]): Promise<void> {
    const names = (await this.#deps.store.namespaces()).filter((name) => name.startsWith(userPrefix))
    const stored = `${userPrefix}${namespace}`
    if (!names.includes(stored) && names.length >= mostNamespaces) {
      throw new RtkError('RTK_ERR_NVS_LIMIT', `there are ${mostNamespaces} namespaces already, no more are kept`)
    }
    let bytes = 0
    for (const name of new Set([...names, stored])) {
      const kept = Object.entries(await this.#deps.store.entries(name))
      const after = name === stored ? new Map([...kept, ...entries]) : new Map(kept)
      for (const entry of after) bytes += sizeOf(entry)
    }
    if (bytes > mostBytes) {
      throw new RtkError('RTK_ERR_NVS_LIMIT', `that would make ${bytes} bytes in all, at most ${mostBytes} are kept`)
    }
  }
}

function checkNamespace(name: string): void {
  if (name === 'protected' || isProtected(name)) {
    throw new RtkError('RTK_ERR_NVS_PROTECTED', 'the protected namespace can be neither read nor written')
  }
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
    throw new RtkError('RTK_ERR_NVS_VALUE', `a namespace has 1-64 of A-Z a-z 0-9 _ . -, not ${quote(name)}`)
  }
}

function checkValues(values: unknown): [string, string | number][] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new RtkError('RTK_ERR_NVS_VALUE', 'send a JSON object of keys and values')
  }
  return Object.entries(values).map(([key, value]) => {
    if (key === 'namespace') {
      throw new RtkError('RTK_ERR_NVS_VALUE', 'the namespace belongs in the query: POST /nvs?namespace=NAME')
    }
    if (!keyRule.test(key)) {
      throw new RtkError('RTK_ERR_NVS_VALUE', `a key has 1-64 printable characters, not ${quote(key)}`)
    }
    const fits = typeof value === 'string' ? Buffer.byteLength(value) <= longestValue_bytes : Number.isFinite(value)
    if (!fits) {
      throw new RtkError(
        'RTK_ERR_NVS_VALUE',
        `${key}: a value is a string of at most ${longestValue_bytes} bytes or a finite number, not ${quote(value)}`,
      )
    }
    return [key, value as string | number]
  })
}

const isScalar = (value: unknown) => typeof value !== 'object' || value === null

function sizeOf([key, value]: [string, unknown]): number {
  return Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 8)
}
