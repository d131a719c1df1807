/** The listeners of plugins. The runtime owns their sockets, so that a reload drops no client. */

import type { Logger } from 'pino'
import type { ErrorValues } from '../../../schemas/services.js'
import { asRuntime, type Owner, type StopReason } from '../../platform/guard/owner.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import { Listening } from './listening.js'
import type { ConnectionHandler, Listener, ListenOptions } from './types.js'

const nameRule = /^[a-z0-9]+(-[a-z0-9]+)*$/

export class Listeners {
  readonly #deps: { log: Logger; clock: Clock; network: NetworkPort; isProxy(address: string): boolean }
  /** Includes closed listeners, until their last connection has closed. */
  readonly #all = new Set<Listening>()

  /** @param isProxy default: none */
  constructor(deps: { log: Logger; clock: Clock; network: NetworkPort; isProxy?: (address: string) => boolean }) {
    this.#deps = { isProxy: () => false, ...deps }
  }

  /**
   * @param report shows trouble with the address, undefined: there is none
   * @param runs its owner has started, and takes connections at once
   */
  listen(
    owner: Owner,
    options: ListenOptions,
    handler: ConnectionHandler,
    report: (trouble: ErrorValues | undefined) => void,
    runs: boolean,
  ): Listener {
    const { name } = options
    if (!nameRule.test(name)) throw new Error(`listener "${name}": a name is kebab-case`)
    const known = this.#of(owner).find((listening) => listening.name === name)
    if (known?.owner === owner) throw new Error(`listener "${name}" is open already: close it, or move it`)
    const listening = known ?? this.#newListening(owner.name, name)
    owner.own(`listener ${name}`, () => asRuntime(() => listening.release(owner)))
    return asRuntime(() => {
      const listener = listening.take({ owner, options, handler, report })
      if (runs) listening.serve(owner)
      return listener
    })
  }

  /** A plugin runs: its listeners get their waiting connections; a listener that it no longer opens is closed. */
  entered(owner: Owner): void {
    asRuntime(() => {
      for (const listening of this.#of(owner)) {
        if (listening.owner === owner) listening.serve(owner)
        else listening.close()
      }
    })
  }

  /** A plugin is about to stop. */
  leaving(owner: Owner, reason: StopReason): void {
    asRuntime(() => {
      for (const listening of this.#of(owner)) listening.leave(owner, reason)
    })
  }

  counts(): Listening['counts'][] {
    return [...this.#all].map(({ counts }) => counts)
  }

  close(): void {
    for (const listening of this.#all) listening.end()
  }

  #newListening(plugin: string, name: string): Listening {
    const listening = new Listening(plugin, name, {
      ...this.#deps,
      done: (ended) => this.#all.delete(ended),
    })
    this.#all.add(listening)
    return listening
  }

  /** Listeners that a version of this plugin may take over. */
  #of({ name }: Owner): Listening[] {
    return [...this.#all].filter(({ plugin, closed }) => plugin === name && !closed)
  }
}
