import { textsIn } from './ring.js'

const kept_ms = 7 * 86_400_000

/** The last week of the record as JSON lines, from its files alone: the service need not run. */
export async function lastWeek(folder: string): Promise<string> {
  const lines: string[] = []
  try {
    // Without the checksums.
    for await (const text of textsIn(folder))
      for (const line of text.split('\n')) if (line.length > 9) lines.push(line.slice(9))
  } catch {
    // There is no record.
  }
  const timeOf = (line: string) => Number(/^\{"t":(\d+)/.exec(line)?.[1] ?? 0)
  // The newest entry is now: a machine without a clock knows no other.
  const newest_ms = lines.reduce((most, line) => Math.max(most, timeOf(line)), 0)
  return lines.flatMap((line) => (timeOf(line) >= newest_ms - kept_ms ? [`${line}\n`] : [])).join('')
}
