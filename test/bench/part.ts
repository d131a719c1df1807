/** What a part of the bench is. Each runs in a process of its own (part-child.ts) and names its two sizes in one object. */
import type { Measurement } from './measurement.js'

export interface Part<Size = unknown> {
  /** `smoke`: the same work in seconds, for `--smoke`. */
  readonly sizes: { readonly full: Size; readonly smoke: Size }
  /** Programs that it cannot do without; without them it is skipped, with CI=true it fails. */
  readonly peers?: readonly string[]
  /** It mounts a file system. */
  readonly needsRoot?: boolean
  /** Why `--against` leaves it out. */
  readonly notComparable?: string
  /** It takes hours: `--part` runs a share of it. */
  readonly isDivisible?: boolean
  run(size: Size, share: Share): Promise<Measurement[]>
}

/** The first of eight: `{ number: 1, of: 8 }`. */
export interface Share {
  readonly number: number
  readonly of: number
}
export const whole: Share = { number: 1, of: 1 }

/** @param text `2/8` @returns undefined: it is none */
export function shareOf(text: string): Share | undefined {
  const [, number = 0, of = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number)
  return number >= 1 && number <= of ? { number, of } : undefined
}

/** Of `count` items the first of the share, and the first behind it. */
export const sliceOf = (count: number, { number, of }: Share): readonly [from: number, to: number] => [
  Math.floor((count * (number - 1)) / of),
  Math.floor((count * number) / of),
]

/** Infers the sizes. */
export function definePart<Size>(part: Part<Size>): Part<Size> {
  return part
}

/** What a part's process tells the bench. */
export type PartMessage =
  | { progress: string }
  | { leftOut: string }
  | { notComparable: string }
  | { failed: string }
  | { measurements: Measurement[] }

/** For whoever waits for a long part. */
export function progress(text: string): void {
  process.send?.({ progress: text } satisfies PartMessage)
}

/** Something of the part cannot be measured here. */
export function leaveOut(reason: string): void {
  process.send?.({ leftOut: reason } satisfies PartMessage)
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
