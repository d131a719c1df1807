/** Whether the carrier ambiguities were determined twice, independently, with the same result. Pure. */
import { distance } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

/** An initialisation is known by the mean of its epochs: fewer are not enough. */
const fewest = 10
/** Two of them agree within this, or within so many sigma of the mean. */
const agrees_m = 0.05
const sigmas = 3

export interface InitialisationSnapshot {
  first?: Ecef
  agreed: boolean
}

export class Initialisations {
  /** Mean of an earlier one. */
  #first: Ecef | undefined
  #sum = { x: 0, y: 0, z: 0 }
  #origin: Ecef | undefined
  #count = 0
  #agreed: boolean = false

  /** A usable epoch of the present one. */
  add({ x, y, z }: Ecef): void {
    this.#origin ??= { x, y, z }
    this.#sum.x += x - this.#origin.x
    this.#sum.y += y - this.#origin.y
    this.#sum.z += z - this.#origin.z
    this.#count++
  }

  /** The fix was lost: what follows is another one. */
  lost(): void {
    this.#first ??= this.#mean()
    this.#restart()
  }

  /** Nothing is known of whether the receiver kept its fix: what was counted of the present one is dropped. */
  pause(): void {
    this.#restart()
  }

  /** @returns false when the present one contradicts the one before */
  settle(acc_m: number): boolean {
    const mean = this.#mean()
    if (this.#agreed || !this.#first || !mean) return true
    if (distance(mean, this.#first) > Math.max(agrees_m, sigmas * acc_m)) return false
    this.#agreed = true
    return true
  }

  get agreed(): boolean {
    return this.#agreed
  }

  /** The present one is known well enough to be lost on purpose, and no other one agreed with it. */
  get needsAnother(): boolean {
    return !this.#agreed && !this.#first && this.#count >= fewest
  }

  snapshot(): InitialisationSnapshot {
    return { agreed: this.#agreed, ...(this.#first && { first: { ...this.#first } }) }
  }

  restore({ first, agreed }: InitialisationSnapshot): void {
    this.#first = first
    this.#agreed = agreed
  }

  #mean(): Ecef | undefined {
    if (!this.#origin || this.#count < fewest) return undefined
    const { x, y, z } = this.#sum
    const count = this.#count
    return { x: this.#origin.x + x / count, y: this.#origin.y + y / count, z: this.#origin.z + z / count }
  }

  #restart(): void {
    this.#sum = { x: 0, y: 0, z: 0 }
    this.#origin = undefined
    this.#count = 0
  }
}
