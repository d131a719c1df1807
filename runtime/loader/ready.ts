/** Bundles that were made of the sources of a checkout: a start or a device build need not build what has not changed. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { disk } from '../platform/files/disk.js'
import type { Bundle } from './bundle.js'

interface Note {
  /** Epoch milliseconds, before the sources were read. */
  built_ms: number
  inputs: readonly string[]
}

/** @param built_ms before the sources were read */
export function keepReady(folder: string, name: string, built_ms: number, { code, inputs }: Bundle): void {
  disk.mkdirSync(folder, { recursive: true })
  writeWhole(join(folder, `${name}.cjs`), code)
  keepNote(join(folder, `${name}.json`), built_ms, inputs)
}

export function keepNote(file: string, built_ms: number, inputs: readonly string[]): void {
  writeWhole(file, JSON.stringify({ built_ms, inputs } satisfies Note))
}

/** Writes a file in one step: another process may read it. */
function writeWhole(file: string, text: string): void {
  const aside = `${file}.${process.pid}`
  disk.writeFileSync(aside, text)
  disk.renameSync(aside, file)
}

/** Inputs of a bundle, unless any of them has changed since. @throws where there is no note, or a source is missing */
export function readNote(file: string): readonly string[] | undefined {
  const { built_ms, inputs } = JSON.parse(disk.readFileSync(file, 'utf8')) as Note
  return inputs.some((input) => disk.statSync(input).mtimeMs >= built_ms) ? undefined : inputs
}

/** The bundle of a shipped plugin, unless a source of it has changed since; `file` holds its code. */
export function readReady(folder: string, name: string): (Bundle & { file: string }) | undefined {
  const file = join(folder, `${name}.cjs`)
  const note = join(folder, `${name}.json`)
  try {
    const inputs = readNote(note)
    if (!inputs) return undefined
    const code = disk.readFileSync(file, 'utf8')
    return { code, digest: createHash('sha256').update(code).digest('hex'), inputs, file }
  } catch {
    // There is no note, a source is missing, or another build is replacing it: the plugin is built from the existing sources.
    return undefined
  }
}
