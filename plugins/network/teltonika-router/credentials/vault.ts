import type { PluginStore } from 'rtk-base/plugin'
import { isObject } from '../operations/parse.js'
import type { Credentials } from '../transport/call.js'

const stored = 'default'
const none: Credentials = { user: '', pswd: '' }

/** The default credentials in the protected store: the last working ones, or those set by a person. A factory reset keeps them. */
export class Vault {
  readonly #store: PluginStore
  #default = none
  #worked = false

  constructor(store: PluginStore) {
    this.#store = store
  }

  async load(): Promise<void> {
    const value = await this.#store.get(stored)
    const known = isObject(value) && typeof value.user === 'string' && typeof value.pswd === 'string'
    this.#default = known ? { user: value.user as string, pswd: value.pswd as string } : none
    this.#worked = known && value.worked === true
  }

  /** Both empty while there are none. */
  get default(): Credentials {
    return this.#default
  }

  /** A login with them has worked. */
  get worked(): boolean {
    return this.#worked
  }

  async set(credentials: Credentials, worked: boolean): Promise<void> {
    const { user, pswd } = credentials
    if (user === this.#default.user && pswd === this.#default.pswd && worked === this.#worked) return
    await this.#store.set(stored, { user, pswd, worked })
    this.#default = { user, pswd }
    this.#worked = worked
  }
}
