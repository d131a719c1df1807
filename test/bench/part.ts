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
  run(size: Size): Promise<Measurement[]>
}

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
