/** The file `state` in the folder of the slots. The launcher reads and writes it too: its form is that of `launch`. */
import { join } from 'node:path'
import { type FileSystem, readRecord, syncFolder } from 'rtk-base/files'

export type Slot = 'a' | 'b'

export interface SlotState {
  /** The last confirmed slot; `f`: installed with the system. */
  good: Slot | 'f' | ''
  /** On trial, or to be tried. */
  trial: Slot | ''
  /** Starts of the trial. */
  tries: number
  /** An abandoned slot that is not reported yet: a trial, or a confirmed one. */
  back: Slot | 'f' | ''
  /** Good before `good`; it runs again when that ends again and again. */
  previous: Slot | 'f' | ''
}

const lines: readonly [keyof SlotState, RegExp][] = [
  ['good', /^good=([abf])$/],
  ['trial', /^trial=([ab])$/],
  ['tries', /^tries=([0-9])$/],
  ['back', /^back=([abf])$/],
  ['previous', /^previous=([abf])$/],
]

/** Parsed as by the launcher: missing or garbled values count as empty, and unknown tries as used up. */
export function parseState(text: string): SlotState {
  const found: Record<string, string> = {}
  for (const line of text.split('\n')) {
    for (const [name, pattern] of lines) found[name] = pattern.exec(line)?.[1] ?? found[name] ?? ''
  }
  const { tries, ...slots } = found
  return { ...slots, tries: tries === '' ? 9 : Number(tries) } as SlotState
}

export const formatState = ({ good, trial, tries, back, previous }: SlotState): string =>
  `good=${good}\ntrial=${trial}\ntries=${tries}\nback=${back}\n${previous === '' ? '' : `previous=${previous}\n`}`

/** The current state; empty for a missing file. */
export async function readState(root: string, fs: FileSystem): Promise<SlotState> {
  const text = await readRecord(join(root, 'state'), fs).catch(() => '')
  return parseState(text)
}

/** Written aside, synced, renamed, folder synced: after any crash, either the old or the new state exists. */
export async function writeState(root: string, state: SlotState, fs: FileSystem): Promise<void> {
  const aside = join(root, 'state.new')
  await fs.rm(aside, { recursive: true, force: true })
  const file = await fs.open(aside, 'wx', 0o644)
  try {
    await file.writeFile(formatState(state))
    await file.sync()
  } finally {
    await file.close()
  }
  await fs.rename(aside, join(root, 'state'))
  await syncFolder(root, fs)
}
