import type { BaseMount, MountConnection, MountLogin, MountSource, NearMount } from 'rtk-base/services'
import type { Accounts, IsAsked } from './accounts/accounts.js'
import type { Connections } from './accounts/connections.js'
import type { Bases } from './bases/bases.js'
import type { Near } from './near/near.js'

/** The fleet as ntrip-caster sees it. */
export class FleetMounts implements MountSource {
  readonly anonymous: boolean
  readonly #bases: Bases
  readonly #near: Near
  readonly #accounts: Accounts
  readonly #connections: Connections
  /** `mount user` → connections of this instance. */
  readonly #rovers = new Map<string, number>()

  constructor(anonymous: boolean, bases: Bases, near: Near, accounts: Accounts, connections: Connections) {
    this.anonymous = anonymous
    this.#bases = bases
    this.#near = near
    this.#accounts = accounts
    this.#connections = connections
  }

  find(name: string): BaseMount | NearMount | undefined {
    return this.#near.name !== '' && name.toUpperCase() === this.#near.name.toUpperCase()
      ? this.#near
      : this.#bases.find(name)
  }

  *offered(): Generator<BaseMount | NearMount> {
    if (this.#near.name !== '') yield this.#near
    yield* this.#bases.offered()
  }

  known(user: string, password: string, mount: string): MountLogin | undefined {
    return this.#accounts.known(user, password, this.#isAsked(mount))
  }

  login(user: string, password: string, mount: string): Promise<MountLogin | undefined> {
    return this.#accounts.login(user, password, this.#isAsked(mount))
  }

  /** An account may have been entered before its mountpoint was there, in any letters. */
  #isAsked(mount: string): IsAsked {
    return (entered) => (this.find(entered)?.name ?? entered) === mount
  }

  elsewhere(user: string): Promise<number> {
    return this.#connections.elsewhere(user)
  }

  connected({ user, mount }: MountConnection): () => void {
    const uncount = user ? this.#connections.add(user) : () => {}
    const key = `${mount} ${user}`
    this.#rovers.set(key, (this.#rovers.get(key) ?? 0) + 1)
    return () => {
      uncount()
      const left = (this.#rovers.get(key) ?? 0) - 1
      if (left > 0) this.#rovers.set(key, left)
      else this.#rovers.delete(key)
    }
  }

  get onEnd(): MountSource['onEnd'] {
    return this.#accounts.onEnd
  }

  get rovers(): number {
    let sum = 0
    for (const connections of this.#rovers.values()) sum += connections
    return sum
  }

  list(): { mount: string; user: string; connections: number }[] {
    return [...this.#rovers].map(([key, connections]) => {
      const [mount = '', user = ''] = key.split(' ')
      return { mount, user, connections }
    })
  }

  /** Why the rovers of a mountpoint get nothing; `''`: they get data. */
  why(mount: string): string {
    const found = this.find(mount)
    return found && 'reason' in found ? found.reason : ''
  }
}
