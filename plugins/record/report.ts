import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readRecord } from 'rtk-base/plugin'

const kept_ms = 7 * 86_400_000
const pattern = /^\d+\.record$/

/** The last week of the record as JSON lines, from its files alone: the service need not run. */
export async function lastWeek(folder: string): Promise<string> {
  const lines: string[] = []
  const names = (await readdir(folder).catch(() => [] as string[])).filter((name) => pattern.test(name)).sort()
  for (const name of names) {
    const text = await readRecord(join(folder, name)).catch(() => '')
    // Without the checksums.
    for (const line of text.split('\n')) if (line.length > 9) lines.push(line.slice(9))
  }
  const timeOf = (line: string) => Number(/^\{"t":(\d+)/.exec(line)?.[1] ?? 0)
  // The newest entry is now: a machine without a clock knows no other.
  const newest_ms = lines.reduce((most, line) => Math.max(most, timeOf(line)), 0)
  return lines.flatMap((line) => (timeOf(line) >= newest_ms - kept_ms ? [`${line}\n`] : [])).join('')
}
