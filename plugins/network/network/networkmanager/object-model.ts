import type { BusSignal } from 'rtk-base/link'
import { interfaces, objectManagerInterface, propertiesInterface } from './names.js'

export type Properties = Readonly<Record<string, unknown>>

const kept: ReadonlySet<string> = new Set(Object.values(interfaces))
const none: Properties = {}
const mostRemoved = 100

/** The daemon's objects and their properties, as far as they matter here. Kept true by signals. */
export class ObjectModel {
  readonly #objects = new Map<string, Map<string, Properties>>()
  /** Removed paths, the newest last. The daemon never reuses a path. */
  readonly #removed = new Set<string>()

  /** The answer of GetManagedObjects. */
  load(managed: unknown): void {
    this.#objects.clear()
    for (const [path, all] of Object.entries(entryOf(managed))) this.#add(path, all)
  }

  clear(): void {
    this.#objects.clear()
  }

  /** @returns whether the signal changed anything. */
  apply({ path, interface: name, member, body }: BusSignal): boolean {
    if (name === propertiesInterface && member === 'PropertiesChanged') {
      const [owner, changed] = body
      const object = this.#objects.get(path)
      if (typeof owner !== 'string' || !kept.has(owner) || !object) return false
      object.set(owner, { ...object.get(owner), ...entryOf(changed) })
      return true
    }
    if (name !== objectManagerInterface) return false
    const [changed, what] = body
    if (member === 'InterfacesAdded') return this.#add(textOf(changed), what)
    if (member === 'InterfacesRemoved') return this.#remove(textOf(changed), listOf(what))
    return false
  }

  has(path: string): boolean {
    return this.#objects.has(path)
  }

  /** The object was there not long ago. */
  wasRemoved(path: string): boolean {
    return this.#removed.has(path)
  }

  /** Empty for an unknown object or interface. */
  of(path: string, name: string): Properties {
    return this.#objects.get(path)?.get(name) ?? none
  }

  hasInterface(path: string, name: string): boolean {
    return this.#objects.get(path)?.has(name) === true
  }

  /** Paths of the objects that have the interface. */
  paths(name: string): string[] {
    return [...this.#objects].filter(([, object]) => object.has(name)).map(([path]) => path)
  }

  #add(path: string, all: unknown): boolean {
    const wanted = Object.entries(entryOf(all)).filter(([name]) => kept.has(name))
    if (wanted.length === 0) return false
    const object = this.#objects.get(path) ?? new Map<string, Properties>()
    for (const [name, properties] of wanted) object.set(name, entryOf(properties))
    this.#objects.set(path, object)
    return true
  }

  #remove(path: string, names: readonly unknown[]): boolean {
    const object = this.#objects.get(path)
    if (!object) return false
    for (const name of names) object.delete(textOf(name))
    if (object.size > 0) return true
    this.#objects.delete(path)
    this.#removed.add(path)
    for (const oldest of this.#removed) {
      if (this.#removed.size <= mostRemoved) break
      this.#removed.delete(oldest)
    }
    return true
  }
}

// Values of an unexpected type are ignored.
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const entryOf = (value: unknown): Properties =>
  typeof value === 'object' && value !== null ? (value as Properties) : none
export const bytesOf = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString('utf8') : '')
