import type { Dispose } from 'rtk-base/plugin'
import { activationError, networkError } from '../reasons.js'
import { activeStates, interfaces } from './names.js'
import type { ObjectModel } from './object-model.js'

/** An activation that is waited for: ends in a connection, a reason or another call for the same interface. */
export class Activation {
  readonly done: Promise<void>
  readonly #name: string
  #settle: (error?: Error) => void = () => {}
  #active: string | undefined
  #seen = false

  constructor(name: string, limit_ms: number, after: (ms: number, fn: () => void) => Dispose) {
    this.#name = name
    this.done = new Promise((resolve, reject) => {
      const limit = after(limit_ms, () =>
        this.#settle(networkError(`${name}: not connected within ${limit_ms / 1000} s`, 'timeout')),
      )
      this.#settle = (error) => {
        void limit()
        if (error) reject(error)
        else resolve()
      }
    })
    this.done.catch(() => {})
  }

  /** The daemon has accepted it: this is its object. */
  accepted(active: string): void {
    this.#active = active
  }

  superseded(): void {
    this.#settle(networkError(`${this.#name}: another call took its place`, 'superseded'))
  }

  /** The daemon went away, or the call was refused. */
  failed(error: Error): void {
    this.#settle(error)
  }

  /** The objects of the daemon changed. @param reason why the device failed last */
  objectsChanged(model: ObjectModel, reason: number): void {
    if (this.#active === undefined) return
    const isThere = model.has(this.#active)
    // It may have come and gone before the answer of the call was looked at.
    this.#seen ||= isThere || model.wasRemoved(this.#active)
    const { State } = model.of(this.#active, interfaces.active)
    if (State === activeStates.activated) this.#settle()
    else if (State === activeStates.deactivated || (this.#seen && !isThere)) {
      this.#settle(activationError(this.#name, reason))
    }
  }
}
