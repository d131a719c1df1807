/** The log as a file. Pure. */
import type { LogLine } from '../station/messages.js'

const names: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** One line each, oldest first, in UTC: a file is read elsewhere. A line break within a message stays within its line. */
export const logText = (lines: readonly LogLine[]): string =>
  lines
    .map(
      ({ level, msg, plugin, time }) =>
        `${new Date(time).toISOString()} ${(names[level] ?? String(level)).padEnd(5)} ${plugin}: ${msg.replaceAll(/\r?\n/g, ' ⏎ ')}\n`,
    )
    .join('')
