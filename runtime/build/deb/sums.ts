import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from '../release.js'

/** By this file the launcher knows that a slot is whole. */
export const sumsFile = 'SHA256SUMS'

/** Writes the digest of every file of a slot, as `sha256sum -c` reads them. */
export function writeSums(slot: string): void {
  const paths = [...filesBelow(slot)].map((file) => relative(slot, file)).filter((path) => path !== sumsFile)
  const lines = paths.map(
    (path) =>
      `${createHash('sha256')
        .update(readFileSync(join(slot, path)))
        .digest('hex')}  ${path}\n`,
  )
  writeFileSync(join(slot, sumsFile), lines.join(''))
}
