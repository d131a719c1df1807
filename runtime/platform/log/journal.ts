/** Lines for systemd's journal: `<priority>text`, as sd-daemon(3) has it, so that `journalctl -p err` finds what is wrong. */
import { fstatSync } from 'node:fs'

/** Levels of pino → priorities of syslog. */
const priorities: readonly [level: number, priority: number][] = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
]
const debug = 7

/** Whether the standard output goes to the journal: systemd names the socket, and a redirection has another one. */
export function writesToJournal(env: NodeJS.ProcessEnv = process.env, fd = 1): boolean {
  const { JOURNAL_STREAM: stream } = env
  if (stream === undefined) return false
  try {
    const { dev, ino } = fstatSync(fd)
    return stream === `${dev}:${ino}`
  } catch {
    return false
  }
}

/** Format of the standard output. */
export type LogForm = 'text' | 'json' | 'journal'

export function logForm(): LogForm {
  if (process.stdout.isTTY) return 'text'
  return writesToJournal() ? 'journal' : 'json'
}

interface Line {
  level: number
  time?: unknown
  plugin?: string
  msg?: string
  err?: { stack?: string; message?: string }
  [field: string]: unknown
}

/** @param json one line of the log */
export function journalLine(json: string): string {
  const { level, time: _time, plugin, msg = '', err, ...rest } = JSON.parse(json) as Line
  const priority = priorities.find(([from]) => level >= from)?.[1] ?? debug
  const fields = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : ''
  const text = `${plugin ? `${plugin}: ` : ''}${msg}${fields}`
  const stack = err && level >= 50 ? `\n${err.stack ?? err.message ?? ''}` : ''
  // A line break ends what a priority is for.
  return `${text}${stack}`
    .split('\n')
    .map((line) => `<${priority}>${line}\n`)
    .join('')
}
