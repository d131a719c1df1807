import type { Dispose } from '../../schemas/event.js'
import type { ServiceToken } from '../../schemas/token.js'
import { guard } from '../platform/guard/guard.js'
import type { Instance } from './instance/instance.js'
import type { ServiceRecord } from './tables.js'

interface Watch {
  readonly owner: Instance
  readonly id: string
  /** Calls the plugin with the current service, or with undefined if there is none. */
  readonly call: (service: unknown) => unknown
  seen: unknown
  /** The plugin's return value: if it is a function, it undoes that call. */
  returned: unknown
}

function undo(watch: Watch): void {
  const { owner, returned } = watch
  watch.returned = undefined
  if (typeof returned === 'function')
    guard(owner, `watch of ${watch.id}`, returned as () => unknown, { whileStopping: true })()
}

/**
 * The services of the station. Plugins' services go live with the tables, in one step; a plugin that starts meanwhile
 * already sees those of plugins started before it.
 */
export class Services {
  readonly #own = new Map<string, unknown>()
  #published: ReadonlyMap<string, ServiceRecord> = new Map()
  /** Instances that start or have started, and are not published yet. */
  readonly #entering = new Set<Instance>()
  readonly #watches = new Set<Watch>()

  /** One of the runtime itself, before any plugin is set up. */
  provide<T>(token: ServiceToken<T>, value: T): void {
    this.#own.set(token.id, value)
  }

  /** Ids of the runtime's own services. */
  get ownIds(): Iterable<string> {
    return this.#own.keys()
  }

  /** @param asker default: the kernel, which sees what a plugin that is about to start would see */
  find(id: string, asker?: Instance): unknown {
    const own = this.#own.get(id)
    if (own !== undefined) return own
    if (this.#entering.size > 0 && (asker === undefined || this.#entering.has(asker))) {
      for (const instance of this.#entering) {
        if (instance.live && instance.services.has(id)) return instance.services.get(id)
      }
    }
    const record = this.#published.get(id)
    return record?.owner.live ? record.value : undefined
  }

  enter(instance: Instance): void {
    this.#entering.add(instance)
  }

  publish(services: ReadonlyMap<string, ServiceRecord>): void {
    this.#published = services
    this.#entering.clear()
    this.look()
  }

  /** `call` is called on behalf of its owner and never throws. */
  watch(owner: Instance, id: string, call: Watch['call']): Dispose {
    const watch: Watch = { owner, id, call, seen: undefined, returned: undefined }
    this.#watches.add(watch)
    const stop = owner.own(`watch of ${id}`, () => {
      this.#watches.delete(watch)
      undo(watch)
    })
    watch.seen = this.find(id, owner)
    watch.returned = call(watch.seen)
    return stop
  }

  /** Tells the watches what came or went. */
  look(): void {
    for (const watch of this.#watches) {
      const value = this.find(watch.id, watch.owner)
      if (value === watch.seen) continue
      watch.seen = value
      undo(watch)
      watch.returned = watch.call(value)
    }
  }
}
