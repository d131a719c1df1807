/** Bundles that were made together with the code that runs: in a checkout, a start need not build what has not changed. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bundle } from './bundle.js'

interface Note {
  /** Epoch milliseconds, before the sources were read. */
  built_ms: number
  inputs: readonly string[]
}

export function keepReady(folder: string, name: string, built_ms: number, { code, inputs }: Bundle): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.cjs`), code)
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ built_ms, inputs } satisfies Note))
}

/** The bundle of a shipped plugin, unless a source of it has changed since; `file` holds its code. */
export function readReady(folder: string, name: string): (Bundle & { file: string }) | undefined {
  const file = join(folder, `${name}.cjs`)
  const note = join(folder, `${name}.json`)
  if (!existsSync(note)) return undefined
  try {
    const { built_ms, inputs } = JSON.parse(readFileSync(note, 'utf8')) as Note
    if (inputs.some((input) => statSync(input).mtimeMs >= built_ms)) return undefined
    const code = readFileSync(file, 'utf8')
    return { code, digest: createHash('sha256').update(code).digest('hex'), inputs, file }
  } catch {
    // A source is missing, or another build is replacing it: the plugin is built from the existing sources.
    return undefined
  }
}
