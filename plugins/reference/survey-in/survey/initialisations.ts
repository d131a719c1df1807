/** How often the carrier ambiguities were determined anew with the same result. Pure. */
import { distance } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

/** An initialisation is known by the mean of its epochs: fewer are not enough. */
const fewest = 10
/** Two determinations agree within this, or within this many sigma of the mean. */
const agrees_m = 0.05
const sigmas = 3

export const InitialisationSnapshot = Type.Object({
  first: Type.Optional(EcefShape),
  /** Stored by earlier releases: at least one agreed. */
  agreed: Type.Boolean(),
  agreements: Type.Optional(Type.Number({ minimum: 0 })),
})
export type InitialisationSnapshot = Static<typeof InitialisationSnapshot>

export class Initialisations {
  /** Mean of an earlier one. */
  #first: Ecef | undefined
  #sum = { x: 0, y: 0, z: 0 }
  #origin: Ecef | undefined
  #count = 0
  /** Later ones that agreed with the first. */
  #agreements = 0
  /** The present one did. */
  #agrees: boolean = false

  /** A usable epoch of the present one. */
  add({ x, y, z }: Ecef): void {
    this.#origin ??= { x, y, z }
    this.#sum.x += x - this.#origin.x
    this.#sum.y += y - this.#origin.y
    this.#sum.z += z - this.#origin.z
    this.#count++
  }

  /** The fix was lost: the next one is a new determination. */
  lost(): void {
    this.#first ??= this.#mean()
    this.#restart()
  }

  /** Unknown whether the receiver kept its fix: the count of the current one is dropped. */
  pause(): void {
    this.#restart()
  }

  /** @returns false when the present one contradicts the one before */
  settle(acc_m: number): boolean {
    const mean = this.#mean()
    if (this.#agrees || !this.#first || !mean) return true
    if (distance(mean, this.#first) > Math.max(agrees_m, sigmas * acc_m)) return false
    this.#agrees = true
    this.#agreements++
    return true
  }

  /** @param agreements that are needed beside the first one */
  suffice(agreements: number): boolean {
    return this.#agreements >= agreements
  }

  /** The present one is known well enough to be lost on purpose, and too few agreed with each other. */
  needsAnother(agreements: number): boolean {
    const isKnown = this.#first === undefined || this.#agrees
    return !this.suffice(agreements) && isKnown && this.#count >= fewest
  }

  snapshot(): InitialisationSnapshot {
    const agreements = this.#agreements
    return { agreed: agreements > 0, agreements, ...(this.#first && { first: { ...this.#first } }) }
  }

  restore({ first, agreed, agreements = agreed ? 1 : 0 }: InitialisationSnapshot): void {
    this.#first = first
    this.#agreements = agreements
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
    this.#agrees = false
  }
}
