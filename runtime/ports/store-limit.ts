import { RtkError } from '../errors.js'
import { type Contents, entryLine } from './snapshot.js'

/** A station keeps less than 1 MiB; a start can read far more than this. */
export const largestContents_bytes = 8 << 20

function sizeOf(entries: ReadonlyMap<string, string>, namespace: string): number {
  let size = 0
  for (const [key, json] of entries) size += Buffer.byteLength(entryLine(namespace, key, json)) + 2
  return size
}

/** Why `after` is not stored: it is too large, and not smaller than `before`. */
export function tooLarge(before: Contents, after: Contents): RtkError | undefined {
  const sizes = [...after].map(([namespace, entries]) => ({ namespace, size: sizeOf(entries, namespace) }))
  const total = sizes.reduce((sum, { size }) => sum + size, 0)
  if (total <= largestContents_bytes) return undefined
  if (total < [...before].reduce((sum, [namespace, entries]) => sum + sizeOf(entries, namespace), 0)) return undefined
  const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most))
  const text = `the store would have ${total} bytes, at most ${largestContents_bytes} are kept: nothing was changed`
  return new RtkError(
    'RTK_ERR_STORE_WRITE',
    `${text}; the largest namespace is ${largest.namespace} (${largest.size} bytes)`,
  )
}
