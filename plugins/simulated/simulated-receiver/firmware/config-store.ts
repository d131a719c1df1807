/** The receiver's configuration: RAM is built at start from BBR over flash over the defaults, key by key. */
import { type Static, Type } from 'typebox'
import {
  type GetRequest,
  isWildcard,
  layers as layerBits,
  layerNumbers,
  matches,
  mostPairs,
  type Pair,
  type SetRequest,
} from '../ubx/config.js'
import { keyOf, keys as known } from '../ubx/keys.js'

type Layer = Map<number, number>

/** Allowed ranges of values; the receiver rejects any other value. */
const ranges: Readonly<Record<string, readonly [min: number, max: number]>> = {
  'CFG-TMODE-MODE': [0, 2],
  'CFG-TMODE-POS_TYPE': [0, 1],
  'CFG-RATE-MEAS': [25, 65_535],
  'CFG-RATE-NAV': [1, 127],
  'CFG-RTCM-DF003_OUT': [0, 4095],
  'CFG-NAVSPG-DYNMODEL': [0, 12],
}

const pairs = Type.Array(Type.Tuple([Type.Integer(), Type.Number()]))
/** The three layers, for the next instance at a reload of the plugin. */
export const ConfigSnapshot = Type.Object({ ram: pairs, bbr: pairs, flash: pairs })
type ConfigSnapshot = Static<typeof ConfigSnapshot>

export class ConfigStore {
  readonly #defaults: Layer = new Map(known.map((key) => [key.id, key.factory]))
  #bbr: Layer = new Map()
  #flash: Layer = new Map()
  #ram: Layer = new Map(this.#defaults)
  #transaction: { layers: number; pairs: Pair[] } | undefined
  /** Keys that are refused as if the firmware didn't have them. */
  readonly refused = new Set<number>()
  /** Keys that are acknowledged and forgotten. */
  readonly ignored = new Set<number>()
  /** Keys that this firmware does not have. */
  readonly #lacks: (name: string) => boolean
  /** Keys written by the host, by layer. */
  readonly written = { ram: 0, bbr: 0, flash: 0 }

  constructor(lacks: (name: string) => boolean = () => false) {
    this.#lacks = lacks
  }

  /** The value in a layer; undefined if not set there. */
  layerValue(key: number, layer: 'ram' | 'bbr' | 'flash'): number | undefined {
    return this.#layer(layerNumbers[layer])?.get(key)
  }

  /** The current value. */
  get(key: number): number {
    return this.#ram.get(key) ?? 0
  }

  /** Writes factory settings, or an external configuration from before the service. */
  preset(pairs: Iterable<Pair>): void {
    for (const [key, value] of pairs) this.#flash.set(key, value)
    this.restart()
  }

  /** Changes a current value, as through another port of the receiver. @returns the changed keys */
  change(key: number, value: number): Set<number> {
    const changed = this.#ram.get(key) !== value
    this.#ram.set(key, value)
    return new Set(changed ? [key] : [])
  }

  /** Replaces what is stored of some keys; it counts from the next start. */
  store(pairs: Iterable<Pair>): void {
    for (const [key, value] of pairs) {
      this.#bbr.delete(key)
      this.#flash.set(key, value)
    }
  }

  /** A reset: RAM is lost. */
  restart(): void {
    this.#transaction = undefined
    this.#ram = new Map([...this.#defaults, ...this.#flash, ...this.#bbr])
  }

  snapshot(): ConfigSnapshot {
    return { ram: [...this.#ram], bbr: [...this.#bbr], flash: [...this.#flash] }
  }

  restore({ ram, bbr, flash }: ConfigSnapshot): void {
    this.#ram = new Map(ram)
    this.#bbr = new Map(bbr)
    this.#flash = new Map(flash)
  }

  /**
   * One bad key refuses the whole message.
   * @returns the changed RAM keys; undefined for NAK
   */
  set(message: SetRequest): Set<number> | undefined {
    const { layers, pairs, transaction } = message
    const possible = layers & (layerBits.ram | layerBits.bbr | layerBits.flash)
    if (
      possible === 0 ||
      possible !== layers ||
      pairs.length > mostPairs ||
      !pairs.every((pair) => this.#accepts(pair))
    ) {
      this.#transaction = undefined
      return undefined
    }
    if (transaction === 0) return this.#apply(layers, pairs)
    if (transaction === 1) this.#transaction = { layers, pairs: [...pairs] }
    else if (!this.#transaction) return undefined
    else this.#transaction.pairs.push(...pairs)
    if (transaction !== 3) return new Set()
    const whole = this.#transaction
    this.#transaction = undefined
    return this.#apply(whole.layers, whole.pairs)
  }

  /** The page of values that a question asks for; undefined for NAK. */
  read({ layer, position, keys }: GetRequest): Pair[] | undefined {
    const from = this.#layer(layer)
    if (!from || keys.length === 0 || keys.length > mostPairs) return undefined
    const found: Pair[] = []
    for (const pattern of keys) {
      if (isWildcard(pattern)) {
        for (const { id } of known) {
          const value = matches(pattern, id) && this.#has(id) ? from.get(id) : undefined
          if (value !== undefined) found.push([id, value])
        }
      } else {
        if (!this.#has(pattern)) return undefined
        const value = from.get(pattern)
        if (value !== undefined) found.push([pattern, value])
      }
    }
    if (found.length === 0) return undefined
    return found.slice(position, position + mostPairs)
  }

  /** Deletes from BBR and flash; RAM keeps its values until a reset. False for NAK. */
  delete({ layers, keys }: { layers: number; keys: number[] }): boolean {
    if (layers === 0 || (layers & ~(layerBits.bbr | layerBits.flash)) !== 0) return false
    if (!keys.every((key) => isWildcard(key) || this.#has(key))) return false
    for (const layer of [
      layers & layerBits.bbr ? this.#bbr : undefined,
      layers & layerBits.flash ? this.#flash : undefined,
    ]) {
      for (const id of [...(layer?.keys() ?? [])]) if (keys.some((key) => matches(key, id))) layer?.delete(id)
    }
    return true
  }

  #layer(number: number): Layer | undefined {
    switch (number) {
      case layerNumbers.ram:
        return this.#ram
      case layerNumbers.bbr:
        return this.#bbr
      case layerNumbers.flash:
        return this.#flash
      case layerNumbers.factory:
        return this.#defaults
      default:
        return undefined
    }
  }

  #has(id: number): boolean {
    const key = keyOf(id)
    return key !== undefined && !this.refused.has(id) && !this.#lacks(key.name)
  }

  #accepts([id, value]: Pair): boolean {
    const key = keyOf(id)
    if (!key || !this.#has(id)) return false
    if (id >>> 28 === 1) return value === 0 || value === 1
    const range = ranges[key.name]
    return !range || (value >= range[0] && value <= range[1])
  }

  #apply(layers: number, pairs: readonly Pair[]): Set<number> {
    const changed = new Set<number>()
    for (const [name, bit] of Object.entries(layerBits)) {
      if (layers & bit) this.written[name as keyof typeof layerBits] += pairs.length
    }
    for (const [key, value] of pairs) {
      if (this.ignored.has(key)) continue
      if (layers & layerBits.bbr) this.#bbr.set(key, value)
      if (layers & layerBits.flash) this.#flash.set(key, value)
      if (layers & layerBits.ram) {
        if (this.#ram.get(key) !== value) changed.add(key)
        this.#ram.set(key, value)
      }
    }
    return changed
  }
}
