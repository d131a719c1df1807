/** The notes of the archive: things that happened to the station, beside its observations. A line of JSON each. */
import { join } from 'node:path'
import { disk, readPlain, replaceFile } from 'rtk-base/files'

export interface ArchiveNote {
  /** UTC milliseconds. */
  readonly t: number
  readonly what: NoteName
}
export const noteNames = ['moved', 'antenna-open', 'antenna-short', 'receiver-restarted'] as const
export type NoteName = (typeof noteNames)[number]

const fileName = 'notes.jsonl'
const most_bytes = 262_144

/** Durable when it resolves. The older half is given up beyond some thousands. @throws an error of the file system */
export async function addNote(path: string, note: ArchiveNote): Promise<void> {
  const file = join(path, fileName)
  const handle = await disk.open(file, 'a', 0o600)
  try {
    await handle.write(`${JSON.stringify(note)}\n`)
    await handle.datasync()
    if ((await handle.stat()).size < most_bytes) return
  } finally {
    await handle.close()
  }
  const lines = (await readPlain(file, 2 * most_bytes)).toString().split('\n')
  await replaceFile(file, lines.slice(lines.length / 2).join('\n'))
}

/** Oldest first. A line that a power cut has torn is left out. */
export async function readNotes(path: string): Promise<ArchiveNote[]> {
  const text = await readPlain(join(path, fileName), 2 * most_bytes).catch(() => '')
  return `${text}`.split('\n').flatMap(noteOf)
}

function noteOf(line: string): ArchiveNote[] {
  try {
    const { t, what } = JSON.parse(line) as ArchiveNote
    return Number.isFinite(t) && noteNames.includes(what) ? [{ t, what }] : []
  } catch {
    return []
  }
}
